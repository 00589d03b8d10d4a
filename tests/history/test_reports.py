"""Runs from public bug reports, through the history alone and through both nodes."""

import json
import operator
from collections import deque
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from helpers.reports import Report, found, reports
from langchain_core.messages import AnyMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

from langchain_repeat_guard import (
    RepeatGuardConfig,
    RepeatGuardNode,
    RepeatGuardState,
    RepeatReminderNode,
)
from langchain_repeat_guard.history.carried import Carried
from langchain_repeat_guard.history.delivery import reminder_message
from langchain_repeat_guard.history.judge import judge

REPORTS = list(reports())


class State(TypedDict):
    """Messages that are only ever appended: one run holds the same message twice."""

    messages: Annotated[list[AnyMessage], operator.add]


class StateWithChannel(State, RepeatGuardState):
    """The same with the chain."""


def judged(report: Report, *, is_carried: bool) -> list[AnyMessage]:
    """Play the run as a list of messages."""
    config = RepeatGuardConfig(**report.options)
    messages: list[AnyMessage] = []
    stored = "null"
    for until, answers in report.steps():
        messages += [*until, *answers]
        carried = Carried.from_dict(json.loads(stored)) if is_carried else None
        verdict = judge(messages, carried, config=config)
        stored = json.dumps(verdict.carried.to_dict())
        if verdict.due:
            messages.append(reminder_message(verdict.due, verdict.message_id))
    return messages


def through_graph(report: Report, node: Any, state: type[Any]) -> list[AnyMessage]:
    """Play the run in a thread of a graph of one node."""
    builder = StateGraph(state)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    app = builder.compile(checkpointer=InMemorySaver())
    messages: list[AnyMessage] = []
    for until, answers in report.steps():
        update = until if isinstance(node, RepeatGuardNode) else [*until, *answers]
        result = app.invoke({"messages": update}, {"configurable": {"thread_id": "t"}})
        messages = result["messages"]
    return messages


def wrapped(report: Report, state: type[Any]) -> list[AnyMessage]:
    """Play the run with a guard around what answers the calls."""
    answers: deque[list[ToolMessage]] = deque(answers for _, answers in report.steps())
    node = RepeatGuardNode(lambda _: {"messages": answers.popleft()}, **report.options)
    return through_graph(report, node, state)


WAYS: dict[str, Callable[[Report], list[AnyMessage]]] = {
    "messages-alone": lambda report: judged(report, is_carried=False),
    "chain-carried": lambda report: judged(report, is_carried=True),
    "around-tools": lambda report: wrapped(report, State),
    "around-tools-with-channel": lambda report: wrapped(report, StateWithChannel),
    "before-model": lambda report: through_graph(
        report, RepeatReminderNode(**report.options), State
    ),
}


@pytest.mark.parametrize("play", WAYS.values(), ids=WAYS.keys())
@pytest.mark.parametrize("report", [pytest.param(one, id=one.id) for one in REPORTS])
def test_reminders_stand_where_they_are_wanted(
    report: Report, play: Callable[[Report], list[AnyMessage]]
) -> None:
    """Behind the named tool messages, about the named tools, and nowhere else."""
    messages = play(report)
    assert found(messages) == report.reminders
    assert [one for one in messages if one in report.messages] == report.messages


def test_no_run_is_missing() -> None:
    """All runs of the file that are given as messages."""
    assert len(REPORTS) == 29


@pytest.mark.parametrize("play", WAYS.values(), ids=WAYS.keys())
def test_helper_that_is_not_excluded_breaks_the_chain(
    play: Callable[[Report], list[AnyMessage]],
) -> None:
    """R31 without its option."""
    (report,) = [one for one in REPORTS if one.id == "R31"]
    assert found(play(Report(report.id, report.messages, {}, []))) == []


@pytest.mark.parametrize("play", WAYS.values(), ids=WAYS.keys())
def test_steps_that_were_summarised_away_are_not_counted(
    play: Callable[[Report], list[AnyMessage]],
) -> None:
    """R81 with one step left: a thread that the guard joins late counts what is there."""
    (report,) = [one for one in REPORTS if one.id == "R81"]
    rest = [*report.messages[:2], *report.messages[6:]]
    assert found(play(Report(report.id, rest, {}, []))) == []


@pytest.mark.parametrize("play", WAYS.values(), ids=WAYS.keys())
def test_reminder_quotes_no_more_than_a_part_of_long_arguments(
    play: Callable[[Report], list[AnyMessage]],
) -> None:
    """R29: the first reminder shows no argument, later ones a short piece."""
    (report,) = [one for one in REPORTS if one.id == "R29"]
    options = {"arguments_preview_chars": 40}
    texts = [
        str(one.content)
        for one in play(Report(report.id, report.messages, options, []))
        if one.id and one.id.startswith("repeat_guard:")
    ]
    assert ["needle" in text for text in texts] == [False, True, True]
    assert ["x" * 60 in text for text in texts] == [False, False, False]
