"""A tools node whose results stand in the state already, when the wrapper looks at them."""

import operator
from typing import Annotated, Any

import pytest
from helpers.graphs import reminders
from helpers.models import asks, call
from langchain_core.messages import AnyMessage, HumanMessage, ToolMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command
from typing_extensions import TypedDict

from langchain_repeat_guard import RepeatGuardNode
from langchain_repeat_guard.core.texts import FIRST_TEXT

NODES = [
    pytest.param(lambda _: None, id="nothing"),
    pytest.param(lambda _: {}, id="empty-update"),
    pytest.param(lambda _: Command(update={}), id="command"),
]


class PlainState(TypedDict):
    """A state that gives its messages no ids."""

    messages: Annotated[list[AnyMessage], operator.add]


def answered_steps() -> list[AnyMessage]:
    """Return two equal calls with their results."""
    messages: list[AnyMessage] = [HumanMessage("hi")]
    for number in range(2):
        asked = asks(call("grep", {"pattern": "a"}, f"c{number}"), id=f"m{number}")
        messages += [asked, ToolMessage("nothing", tool_call_id=f"c{number}")]
    return messages


def play(node: Any, state: type[Any], delivery: Any) -> tuple[list[Any], list[Any]]:
    """Return the messages of the state behind the node, and the events of the run."""
    builder = StateGraph(state)
    builder.add_node("tools", RepeatGuardNode(node, thresholds=(2,), delivery=delivery))
    builder.add_edge(START, "tools")
    messages: list[Any] = []
    events: list[Any] = []
    given = {"messages": answered_steps()}
    for mode, part in builder.compile().stream(given, stream_mode=["values", "custom"]):
        if mode == "custom":
            events.append(part["reminder_id"])
        else:
            messages = part["messages"]
    return messages, events


@pytest.mark.parametrize("node", NODES)
def test_reminder_as_a_message_of_its_own(node: Any) -> None:
    """It stands behind the results, wherever they come from."""
    messages, events = play(node, MessagesState, "human_message")
    assert [one.type for one in messages] == ["human", "ai", "tool", "ai", "tool", "human"]
    assert [one.id for one in reminders(messages)] == events == ["repeat_guard:m1"]


@pytest.mark.parametrize("node", NODES)
def test_reminder_in_the_tool_message(node: Any) -> None:
    """The message in the state is replaced by its id."""
    messages, events = play(node, MessagesState, "tool_message")
    results = [one.content for one in messages if one.type == "tool"]
    assert (results, events) == (["nothing", f"nothing\n\n{FIRST_TEXT}"], ["repeat_guard:m1"])
    assert len(messages) == 5


@pytest.mark.parametrize("node", NODES)
def test_nothing_is_told_where_nothing_was_placed(
    node: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Without an id the message cannot be replaced: one line, no event."""
    messages, events = play(node, PlainState, "tool_message")
    assert [one.content for one in messages] == [one.content for one in answered_steps()]
    assert events == []
    text = (
        "RepeatGuardNode cannot append to a tool message without id. delivery='tool_message' "
        "needs the reducer add_messages on the state's messages."
    )
    assert caplog.messages == [text]
