"""Conformance scenarios as the messages of agents, one thread per agent."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from helpers.conformance import Event, Expected, Outcome, Scenario, scenarios
from langchain_repeat_guard.core.reminder import one_line
from langchain_repeat_guard.core.texts import FIRST_TEXT

SCENARIOS = [
    one
    for one in scenarios()
    if all(isinstance(event.arguments, dict) for event in one.events if event.type == "call")
]
"""Scenarios that LangChain messages can hold: a tool call's arguments are an object there."""

Section = tuple[str, list[AnyMessage], list[AIMessage]]


def sections(scenario: Scenario) -> Iterator[Section]:
    """Yield what one run of a thread can hold: the thread, what it is told, what the model asks.

    Calls without an agent are left out: there is no thread for them.
    """
    number = 0
    numbered = []
    for index, event in enumerate(scenario.events):
        number += event.type != "call"
        numbered.append((number, event.agent, index, event))
    for (_, thread), group in groupby(numbered, key=lambda entry: entry[:2]):
        events = [(index, event) for _, _, index, event in group]
        if thread is not None:
            yield thread, list(_said_in(events)), list(_turns_of(events))


def threads(scenario: Scenario) -> list[str]:
    """Return the agents of a scenario."""
    return list(dict.fromkeys(one.agent for one in scenario.events if one.agent is not None))


def outcome(messages: Sequence[tuple[str, AnyMessage]]) -> Outcome:
    """Return what the reminders that threads have got are about, in the order of the events."""
    found = [
        Expected(
            int(str(one.id).removeprefix("repeat_guard:event-")), thread, str(one.content), _of(one)
        )
        for thread, one in messages
    ]
    return Outcome(
        is_refused=False, reminders=tuple(sorted(found, key=lambda expected: expected.event))
    )


def delivered(outcome: Outcome, scenario: Scenario) -> Outcome:
    """Return an outcome as messages carry it: a name or argument cannot break their lines."""
    expected = []
    for one in outcome.reminders:
        name = scenario.events[one.event].name
        text = one.text.replace(f"- tool: {name}\n", f"- tool: {one_line(name)}\n")
        if text != FIRST_TEXT:
            text = "\n".join(map(one_line, text.split("\n")))
        expected.append(Expected(one.event, one.agent, text, one.summary))
    return Outcome(outcome.is_refused, tuple(expected))


def _of(reminder: AnyMessage) -> str:
    (one,) = reminder.additional_kwargs["lc_data"]["reminders"]
    return str(one["summary"])


def _turns_of(events: list[tuple[int, Event]]) -> Iterator[AIMessage]:
    for index, event in events:
        if event.type == "call":
            # Set behind the constructor's back: it refuses lone surrogates, which models do emit.
            message = AIMessage("", id=f"event-{index}")
            call = {"name": event.name, "args": event.arguments, "id": f"call-{index}"}
            message.tool_calls = [{**call, "type": "tool_call"}]  # type: ignore[typeddict-item]
            yield message


def _said_in(events: list[tuple[int, Event]]) -> Iterator[AnyMessage]:
    for index, event in events:
        if event.type == "user":
            yield HumanMessage("go on", id=f"prompt-{index}")
        if event.type == "step":
            note = {"lc_source": "harness"}
            yield HumanMessage("note", id=f"note-{index}", additional_kwargs=note)
