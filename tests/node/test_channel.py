"""Where the chain is kept: a state channel, for every kind of state and any messages key."""

import copy
import operator
import pickle
from dataclasses import dataclass, field
from typing import Annotated, Any

import pytest
from helpers.graphs import answer, react_agent, reminders, summaries
from helpers.models import ScriptedModel, asks, call, repeats, says
from helpers.tools import grep
from langchain_core.messages import AnyMessage, HumanMessage, RemoveMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import ToolNode
from pydantic import BaseModel, ConfigDict
from typing_extensions import TypedDict

from langchain_repeat_guard import RepeatGuardNode, RepeatGuardState, RepeatReminderNode

THREAD: Any = {"configurable": {"thread_id": "t"}}
CHAT = "chat"


class ChatState(TypedDict):
    chat: Annotated[list[AnyMessage], add_messages]


class PlainState(TypedDict):
    messages: Annotated[list[AnyMessage], operator.add]


@dataclass
class DataclassState:
    messages: Annotated[list[AnyMessage], add_messages] = field(default_factory=list)


class PydanticState(BaseModel):
    model_config = ConfigDict(extra="forbid")
    messages: Annotated[list[AnyMessage], add_messages] = []


@dataclass
class ChatDataclassState:
    chat: Annotated[list[AnyMessage], add_messages] = field(default_factory=list)


class ChatPydanticState(BaseModel):
    chat: Annotated[list[AnyMessage], operator.add] = []


STATES: list[Any] = [
    pytest.param(MessagesState, "messages", id="typed-dict"),
    pytest.param(PlainState, "messages", id="typed-dict-without-add-messages"),
    pytest.param(DataclassState, "messages", id="dataclass"),
    pytest.param(PydanticState, "messages", id="pydantic"),
    pytest.param(ChatState, CHAT, id="other-key"),
    pytest.param(ChatDataclassState, CHAT, id="other-key-dataclass"),
    pytest.param(ChatPydanticState, CHAT, id="other-key-pydantic"),
]


def build(node: Any, state: type[Any], key: str, *, turns: int = 3, **add: Any) -> Any:
    """Return a graph whose model repeats one call, with `node` between tools and model."""
    model = ScriptedModel(script=[*repeats(turns, "grep", {"pattern": "a"}), says("done")])
    builder = StateGraph(state)

    def get(state: Any) -> list[AnyMessage]:
        messages: list[AnyMessage] = state[key] if isinstance(state, dict) else getattr(state, key)
        return messages

    tools = ToolNode([grep], messages_key=key)
    builder.add_node("model", lambda state: {key: [model.invoke(get(state))]})
    builder.add_node("tools", tools)
    builder.add_node("remind", node, **add)
    builder.add_edge(START, "model")
    builder.add_conditional_edges(
        "model",
        lambda state: "tools" if get(state)[-1].tool_calls else END,  # type: ignore[union-attr]
    )
    builder.add_edge("tools", "remind")
    builder.add_edge("remind", "model")
    return builder.compile(checkpointer=InMemorySaver())


def check(app: Any, key: str) -> None:
    """Run the graph: it reminds once, keeps its chain, and does not show it in the output."""
    output = app.invoke({key: [HumanMessage("hi")]}, THREAD)
    values = app.get_state(THREAD).values
    assert len(reminders(output[key])) == 1
    assert "repeat_guard" not in output
    assert values["repeat_guard"]["chain"]["count"] == 3
    assert [entry[1] for entry in values["repeat_guard"]["counted"]] == [1, 2, 3]


@pytest.mark.parametrize(("state", "key"), STATES)
def test_reminder_node_brings_its_channel(state: type[Any], key: str) -> None:
    """Nothing has to be added to the graph's state."""
    check(build(RepeatReminderNode(messages_key=key), state, key), key)


@pytest.mark.parametrize(("state", "key"), STATES)
def test_input_schema_may_be_named(state: type[Any], key: str) -> None:
    """`add_node(..., input_schema=node.input_schema)` is the explicit form."""
    node = RepeatReminderNode(messages_key=key)
    check(build(node, state, key, input_schema=node.input_schema), key)


@pytest.mark.parametrize("key", ["messages", CHAT])
def test_copied_node_brings_its_channel(key: str) -> None:
    """A host may copy the parts of its graphs."""
    node = copy.deepcopy(RepeatReminderNode(messages_key=key, thresholds=(3, 9)))
    assert node.config.thresholds == (3, 9)
    check(build(node, MessagesState if key == "messages" else ChatState, key), key)


class Mine(RepeatReminderNode):
    """A host's own class, which differs in nothing."""


@pytest.mark.parametrize("copied", [lambda node: node, copy.copy, copy.deepcopy])
@pytest.mark.parametrize(("state", "key"), STATES)
def test_subclass_brings_its_channel(state: type[Any], key: str, copied: Any) -> None:
    """A host may derive a class of its own, for any key, and copy what it makes of it."""
    node = copied(Mine(messages_key=key))
    assert (isinstance(node, Mine), type(node).__name__, type(node).__doc__) == (
        True,
        "Mine",
        Mine.__doc__,
    )
    check(build(node, state, key), key)


def test_subclass_may_declare_its_state_itself() -> None:
    """A `__call__` of its own is what LangGraph reads."""

    class ChannelState(ChatState):
        repeat_guard: dict[str, Any]

    class Declared(RepeatReminderNode):
        def __call__(self, state: ChannelState) -> Any:  # type: ignore[override]
            return self.invoke(state)

    Declared.__call__.__annotations__["state"] = ChannelState
    node = Declared(messages_key=CHAT)
    assert node.input_schema is ChannelState
    check(build(node, ChatState, CHAT), CHAT)


@pytest.mark.parametrize("kind", [RepeatReminderNode, Mine])
def test_plain_node_can_be_pickled(kind: Any) -> None:
    """It may go to another process."""
    node = pickle.loads(pickle.dumps(kind(thresholds=(3, 9))))
    assert (type(node), node.config.thresholds) == (kind, (3, 9))
    check(build(node, MessagesState, "messages"), "messages")


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("version", ["v1", "v2"])
async def test_pre_model_hook(version: str, *, is_async: bool) -> None:
    """In both versions of `create_react_agent`: one message, in front of the next model call."""
    model = ScriptedModel(
        script=[
            asks(call("grep", {"pattern": "a"})),
            asks(*[call("grep", {"pattern": "a"}) for _ in range(2)]),
            says("done"),
        ]
    )
    app = react_agent(
        model,
        [grep],
        pre_model_hook=RepeatReminderNode(),
        version=version,
        checkpointer=InMemorySaver(),
    )
    said = {"messages": [HumanMessage("hi")]}
    output = await app.ainvoke(said, THREAD) if is_async else app.invoke(said, THREAD)
    kinds = [one.type for one in output["messages"]]
    assert kinds == ["human", "ai", "tool", "ai", "tool", "tool", "human", "ai"]
    assert [one.type for one in model.requests[-1]] == kinds[:-1]
    assert app.get_state(THREAD).values["repeat_guard"]["chain"]["count"] == 3


def test_pre_model_hook_beside_a_post_model_hook() -> None:
    """The calls then reach the tools without the state; the hook sees the history."""
    model = ScriptedModel(script=[*repeats(3, "grep", {"pattern": "a"}), says("done")])
    app = react_agent(
        model,
        [grep],
        pre_model_hook=RepeatReminderNode(),
        post_model_hook=lambda _: {},
        version="v2",
    )
    app.invoke({"messages": [HumanMessage("hi")]})
    assert [len(reminders(request)) for request in model.requests] == [0, 0, 0, 1]


@dataclass
class DataclassWithChannel:
    messages: Annotated[list[AnyMessage], add_messages] = field(default_factory=list)
    repeat_guard: dict[str, Any] = field(default_factory=dict)


class PydanticWithChannel(BaseModel):
    messages: Annotated[list[AnyMessage], add_messages] = []
    repeat_guard: dict[str, Any] = {}


class DictWithChannel(MessagesState, RepeatGuardState):
    pass


class DictWithChannelFirst(RepeatGuardState, MessagesState):
    pass


WITH_CHANNEL: list[Any] = [
    pytest.param(DictWithChannel, id="typed-dict"),
    pytest.param(DictWithChannelFirst, id="mix-in-first"),
    pytest.param(DataclassWithChannel, id="dataclass"),
    pytest.param(PydanticWithChannel, id="pydantic"),
]


def one_step(node: Any, state: type[Any]) -> Any:
    """Return a graph of a tools node alone."""
    builder = StateGraph(state)
    builder.add_node("tools", node)
    builder.add_edge(START, "tools")
    return builder.compile(checkpointer=InMemorySaver())


@pytest.mark.parametrize("state", WITH_CHANNEL)
def test_wrapper_keeps_its_chain_where_the_state_has_the_key(state: type[Any]) -> None:
    """The chain outlives that all messages but the newest are deleted after every step."""
    app = one_step(RepeatGuardNode(ToolNode([grep])), state)
    due = []
    for turn in repeats(8, "grep", {"pattern": "a"}):
        app.invoke({"messages": [turn]}, THREAD)
        messages = app.get_state(THREAD).values["messages"]
        due += [one.split()[-1] for one in summaries(messages)]
        app.update_state(THREAD, {"messages": [RemoveMessage(id=one.id) for one in messages]})
    assert due == ["3", "5", "8"]
    assert app.get_state(THREAD).values["repeat_guard"]["chain"]["count"] == 8


@pytest.mark.parametrize("state", WITH_CHANNEL)
def test_state_object_as_result_takes_reminder_and_chain(state: type[Any]) -> None:
    """A function may return a state instead of a dict; one channel gets one value a step."""

    def tools(given: Any) -> Any:
        asked = given if isinstance(given, dict) else {"messages": given.messages}
        answers = answer(asked)["messages"]  # type: ignore[arg-type]
        return {"messages": answers} if isinstance(given, dict) else type(given)(messages=answers)

    app = one_step(RepeatGuardNode(tools), state)
    for turn in repeats(3, "grep", {"pattern": "a"}):
        app.invoke({"messages": [turn]}, THREAD)
    values = app.get_state(THREAD).values
    assert len(reminders(values["messages"])) == 1
    assert values["repeat_guard"]["chain"]["count"] == 3


def test_state_without_the_messages_key_is_left_alone(caplog: pytest.LogCaptureFixture) -> None:
    """The default key on a graph that calls its messages otherwise."""
    app = build(RepeatReminderNode(), ChatState, CHAT)
    output = app.invoke({CHAT: [HumanMessage("hi")]}, THREAD)
    assert reminders(output[CHAT]) == []
    (record,) = caplog.records
    assert "no messages in the state under messages_key='messages'" in record.getMessage()
    assert RepeatReminderNode(messages_key=CHAT).invoke({CHAT: []}) == {}


def test_update_holds_the_reminder_under_the_messages_key() -> None:
    """And the chain under its own."""
    messages: list[AnyMessage] = []
    for turn in repeats(3, "grep", {"pattern": "a"}):
        messages += [turn, *answer({"messages": [turn]})["messages"]]
    update = RepeatReminderNode(messages_key=CHAT).invoke({CHAT: messages})
    assert sorted(update) == [CHAT, "repeat_guard"]
    assert [one.type for one in update[CHAT]] == ["human"]


def test_nothing_is_written_where_nothing_has_changed() -> None:
    """A second look at the same state, by either node, is an empty update."""
    turn = repeats(1, "grep", {"pattern": "a"})[0]
    turn.id = "m"
    messages = [turn, *answer({"messages": [turn]})["messages"]]
    channel = RepeatReminderNode().invoke({"messages": messages})["repeat_guard"]
    state = {"messages": messages, "repeat_guard": channel}
    assert RepeatReminderNode().invoke(state) == {}
    assert RepeatGuardNode(lambda _: {}).invoke(state) == {}


def test_foreign_value_is_replaced(caplog: pytest.LogCaptureFixture) -> None:
    """One log line for a whole run, and the chain starts anew."""
    app = one_step(RepeatGuardNode(ToolNode([grep])), DictWithChannel)
    app.update_state(THREAD, {"repeat_guard": {"odd": "secret"}}, as_node="tools")
    for turn in repeats(3, "grep", {"pattern": "a"}):
        app.invoke({"messages": [turn]}, THREAD)
    assert app.get_state(THREAD).values["repeat_guard"]["chain"]["count"] == 3
    assert len(caplog.records) == 1
    assert "secret" not in caplog.text
