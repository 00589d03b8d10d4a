"""On one run, the handler finds what the other adapters find (law L8)."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from helpers.models import ScriptedModel, asks, call, malformed, says
from helpers.modes import Run
from helpers.tools import grep, ping, refusing
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import Runnable
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, create_react_agent, tools_condition

from langchain_repeat_guard import (
    RepeatGuardCallbackHandler,
    RepeatGuardNode,
    RepeatReminderNode,
    is_reminder,
)

Found = list[tuple[str, str, int]]
MakeAgent = Callable[[ScriptedModel], Runnable[Any, Any]]

THRESHOLDS = (2, 3, 5)
TOOLS = [grep, ping, refusing]
CALLS: list[Callable[[], Any]] = [
    lambda: call("grep", {"pattern": "x"}),
    lambda: call("grep", {"pattern": "y"}),
    lambda: call("ping"),
    lambda: call("refusing", {"reason": "no"}),
    lambda: call("unknown", {"a": 1}),
    lambda: call("grep", {"wrong": True}),
    lambda: malformed("grep", "{"),
]
# Few choices, so that repetitions are frequent. A malformed call never stands alone: its message
# would be a final answer.
STEP = st.lists(st.sampled_from(range(6)), min_size=1, max_size=3) | st.just([0, 6])
PROMPTS = st.lists(st.lists(STEP, max_size=7), min_size=1, max_size=3)


def wrapped_tools(model: ScriptedModel) -> Runnable[Any, Any]:
    graph = StateGraph(MessagesState)
    graph.add_node("think", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("act", RepeatGuardNode(ToolNode(TOOLS), thresholds=THRESHOLDS))
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", tools_condition, {"tools": "act", END: END})
    graph.add_edge("act", "think")
    return graph.compile(checkpointer=InMemorySaver())


def node_before_model(model: ScriptedModel) -> Runnable[Any, Any]:
    graph = StateGraph(MessagesState)
    graph.add_node("think", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("act", ToolNode(TOOLS))
    graph.add_node("remind", RepeatReminderNode(thresholds=THRESHOLDS))
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", tools_condition, {"tools": "act", END: END})
    graph.add_edge("act", "remind")
    graph.add_edge("remind", "think")
    return graph.compile(checkpointer=InMemorySaver())


def edited(message: AIMessage) -> AIMessage:
    """Take a third call out, and let every call of `grep` search for the same."""
    calls = [
        {**one, "args": {"pattern": "x"}} if one["name"] == "grep" else one
        for one in message.tool_calls[:2]
    ]
    return message.model_copy(update={"tool_calls": calls})


def node_after_edits(where: str) -> MakeAgent:
    """Return agents whose calls are edited in the model's own node, or in one of their own."""

    def make(model: ScriptedModel) -> Runnable[Any, Any]:
        def think(state: MessagesState) -> dict[str, Any]:
            said = model.invoke(state["messages"])
            return {"messages": [edited(said) if where == "own" else said]}

        def edit(state: MessagesState) -> dict[str, Any]:
            last = state["messages"][-1]
            assert isinstance(last, AIMessage)
            return {"messages": [last if where == "own" else edited(last)]}

        graph = StateGraph(MessagesState)
        graph.add_node("think", think)
        graph.add_node("edit", edit)
        graph.add_node("act", ToolNode(TOOLS))
        graph.add_node("remind", RepeatReminderNode(thresholds=THRESHOLDS))
        graph.add_edge(START, "think")
        graph.add_edge("think", "edit")
        graph.add_conditional_edges("edit", tools_condition, {"tools": "act", END: END})
        graph.add_edge("act", "remind")
        graph.add_edge("remind", "think")
        return graph.compile(checkpointer=InMemorySaver())

    return make


def hook_of_react(version: Any) -> MakeAgent:
    def make(model: ScriptedModel) -> Runnable[Any, Any]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return create_react_agent(
                model,
                TOOLS,
                version=version,
                pre_model_hook=RepeatReminderNode(thresholds=THRESHOLDS),
                checkpointer=InMemorySaver(),
            )

    return make


GUARDED = [
    pytest.param(wrapped_tools, id="wrapped-tools"),
    pytest.param(node_before_model, id="node"),
    pytest.param(node_after_edits("own"), id="calls-edited-in-model's-node"),
    pytest.param(node_after_edits("next"), id="calls-edited-in-next-node"),
    pytest.param(hook_of_react("v1"), id="react-v1"),
    pytest.param(hook_of_react("v2"), id="react-v2"),
]


def script(prompts: Sequence[Sequence[Sequence[int]]]) -> list[AIMessage]:
    turns = []
    for number, steps in enumerate(prompts):
        for place, step in enumerate(steps):
            issued = [CALLS[kind]() for kind in step]
            for index, one in enumerate(issued):
                one["id"] = f"{number}-{place}-{index}"
            turns.append(asks(*issued, id=f"answer-{number}-{place}"))
        turns.append(says("done", id=f"answer-{number}"))
    return turns


def delivered(messages: Sequence[Any]) -> Found:
    """Return what the reminders among messages are about."""
    return [
        (str(message.id), one["tool"], one["count"])
        for message in messages
        if isinstance(message, HumanMessage) and is_reminder(message)
        for one in message.additional_kwargs["lc_data"]["reminders"]
    ]


def shown(model: ScriptedModel) -> Found:
    """Return what the reminders in all requests to the model are about, each message once."""
    messages = {message.id: message for request in model.requests for message in request}
    return delivered(list(messages.values()))


def agree(make: MakeAgent, prompts: Sequence[Sequence[Sequence[int]]], run: Run) -> None:
    model = ScriptedModel(script=script(prompts))
    handler = RepeatGuardCallbackHandler(thresholds=THRESHOLDS, keep_reminders=1000)
    agent = make(model)
    config = {"callbacks": [handler], "configurable": {"thread_id": "t"}}
    for number in range(len(prompts)):
        run(agent, {"messages": [HumanMessage("go", id=f"prompt-{number}")]}, config)
    assert shown(model) == [(one.reminder_id, one.tool, one.count) for one in handler.reminders]


@pytest.mark.parametrize("make", GUARDED)
@given(prompts=PROMPTS)
@settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_the_handler_agrees_with(make: MakeAgent, prompts: Any, run: Run) -> None:
    """Same reminders, for the same steps, in the same order."""
    agree(make, prompts, run)


def test_the_test_sees_reminders(run: Run) -> None:
    """The comparison is not one of nothing with nothing."""
    model = ScriptedModel(script=script([[[0], [0], [0]]]))
    agent = node_before_model(model)
    prompt = {"messages": [HumanMessage("go")]}
    run(agent, prompt, {"configurable": {"thread_id": "t"}})
    assert shown(model) == [
        ("repeat_guard:answer-0-1", "grep", 2),
        ("repeat_guard:answer-0-2", "grep", 3),
    ]
