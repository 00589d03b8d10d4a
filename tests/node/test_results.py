"""Every shape that a tools node may return takes a reminder and is otherwise left as it is."""

import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any

import pytest
from helpers.graphs import reminders
from helpers.models import asks, call
from helpers.tools import grep
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    HumanMessage,
    RemoveMessage,
    ToolMessage,
)
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES, add_messages
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, Overwrite
from pydantic import BaseModel

from langchain_repeat_guard import RepeatGuardNode
from langchain_repeat_guard.core.texts import FIRST_TEXT


@dataclass
class DataclassState:
    messages: Annotated[list[AnyMessage], add_messages] = field(default_factory=list)


class PydanticState(BaseModel):
    messages: Annotated[list[AnyMessage], add_messages] = []


class NotedState(MessagesState):
    noted: list[str]


@tool
def grep_command(pattern: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> Any:
    """Search, and note it in the state."""
    answer = ToolMessage("nothing", tool_call_id=tool_call_id)
    return Command(update={"messages": [answer], "noted": [pattern]})


@tool
def grep_list_command(pattern: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> Any:
    """Search, in a graph whose state is the list of its messages."""
    return Command(update=[ToolMessage("nothing", tool_call_id=tool_call_id)])


def asked_of(state: Any) -> AIMessage:
    """Return the message whose calls are to be answered."""
    if isinstance(state, list):
        last = state[-1]
    else:
        last = (state["messages"] if isinstance(state, dict) else state.messages)[-1]
    assert isinstance(last, AIMessage)
    return last


def results(state: Any, content: Any = "nothing") -> list[ToolMessage]:
    """Answer each call."""
    return [
        ToolMessage(content, tool_call_id=str(one["id"]), id=f"t-{one['id']}")
        for one in asked_of(state).tool_calls
    ]


def raw_results(state: Any) -> list[dict[str, str]]:
    """Answer each call by a dict."""
    return [
        {"role": "tool", "content": "nothing", "tool_call_id": str(one["id"])}
        for one in asked_of(state).tool_calls
    ]


RootState = Annotated[list[AnyMessage], add_messages]
TOOLS = [grep, grep_command, grep_list_command]

SHAPES: list[Any] = [
    pytest.param(MessagesState, ToolNode(TOOLS), "grep", id="tool-node"),
    pytest.param(RootState, ToolNode(TOOLS), "grep", id="tool-node-in-a-list-state"),
    pytest.param(NotedState, ToolNode(TOOLS), "grep_command", id="commands"),
    pytest.param(RootState, ToolNode(TOOLS), "grep_list_command", id="commands-in-a-list-state"),
    pytest.param(MessagesState, lambda s: {"messages": results(s)}, "grep", id="dict"),
    pytest.param(MessagesState, lambda s: {"messages": results(s)[0]}, "grep", id="one-message"),
    pytest.param(
        MessagesState,
        lambda s: {"messages": [*s["messages"], *results(s)]},
        "grep",
        id="whole-list",
    ),
    pytest.param(
        MessagesState,
        lambda s: {"messages": [m.model_copy() for m in s["messages"]] + results(s)},
        "grep",
        id="whole-list-of-copies",
    ),
    pytest.param(MessagesState, lambda s: {"messages": raw_results(s)}, "grep", id="dicts"),
    pytest.param(MessagesState, lambda s: {"messages": raw_results(s)[0]}, "grep", id="one-dict"),
    pytest.param(
        MessagesState, lambda s: Command(update={"messages": results(s)}), "grep", id="one-command"
    ),
    pytest.param(
        MessagesState,
        lambda s: Command(update=[("other", 1), ("messages", results(s)), ("messages", [])]),
        "grep",
        id="command-of-pairs",
    ),
    pytest.param(
        MessagesState,
        lambda s: [Command(update={}), Command(), {"messages": results(s)}],
        "grep",
        id="list-of-commands-and-dict",
    ),
    pytest.param(
        MessagesState,
        lambda s: (Command(), {"messages": results(s)}),
        "grep",
        id="tuple-of-command-and-dict",
    ),
    pytest.param(RootState, results, "grep", id="list"),
    pytest.param(RootState, lambda s: results(s)[0], "grep", id="one-message-in-a-list-state"),
    pytest.param(
        DataclassState, lambda s: {"messages": results(s)}, "grep", id="dataclass-takes-a-dict"
    ),
    pytest.param(
        DataclassState, lambda s: DataclassState([*results(s)]), "grep", id="dataclass-state"
    ),
    pytest.param(
        PydanticState,
        lambda s: PydanticState(messages=[*s.messages, *results(s)]),
        "grep",
        id="pydantic-state",
    ),
    pytest.param(
        PydanticState,
        lambda s: Command(update=PydanticState(messages=results(s))),
        "grep",
        id="command-of-a-pydantic-state",
    ),
    pytest.param(
        MessagesState,
        lambda s: {"messages": Overwrite([*s["messages"], *results(s)])},
        "grep",
        id="overwrite",
    ),
    pytest.param(
        MessagesState,
        lambda s: Command(update={"messages": Overwrite([*s["messages"], *results(s)])}),
        "grep",
        id="command-that-overwrites",
    ),
    pytest.param(
        MessagesState,
        lambda s: [
            Command(update={}),
            Command(update=[("messages", Overwrite([*s["messages"], *results(s)]))]),
        ],
        "grep",
        id="pairs-that-overwrite",
    ),
    pytest.param(
        MessagesState,
        lambda s: [{"messages": Overwrite([*s["messages"], *results(s)])}, Command()],
        "grep",
        id="list-that-overwrites",
    ),
    pytest.param(
        MessagesState,
        lambda s: {
            "messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES), *s["messages"], *results(s)]
        },
        "grep",
        id="history-written-anew",
    ),
]


def run(state: Any, node: Any, name: str, delivery: Any, *, steps: int = 3) -> list[AnyMessage]:
    """Run a tools node as the last node of a graph on the third of equal calls."""
    messages: list[AnyMessage] = [HumanMessage("hi", id="h")]
    for number in range(steps):
        if number:
            answer = ToolMessage("nothing", tool_call_id=f"c{number - 1}", id=f"t-c{number - 1}")
            messages.append(answer)
        messages.append(asks(call(name, {"pattern": "a"}, f"c{number}"), id=f"m{number}"))
    builder = StateGraph(state)
    builder.add_node("tools", RepeatGuardNode(node, delivery=delivery))
    builder.add_edge(START, "tools")
    app = builder.compile()
    output = app.invoke(messages if state is RootState else {"messages": messages})
    found: list[AnyMessage] = output if isinstance(output, list) else output["messages"]
    return found


@pytest.mark.parametrize(("state", "node", "name"), SHAPES)
def test_reminder_is_the_last_message(state: Any, node: Any, name: str) -> None:
    """Behind the tool messages, once, and all else is as the node left it."""
    messages = run(state, node, name, "human_message")
    kinds = ["human", "ai", "tool", "ai", "tool", "ai", "tool", "human"]
    assert [one.type for one in messages] == kinds
    assert [one.id for one in reminders(messages)] == ["repeat_guard:m2"]


@pytest.mark.parametrize(("state", "node", "name"), SHAPES)
def test_reminder_in_the_tool_message(state: Any, node: Any, name: str) -> None:
    """The same text, behind the content of the last tool message."""
    messages = run(state, node, name, "tool_message")
    assert [one.type for one in messages] == ["human", "ai", "tool", "ai", "tool", "ai", "tool"]
    contents = [one.content for one in messages if one.type == "tool"]
    assert contents[:2] == ["nothing", "nothing"]
    assert str(contents[2]).endswith(f"\n\n{FIRST_TEXT}")


@pytest.mark.parametrize(("state", "node", "name"), SHAPES)
def test_nothing_is_added_while_no_threshold_is_hit(state: Any, node: Any, name: str) -> None:
    """The wrapper then returns the very object that the node has returned."""
    seen: list[Any] = []

    def tools(given: Any, config: RunnableConfig) -> Any:
        seen.append(node.invoke(given, config) if isinstance(node, ToolNode) else node(given))
        return seen[-1]

    outputs: list[Any] = []
    guard = RepeatGuardNode(tools)

    def outer(given: Any, config: RunnableConfig) -> Any:
        outputs.append(guard.invoke(given, config))
        return outputs[-1]

    builder = StateGraph(state)
    builder.add_node("tools", RunnableLambda(outer))
    builder.add_edge(START, "tools")
    messages = [asks(call(name, {"pattern": "a"}, "c0"), id="m0")]
    builder.compile().invoke(messages if state is RootState else {"messages": messages})
    assert outputs[0] is seen[0]


def test_commands_keep_what_they_carry() -> None:
    """Other keys of a Command's update, and where it goes."""
    reached = []

    def tools(state: MessagesState) -> Any:
        update = {"messages": results(state), "noted": ["x"]}
        return [Command(update=update, goto="other"), Command(update={})]

    builder = StateGraph(NotedState)
    builder.add_node("tools", RepeatGuardNode(tools, thresholds=(2,)))
    builder.add_node("other", lambda state: reached.append(state["noted"]))
    builder.add_edge(START, "tools")
    first = asks(call("grep", {"pattern": "a"}, "c0"), id="m0")
    again = asks(call("grep", {"pattern": "a"}, "c1"), id="m1")
    start: Any = {"messages": [first, ToolMessage("n", tool_call_id="c0"), again]}
    output = builder.compile().invoke(start)
    assert reached == [["x"]]
    assert len(reminders(output["messages"])) == 1


@pytest.mark.parametrize("delivery", ["human_message", "tool_message"])
def test_parts_of_the_result_are_the_same_objects(delivery: Any) -> None:
    """Only a tool message that takes a reminder is replaced, and what holds it."""
    made: list[Any] = []

    def tools(state: MessagesState) -> Any:
        one, two = results(state)
        made[:] = [Command(update={"messages": [one]}), one, two, AIMessage("note")]
        return [made[0], {"messages": [two]}, Command(update={"messages": []})]

    node = RepeatGuardNode(tools, thresholds=(2,), delivery=delivery)
    same = [call("grep", {"pattern": "a"}, f"c{n}") for n in range(2)]
    output = node.invoke({"messages": [asks(*same, id="m")]})
    assert output[0] is made[0]
    assert output[0].update["messages"][0] is made[1]
    assert (output[1]["messages"][0] is made[2]) == (delivery == "human_message")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param("", FIRST_TEXT, id="empty"),
        pytest.param(
            [{"type": "text", "text": "nothing"}],
            [{"type": "text", "text": "nothing"}, {"type": "text", "text": FIRST_TEXT}],
            id="blocks",
        ),
    ],
)
def test_content_keeps_its_type(content: Any, expected: Any) -> None:
    """Blocks stay blocks."""
    messages = run(
        MessagesState, lambda state: {"messages": results(state, content)}, "grep", "tool_message"
    )
    assert messages[-1].content == expected


@pytest.mark.parametrize(
    ("message", "kinds"),
    [
        pytest.param(("human", "look"), ["tool", "human"], id="pair"),
        pytest.param([("human", "look")], ["tool", "human"], id="list-of-a-pair"),
        pytest.param("look", ["tool", "human"], id="text"),
    ],
)
def test_message_in_short_form_stays_one_message(message: Any, kinds: list[str]) -> None:
    """`add_messages` takes a pair of role and text, or a text; here a prompt drops the step."""

    def tools(state: MessagesState) -> Any:
        return [Command(update={"messages": results(state)}), {"messages": message}]

    messages = run(MessagesState, tools, "grep", "human_message")
    assert [one.type for one in messages[6:]] == kinds
    assert messages[-1].content == "look"


@pytest.mark.parametrize(
    ("output", "is_changed"),
    [
        pytest.param(None, False, id="nothing"),
        pytest.param({}, False, id="empty-dict"),
        pytest.param({"messages": None}, False, id="no-messages"),
        pytest.param([], False, id="empty-list"),
        pytest.param({"other": 1}, False, id="another-key"),
    ],
)
def test_result_without_answers(output: Any, *, is_changed: bool) -> None:
    """The step is not complete: nothing is due."""
    turns = [asks(call("grep", {"pattern": "a"}, f"c{n}"), id=f"m{n}") for n in range(3)]
    node = RepeatGuardNode(lambda _: output)
    assert (node.invoke({"messages": turns}) is not output) == is_changed


def test_messages_replaced_in_place_keep_their_places() -> None:
    """A node may return an older message again, edited; the newest step stays the newest."""

    def tools(state: MessagesState) -> Any:
        edited = state["messages"][1].model_copy(update={"content": "edited"})
        return {"messages": [*results(state), edited]}

    messages = run(MessagesState, tools, "grep", "human_message")
    assert messages[1].content == "edited"
    assert len(reminders(messages)) == 1


class PlainState(BaseModel):
    messages: Annotated[list[Any], operator.add] = []


def test_raw_answers_in_a_plain_state() -> None:
    """Without `add_messages` dicts stay dicts; the reminder is a message all the same."""
    node = RepeatGuardNode(lambda state: {"messages": raw_results(state)}, thresholds=(2,))
    turn: Callable[[int], Any] = lambda n: asks(call("grep", {"pattern": "a"}, f"c{n}"), id=f"m{n}")  # noqa: E731
    raw = {"role": "tool", "content": "nothing", "tool_call_id": "c0"}
    builder = StateGraph(PlainState)
    builder.add_node("tools", node)
    builder.add_edge(START, "tools")
    output = builder.compile().invoke(PlainState(messages=[turn(0), raw, turn(1)]))
    assert output["messages"][3] == {**raw, "tool_call_id": "c1"}
    assert len(reminders(output["messages"])) == 1
