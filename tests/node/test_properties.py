"""Laws that hold for generated runs, through each place where a node can guard an agent."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from helpers.graphs import GUARDED, Place, Playback, misplaced, reminders
from helpers.models import malformed
from helpers.tools import broken, grep, ping, refusing
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    InvalidToolCall,
    ToolCall,
    ToolMessage,
)
from langchain_core.messages.tool import tool_call
from langgraph.graph import MessagesState
from langgraph.prebuilt import ToolNode

from langchain_repeat_guard import Chain, RepeatGuardConfig, observe

SETTINGS = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
TOOLS = ToolNode([grep, ping, broken, refusing], handle_tool_errors=True)

Call = tuple[str, Any]


@dataclass(frozen=True)
class Said:
    """What the model is told before a step; nothing, a note, or a prompt."""

    kind: str


def answer(state: MessagesState) -> dict[str, list[BaseMessage]]:
    """Deny calls of `denied`, refuse malformed ones, and let a ToolNode do the others."""
    asked = state["messages"][-1]
    assert isinstance(asked, AIMessage)
    refused = [one for one in asked.tool_calls if one["name"] == "denied"]
    answers: list[BaseMessage] = [
        ToolMessage("no", tool_call_id=str(one["id"]), name=one["name"], status="error")
        for one in [*refused, *asked.invalid_tool_calls]
    ]
    allowed = [one for one in asked.tool_calls if one["name"] != "denied"]
    if allowed:
        request = asked.model_copy(update={"tool_calls": allowed})
        answers += TOOLS.invoke({"messages": [request]})["messages"]
    return {"messages": answers}


# Few calls, so that chains grow.
CALLS = st.sampled_from(
    [
        ("grep", {"pattern": "a"}),
        ("grep", {"path": ".", "pattern": "a"}),
        ("grep", {"wrong": 1}),
        ("ping", {}),
        ("unknown", {"n": 1.0}),
        ("broken", {"reason": "x"}),
        ("refusing", {"reason": "x"}),
        ("denied", {"n": 1}),
        ("grep", '{"pattern": '),
        ("untracked", {}),
    ]
)
STEPS = st.one_of(
    st.lists(CALLS, min_size=1, max_size=3),
    st.lists(CALLS, min_size=1, max_size=1).flatmap(lambda one: st.just(one * 3)),
    st.sampled_from([Said("prompt"), Said("note"), Said("text")]),
)
RUNS = st.lists(
    st.one_of(STEPS.map(lambda step: [step]), STEPS.map(lambda step: [step] * 3)), max_size=6
).map(lambda parts: [step for part in parts for step in part])
THRESHOLDS = st.sampled_from([(3, 5, 8), (2,), (2, 3, 4)])


def turn(number: int, step: list[Call]) -> AIMessage:
    """Return the model's message for a step; malformed calls stand behind the others in it."""
    valid: list[ToolCall] = []
    bad: list[InvalidToolCall] = []
    for place, (name, args) in enumerate(step):
        call_id = f"c{number}.{place}"
        if isinstance(args, str):
            bad.append(malformed(name, args, call_id))
        else:
            valid.append(tool_call(name=name, args=args, id=call_id))
    raw = [{"id": f"c{number}.{n}", "function": {"name": one[0]}} for n, one in enumerate(step)]
    return AIMessage(
        "",
        id=f"m{number}",
        tool_calls=valid,
        invalid_tool_calls=bad,
        additional_kwargs={"tool_calls": raw} if bad else {},
    )


def play(agent: Playback, run: list[Any]) -> list[AnyMessage]:
    """Let an agent do a run; what it is told starts a new invocation of its thread."""
    messages: list[AnyMessage] = []
    said: list[AnyMessage] = [HumanMessage("hi")]
    turns: list[AIMessage] = []
    for number, step in enumerate([*run, None]):
        if isinstance(step, list):
            turns.append(turn(number, step))
            continue
        messages = agent.run([*turns, AIMessage("done")], *said)
        turns = []
        note = {"lc_source": "harness"}
        told: dict[str, list[AnyMessage]] = {
            "prompt": [HumanMessage("go on")],
            "note": [HumanMessage("note", additional_kwargs=note)],
        }
        said = told.get(step.kind if step else "", [])
    return messages


def expected(run: list[Any], config: RepeatGuardConfig) -> list[tuple[str, str]]:
    """Return what core says to the calls since the last prompt: message id and text."""
    chain = Chain()
    due: dict[str, list[str]] = {}
    for number, step in enumerate(run):
        if isinstance(step, Said):
            chain = Chain() if step.kind == "prompt" else chain
            continue
        for name, args in step:
            chain, reminder = observe(chain, name, args, config=config)
            if reminder:
                due.setdefault(f"repeat_guard:m{number}", []).append(reminder.text)
    return [(key, "\n\n".join(texts)) for key, texts in due.items()]


@pytest.fixture(autouse=True)
def _no_warning(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """L7: in a run without a fault of the guard's, the guard logs nothing."""
    with caplog.at_level(logging.DEBUG, logger="langchain_repeat_guard"):
        yield
    assert [one for one in caplog.records if one.name == "langchain_repeat_guard"] == []


@pytest.mark.parametrize("place", GUARDED)
@SETTINGS
@given(run=RUNS, thresholds=THRESHOLDS)
def test_reminders_are_those_of_core(
    place: Place, run: list[Any], thresholds: tuple[int, ...]
) -> None:
    """L1 and L4: for the calls since the last prompt, at their places, each at most once."""
    config = RepeatGuardConfig(thresholds=thresholds, exclude=("untracked",))
    messages = play(Playback(place, answer, config=config), run)
    assert [(one.id, one.content) for one in reminders(messages)] == expected(run, config)
    assert misplaced(messages) == []


@pytest.mark.parametrize("place", GUARDED)
@SETTINGS
@given(run=RUNS)
def test_run_below_the_thresholds_is_the_run_without_a_guard(place: Place, run: list[Any]) -> None:
    """L6: the same messages, in the same order."""
    guarded = play(Playback(place, answer, thresholds=(1000,)), run)
    bare = play(Playback("nowhere", answer), run)
    without_ids = {"id": None}
    assert [one.model_copy(update=without_ids) for one in guarded] == [
        one.model_copy(update=without_ids) for one in bare
    ]


@SETTINGS
@given(runs=st.lists(RUNS, min_size=2, max_size=3), order=st.randoms(use_true_random=False))
@pytest.mark.parametrize("place", GUARDED)
def test_threads_of_one_graph_do_not_share_chains(
    place: Place, runs: list[list[Any]], order: Any
) -> None:
    """L5: however their steps are interleaved."""
    config = RepeatGuardConfig(thresholds=(2, 3, 4), exclude=("untracked",))
    agent = Playback(place, answer, config=config)
    steps = [(thread, n) for thread, run in enumerate(runs) for n in range(len(run))]
    places = [thread for thread, _ in steps]
    order.shuffle(places)
    done = [0] * len(runs)
    for thread in places:
        number = done[thread]
        done[thread] += 1
        step = runs[thread][number]
        if isinstance(step, list):
            agent.run([turn(number, step)], thread=str(thread))
        elif step.kind == "prompt":
            agent.run([AIMessage("yes")], "go on", thread=str(thread))
    for thread, run in enumerate(runs):
        found = reminders(agent.messages(str(thread)))
        assert [(one.id, one.content) for one in found] == expected(run, config)
