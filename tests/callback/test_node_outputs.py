"""Whatever a node returns, the handler reads from it what the graph makes of it (law L8)."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from helpers.graphs import answer, reminders
from helpers.models import asks, call, says
from helpers.modes import Run
from langchain_core.messages import (
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    convert_to_openai_messages,
)
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.prebuilt import tools_condition
from langgraph.types import Command, Overwrite

from langchain_repeat_guard import RepeatGuardCallbackHandler, RepeatReminderNode

Write = Callable[[Any, BaseMessage], Any]
"""`write(state, message)`: what a node returns to add the message."""

THRESHOLDS = (2, 3)
GO = HumanMessage("go", id="go")
LOOK = HumanMessage("look")


class State(MessagesState):
    """Messages, and a key that has the name of a role."""

    user: str


def whole(state: Any, message: BaseMessage) -> Overwrite:
    return Overwrite([*state["messages"], message])


def as_openai(message: BaseMessage) -> dict[str, Any]:
    """Return a message as a client of OpenAI's API has it."""
    return dict(convert_to_openai_messages([message])[0])


WRITES: list[Any] = [
    pytest.param(lambda _, m: {"messages": [as_openai(m)]}, id="dict-in-a-list"),
    pytest.param(lambda _, m: {"messages": as_openai(m)}, id="dict-alone"),
    pytest.param(lambda _, m: {"messages": [m]}, id="dict"),
    pytest.param(lambda s, m: {"messages": whole(s, m)}, id="overwrite"),
    pytest.param(lambda s, m: Command(update={"messages": whole(s, m)}), id="command-overwrites"),
    pytest.param(lambda _, m: Command(update=[("messages", [m])]), id="pairs"),
    pytest.param(lambda _, m: Command(update=[("messages", m)]), id="pairs-with-one-message"),
    pytest.param(
        lambda s, m: Command(update=[("messages", whole(s, m))]), id="pairs-with-an-overwrite"
    ),
    pytest.param(lambda _, m: Command(graph="any", update={"messages": [m]}), id="named-graph"),
    pytest.param(
        lambda _, m: [Command(graph="any", update={"messages": [m]})], id="list-with-a-named-graph"
    ),
]
SAID: list[Any] = [
    pytest.param({"messages": [LOOK]}, (2,), id="message"),
    pytest.param({"messages": ("user", "look")}, (2,), id="pair-alone"),
    pytest.param({"messages": {"role": "user", "content": "look"}}, (2,), id="role-alone"),
    pytest.param({"messages": [{"type": "human", "content": "look"}]}, (2,), id="type"),
    pytest.param(Command(update=[("messages", LOOK)]), (2,), id="pairs-with-one-message"),
    pytest.param(Command(update=[("messages", ("user", "look"))]), (2,), id="pairs-with-a-pair"),
    pytest.param(Command(graph="any", update={"messages": [LOOK]}), (2,), id="named-graph"),
    pytest.param(Command(update=[("user", "look")]), (2, 3), id="another-key"),
]


def agent(write: Write, said: Any = None) -> Any:
    """Return a graph without models and tools, which says `said` behind its first step."""
    steps = [asks(call("grep", {"pattern": "a"}), id=f"a{number}") for number in range(3)]
    turns = iter([*steps, says("done", id="end")])
    visits = itertools.count()
    graph = StateGraph(State)
    graph.add_node("think", lambda state: write(state, next(turns)))
    graph.add_node("act", lambda state: write(state, answer(state)["messages"][0]))
    graph.add_node("say", lambda _: None if next(visits) else said)
    graph.add_node("remind", RepeatReminderNode(thresholds=THRESHOLDS))
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", tools_condition, {"tools": "act", END: END})
    graph.add_edge("act", "say")
    graph.add_edge("say", "remind")
    graph.add_edge("remind", "think")
    return graph.compile()


def found(app: Any, run: Run) -> tuple[list[int], list[int]]:
    """Return the counts that the node in the graph reminds of, and those of the handler."""
    handler = RepeatGuardCallbackHandler(thresholds=THRESHOLDS)
    messages = run(app, {"messages": [GO]}, {"callbacks": [handler]})["messages"]
    delivered = [
        one["count"]
        for message in reminders(messages)
        for one in message.additional_kwargs["lc_data"]["reminders"]
    ]
    return delivered, [one.count for one in handler.reminders]


@pytest.mark.parametrize("write", WRITES)
def test_calls_and_answers_are_read(write: Write, run: Run) -> None:
    """Where no model and no tool fires an event, the nodes' outputs are all there is."""
    assert found(agent(write), run) == ([2, 3], [2, 3])


@pytest.mark.parametrize(("said", "counts"), SAID)
def test_prompts_are_read(said: Any, counts: tuple[int, ...], run: Run) -> None:
    """A user's message resets the chain; what only looks like one does not."""
    write: Write = lambda _, message: {"messages": [message]}  # noqa: E731
    assert found(agent(write, said), run) == ([*counts], [*counts])


@pytest.mark.parametrize(
    "said",
    [
        pytest.param({"messages": Overwrite([GO])}, id="overwrite"),
        pytest.param({"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), GO]}, id="removal"),
    ],
)
def test_a_history_written_anew_holds_no_new_prompt(said: Any, run: Run) -> None:
    """The old prompt in it resets nothing, however the rest was deleted."""
    _, handled = found(agent(lambda _, message: {"messages": [message]}, said), run)
    assert handled == [2, 3]
