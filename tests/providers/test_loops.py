"""Looping agents on the real provider packages: every request is one that the provider accepts."""

from dataclasses import replace
from typing import Any

import pytest
from helpers.attachments import ATTACHMENTS
from helpers.replies import Reply
from helpers.stage import ALLOWED, Stage, asks, prompt, reminders_in
from langgraph.types import Command

with_hosts_steps = pytest.mark.parametrize(
    "attachment", [name for name in ATTACHMENTS if name != "pre-model-hook"]
)
"""For agents whose graph has steps of the host's own, which create_react_agent has not."""

with_async_client = pytest.mark.parametrize(
    "api_and_delivery", [pair for pair in ALLOWED if not pair[0].startswith("converse")]
)
"""For providers whose package has an asynchronous client; langchain-aws has none."""


def decide(*decisions: str) -> Command[Any]:
    """Return a person's decisions on the calls of one step."""
    return Command(resume={"decisions": [{"type": decision} for decision in decisions]})


def test_sequential_loop_and_a_new_prompt(stage: Stage) -> None:
    """Streamed: nine identical calls are reminded at 3, 5 and 8, and a new prompt starts anew."""
    stage = replace(stage, streaming=True)
    stage.server.reset([*(asks("grep") for _ in range(9)), Reply("no"), asks("grep"), Reply("bye")])
    stage.play(stage.agent(), prompt("find it"), prompt("again"))
    assert stage.server.refused == []
    three, five, eight = [3], [3, 5], [3, 5, 8]
    expected = [[], [], three, three, five, five, five, eight, eight]
    assert stage.read_after_each_step(9) == expected
    assert reminders_in(stage.server.accepted[-1]) == eight
    assert stage.server.streamed == (0 if stage.api.startswith("converse") else 12)


def test_parallel_calls(stage: Stage) -> None:
    """Two identical calls a step: the step that reaches a length is reminded behind its results."""
    stage.server.reset(
        [*(asks("grep", "grep") for _ in range(4)), Reply("no"), asks("grep"), Reply("bye")]
    )
    stage.play(stage.agent(), prompt("find it"), prompt("again"))
    assert stage.server.refused == []
    assert stage.read_after_each_step(4) == [[], [3], [3, 5], [3, 5, 8]]


def test_unknown_tools(stage: Stage) -> None:
    """Calls of a tool that does not exist are reminded like any other."""
    mixed = [asks("nope", "grep", "nope") for _ in range(2)]
    stage.server.reset(
        [*mixed, asks("nope"), asks("nope"), Reply("no"), asks("nope"), Reply("bye")]
    )
    stage.play(stage.agent(exclude=("grep",)), prompt("find it"), prompt("again"))
    assert stage.server.refused == []
    assert stage.read_after_each_step(4) == [[], [3], [3, 5], [3, 5]]


@with_hosts_steps
def test_denied_calls_and_resumed_threads(stage: Stage) -> None:
    """Denied calls count; every step is resumed by another agent object on the same thread."""
    stage.server.reset([*(asks("grep", "grep") for _ in range(4)), Reply("no"), Reply("bye")])
    for step in (
        prompt("find it"),
        decide("approve", "reject"),
        decide("reject", "reject"),
        decide("reject", "approve"),
        decide("approve", "approve"),
        prompt("again"),
    ):
        stage.play(stage.agent(approves=True), step)
    assert stage.server.refused == []
    assert stage.read_after_each_step(4) == [[], [3], [3, 5], [3, 5, 8]]


@with_hosts_steps
def test_summaries(stage: Stage) -> None:
    """Messages are replaced by a summary again and again, reminders among them."""
    stage.server.reset([*(asks("grep") for _ in range(9)), Reply("no"), asks("grep"), Reply("bye")])
    stage.play(stage.agent(summarises=True), prompt("find it"), prompt("again"))
    assert stage.server.refused == []
    told = {length for request in stage.server.accepted for length in reminders_in(request)}
    # Without a channel a chain is no longer than the messages that a summary leaves.
    assert told == ({3} if stage.attachment == "node" else {3, 5, 8})


@with_async_client
@pytest.mark.parametrize("attachment", ["reminder-node"])
async def test_async_loop(stage: Stage) -> None:
    """The asynchronous clients send the same."""
    stage.server.reset([*(asks("grep") for _ in range(9)), Reply("no")])
    await (
        replace(stage, has_own_client=True)
        .agent()
        .ainvoke(prompt("find it"), {"configurable": {"thread_id": "1"}})
    )
    assert stage.server.refused == []
    assert reminders_in(stage.server.accepted[-1]) == [3, 5, 8]


@pytest.mark.parametrize("attachment", ["node", "reminder-node"])
def test_nothing_of_the_mark_is_sent(stage: Stage) -> None:
    """The mark of a reminder and its data stay in the state; a provider could refuse them."""
    stage.server.reset([*(asks("grep") for _ in range(3)), Reply("no")])
    stage.play(stage.agent(), prompt("find it"))
    sent = str(stage.server.accepted)
    assert [mark for mark in ("lc_source", "lc_data", "repeat_guard") if mark in sent] == []
