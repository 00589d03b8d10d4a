"""The handler does what the original plugin does: each prompt of an agent is a run."""

from collections.abc import Iterator
from typing import Any

import pytest
from helpers.conformance import Event, Expected, Outcome, Scenario
from helpers.models import ScriptedModel, says
from helpers.scenario_messages import SCENARIOS, delivered
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.graph import END, START, MessagesState, StateGraph

from langchain_repeat_guard import RepeatGuardCallbackHandler

Turn = tuple[AIMessage, list[AnyMessage]]


def runs_of(scenario: Scenario) -> Iterator[tuple[str, list[Turn]]]:
    """Yield the runs: an agent, and what its model says, each with the notes that follow."""
    current: dict[str, list[Turn]] = {}
    for index, event in enumerate(scenario.events):
        if event.agent is None:
            continue
        if event.type == "user" and event.agent in current:
            yield event.agent, current.pop(event.agent)
        turns = current.setdefault(event.agent, [])
        if event.type == "call":
            turns.append((issued(index, event), []))
        elif event.type == "step" and turns:
            note = {"lc_source": "harness"}
            turns[-1][1].append(HumanMessage("note", additional_kwargs=note))
    yield from current.items()


def issued(index: int, event: Event) -> AIMessage:
    message = AIMessage("", id=f"event-{index}")
    # Set behind the constructor's back: it refuses lone surrogates, which models do emit.
    call = {"name": event.name, "args": event.arguments, "id": f"call-{index}", "type": "tool_call"}
    message.tool_calls = [call]  # type: ignore[list-item]
    return message


def agent(turns: list[Turn], *, is_seen: bool) -> Any:
    """Return a graph that plays `turns`, by a model that callbacks see or by none."""
    said = [*(message for message, _ in turns), says("done")]
    notes = iter([notes for _, notes in turns])
    left = iter(said)
    model = ScriptedModel(script=said)

    def think(state: MessagesState) -> dict[str, Any]:
        return {"messages": [model.invoke(state["messages"]) if is_seen else next(left)]}

    def act(state: MessagesState) -> dict[str, Any]:
        (call,) = state["messages"][-1].tool_calls  # type: ignore[union-attr]
        return {"messages": [ToolMessage("result", tool_call_id=call["id"]), *next(notes)]}

    graph = StateGraph(MessagesState)
    graph.add_node("think", think)
    graph.add_node("act", act)
    graph.add_edge(START, "think")
    graph.add_conditional_edges(
        "think", lambda state: "act" if state["messages"][-1].tool_calls else END
    )
    graph.add_edge("act", "think")
    return graph.compile()


def play(scenario: Scenario, *, is_seen: bool) -> Outcome:
    """Run a scenario under one handler."""
    try:
        handler = RepeatGuardCallbackHandler(keep_reminders=1000, **scenario.options)
    except ValueError:
        return Outcome(is_refused=True)
    found: list[Expected] = []
    for name, turns in runs_of(scenario):
        before = len(handler.reminders)
        config: Any = {"callbacks": [handler], "recursion_limit": 1000}
        agent(turns, is_seen=is_seen).invoke({"messages": [("user", "hi")]}, config)
        for record in handler.reminders[before:]:
            event = int(record.reminder_id.removeprefix("repeat_guard:event-"))
            found.append(Expected(event, name, record.text, record.summary))
    found.sort(key=lambda one: one.event)
    return Outcome(is_refused=False, reminders=tuple(found))


CASES = [
    *[pytest.param(one, True, id=one.id) for one in SCENARIOS],
    *[pytest.param(one, False, id=f"{one.id}-unseen-model") for one in SCENARIOS[::6]],
]


@pytest.mark.parametrize(("scenario", "is_seen"), CASES)
def test_scenario(scenario: Scenario, is_seen: bool) -> None:
    """Each call draws the reminder that the original gives it."""
    expected = [delivered(one, scenario) for one in scenario.accepted]
    assert play(scenario, is_seen=is_seen) in expected
