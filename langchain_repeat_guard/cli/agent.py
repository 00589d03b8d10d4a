"""The agent that the demo runs: a model and its tools in a plain LangGraph graph."""

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

from langchain_repeat_guard.core.config import RepeatGuardConfig
from langchain_repeat_guard.node import RepeatGuardNode

_STEPS_PER_MODEL_CALL = 2
"""LangGraph counts the model's step and the tools' step."""


def build_agent(
    model: Runnable[Any, AIMessage],
    tools: Sequence[BaseTool],
    *,
    guard: RepeatGuardConfig | None,
    max_model_calls: int,
    checkpointer: BaseCheckpointSaver[Any] | None = None,
) -> Runnable[Any, Any]:
    """Return an agent that ends by itself, or after `max_model_calls`.

    Args:
        model: Already bound to the tools.
        tools: What the model can call.
        guard: Settings of the guard around the tools node; None leaves the guard out.
        max_model_calls: How often the model may be asked.
        checkpointer: Where the graph saves its state, if anywhere.
    """
    tool_node = ToolNode(tools)

    def call_model(state: MessagesState) -> dict[str, Any]:
        return {"messages": [model.invoke(state["messages"])]}

    def after_model(state: MessagesState) -> str:
        return "tools" if getattr(state["messages"][-1], "tool_calls", None) else END

    def after_tools(state: MessagesState) -> str:
        asked = sum(isinstance(message, AIMessage) for message in state["messages"])
        return "model" if asked < max_model_calls else END

    graph = StateGraph(MessagesState)
    graph.add_node("model", call_model)
    graph.add_node("tools", RepeatGuardNode(tool_node, config=guard) if guard else tool_node)
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", after_model, ["tools", END])
    graph.add_conditional_edges("tools", after_tools, ["model", END])
    agent = graph.compile(checkpointer=checkpointer)
    return agent.with_config(recursion_limit=max_model_calls * _STEPS_PER_MODEL_CALL + 1)
