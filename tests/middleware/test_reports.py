"""Cases from public bug reports, by the number of the report."""

import copy
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from helpers.agents import MakeGuard, make_scene
from helpers.laws import check_order
from helpers.models import ScriptedModel, asks, call, repeats, says
from helpers.modes import Run
from helpers.pictures import growing, pictures
from helpers.reports import Report, found, reports
from helpers.tools import ask_human, grep
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage

from langchain_repeat_guard import RepeatGuardConfig

PLAYABLE = [
    report
    for report in reports()
    # One repeats the ids of messages, which no agent's own state allows.
    if report.id != "R84" and set(report.options) <= set(RepeatGuardConfig.model_fields)
]


@pytest.mark.parametrize("report", PLAYABLE, ids=lambda report: report.id)
def test_recorded_run(guard: MakeGuard, run: Run, report: Report) -> None:
    """The reported run, played by a real agent, has its reminders where the report wants them."""
    turns = [one for one in report.messages if isinstance(one, AIMessage)]
    scene = make_scene(
        guard(**report.options), run, [*turns, says("end")], interrupt_before=["tools"]
    )
    pending: list[Any] = []
    for message in [*report.messages, AIMessage("end")]:
        if not isinstance(message, AIMessage):
            pending.append(message)
            continue
        scene.agent.update_state(scene.config, {"messages": pending}, as_node="tools")
        run(scene.agent, None, scene.config)
        pending = []
    assert found(scene.model.requests[-1]) == report.reminders


def test_r04_no_thread_no_saver_in_eight_threads(guard: MakeGuard, run: Run) -> None:
    """Fifty runs of one agent without thread and saver, eight at once, share no call."""
    model = ScriptedModel(
        script=lambda messages: (
            says("done") if len(messages) == 5 else asks(call("grep", {"pattern": "a"}))
        )
    )
    agent: Any = create_agent(model, [grep], middleware=[guard()])
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: run(agent, {"messages": [("user", "go")]}), range(50)))
    assert sorted(pictures(model.requests)) == sorted(growing("hatat") * 50)


def test_r20_a_deep_copy_of_the_guard(guard: MakeGuard, run: Run) -> None:
    """A copy of a guard is a guard."""
    scene = make_scene(copy.deepcopy(guard()), run, [*repeats(3, "grep"), says("done")])
    scene.prompt()
    assert scene.seen == growing("hatatatR3")


def test_r32_three_rejections_and_an_approval(guard: MakeGuard, run: Run) -> None:
    """Four pauses, one reminder behind the third result; the guard adds no pause of its own."""
    human: Any = HumanInTheLoopMiddleware(interrupt_on={"grep": True})
    scene = make_scene(
        guard(),
        run,
        [*repeats(4, "grep", {"pattern": "pwd"}), says("done")],
        arrange=lambda one: [human, one],
    )
    pauses = "__interrupt__" in scene.prompt()
    for decision in ("reject", "reject", "reject", "approve"):
        pauses += "__interrupt__" in scene.resume({"decisions": [{"type": decision}]})
    assert pauses == 4
    assert scene.seen == growing("hatatatR3at")


def test_r41_order_in_every_checkpoint(guard: MakeGuard, run: Run) -> None:
    """Eight steps of two equal calls: every checkpoint and every request is in order."""
    pairs = [asks(*(call("grep", {"pattern": "a"}) for _ in range(2))) for _ in range(8)]
    scene = make_scene(guard(), run, [*pairs, says("done")])
    scene.prompt()
    for snapshot in scene.agent.get_state_history(scene.config):
        messages = snapshot.values.get("messages", [])
        check_order(messages[:-1] if _awaits_results(messages) else messages)
    assert scene.seen[-1] == "hattattR3attR5attR8" + "att" * 4


def _awaits_results(messages: list[Any]) -> bool:
    return bool(messages) and bool(getattr(messages[-1], "tool_calls", []))


def test_r59_two_interrupts_are_two_calls(guard: MakeGuard, run: Run) -> None:
    """A tool that starts twice because of an interrupt was called once."""
    script = [*repeats(2, "ask_human", {"question": "a"}), says("done")]
    scene = make_scene(guard(), run, script, tools=[ask_human])
    scene.prompt()
    scene.resume("y")
    scene.resume("y")
    assert scene.seen == growing("hatat")
    assert scene.state["repeat_guard"]["chain"]["count"] == 2


def test_r77_a_fork_counts_its_own_branch(guard: MakeGuard, run: Run) -> None:
    """On a fork from behind the first result one more call makes two, and no reminder is there."""
    scene = make_scene(guard(), run, [*repeats(4, "grep"), says("done")])
    scene.prompt()
    first = next(
        snapshot
        for snapshot in scene.agent.get_state_history(scene.config)
        if len(snapshot.values.get("messages", [])) == 3 and snapshot.next
    )
    branch = replace(scene, config=first.config)
    branch.model.script = [*[says("unused")] * 5, *repeats(1, "grep"), says("done")]
    output = branch.go_on()
    assert [message.type for message in output["messages"]] == ["human", *["ai", "tool"] * 2, "ai"]
    assert scene.seen[5:] == ["hat", "hatat"]
