"""One scripted agent with a guard at each place that there is, and what its model is told."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import BaseMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, create_react_agent, tools_condition

from helpers.models import ScriptedModel
from helpers.rules import Found
from helpers.tools import grep, ping, read
from langchain_repeat_guard import (
    RepeatGuardMiddleware,
    RepeatGuardNode,
    RepeatGuardState,
    RepeatReminderNode,
    TransientRepeatGuardMiddleware,
    is_reminder,
)

MakeGuarded = Callable[..., Any]
"""`make(model, **options)`: an agent with a saver, whose guard has these options."""


class StateWithChannel(MessagesState, RepeatGuardState):
    """Messages and the chain."""


def around_tools(model: ScriptedModel, **options: Any) -> Any:
    """Wrap the tools node; the chain is read from the messages."""
    return _graph(model, MessagesState, options)


def around_tools_with_channel(model: ScriptedModel, **options: Any) -> Any:
    """Wrap the tools node; the chain has a channel."""
    return _graph(model, StateWithChannel, options)


def _graph(model: ScriptedModel, state: type[Any], options: dict[str, Any]) -> Any:
    graph = StateGraph(state)
    graph.add_node("think", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("act", RepeatGuardNode(ToolNode([grep, read, ping]), **options))
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", tools_condition, {"tools": "act", END: END})
    graph.add_edge("act", "think")
    return graph.compile(checkpointer=InMemorySaver())


def before_model(model: ScriptedModel, **options: Any) -> Any:
    """Put a node between tools and model."""
    graph = StateGraph(MessagesState)
    graph.add_node("think", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("act", ToolNode([grep, read, ping]))
    graph.add_node("remind", RepeatReminderNode(**options))
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", tools_condition, {"tools": "act", END: END})
    graph.add_edge("act", "remind")
    graph.add_edge("remind", "think")
    return graph.compile(checkpointer=InMemorySaver())


def hook_of_react(model: ScriptedModel, **options: Any) -> Any:
    """Make it the `pre_model_hook`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return create_react_agent(
            model,
            [grep, read, ping],
            pre_model_hook=RepeatReminderNode(**options),
            checkpointer=InMemorySaver(),
        )


def stored(model: ScriptedModel, **options: Any) -> Any:
    """Use the middleware that stores reminders."""
    return _agent(model, RepeatGuardMiddleware(**options))


def transient(model: ScriptedModel, **options: Any) -> Any:
    """Use the middleware that stores none."""
    return _agent(model, TransientRepeatGuardMiddleware(**options))


def _agent(model: ScriptedModel, guard: Any) -> Any:
    saver = InMemorySaver()
    return create_agent(model, [grep, read, ping], middleware=[guard], checkpointer=saver)


NODES: dict[str, MakeGuarded] = {
    "around-tools": around_tools,
    "around-tools-with-channel": around_tools_with_channel,
    "node": before_model,
    "pre-model-hook": hook_of_react,
}
MIDDLEWARES: dict[str, MakeGuarded] = {"stored": stored, "transient": transient}
ALL: dict[str, MakeGuarded] = {**NODES, **MIDDLEWARES}
WITH_CHANNEL: dict[str, MakeGuarded] = {
    name: make for name, make in ALL.items() if name != "around-tools"
}


def told(requests: Sequence[Sequence[BaseMessage]]) -> Found:
    """Return all reminders in a model's requests, each once, in order."""
    messages = {one.id: one for request in requests for one in request if is_reminder(one)}
    return [
        (str(one.id), str(one.content))
        for one in messages.values()
        if isinstance(one, HumanMessage)
    ]
