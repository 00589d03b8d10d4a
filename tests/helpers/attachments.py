"""The ways to attach the guard to an agent, as builders of one shape."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, SummarizationMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.tools import BaseTool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.prebuilt import ToolNode, create_react_agent
from langgraph.types import interrupt

import langchain_repeat_guard as guard
from helpers.models import ScriptedModel, says

KEPT = 4
"""How many messages a summary leaves, about: a step is never torn apart."""

SUMMARISED_AT = 9
"""How many messages a history has when it is summarised."""


@dataclass(frozen=True)
class Host:
    """An agent before the guard is attached."""

    model: BaseChatModel
    tools: Sequence[BaseTool]
    saver: Any = None
    approves: bool = False
    """Whether every call of `grep` waits for a person's decision."""

    summarises: bool = False
    """Whether a long history is replaced by a summary and its newest steps."""


Build = Callable[..., Any]
"""Makes an agent of a `Host`, with the guard attached; keyword options go to the guard."""


class _State(MessagesState, guard.RepeatGuardState):
    pass


def bare_graph(host: Host) -> Any:
    """Return the graph without a guard."""
    return _graph(host, _tools_node(host))


def node(host: Host, **options: Any) -> Any:
    """Wrap the tools node; the chain is read from the messages."""
    return _graph(host, guard.RepeatGuardNode(_tools_node(host), **options))


def node_with_channel(host: Host, **options: Any) -> Any:
    """Wrap the tools node; the chain is in the state."""
    return _graph(host, guard.RepeatGuardNode(_tools_node(host), **options), schema=_State)


def reminder_node(host: Host, **options: Any) -> Any:
    """Put a node of its own between tools and model."""
    return _graph(host, _tools_node(host), remind=guard.RepeatReminderNode(**options))


def pre_model_hook(host: Host, **options: Any) -> Any:
    """Hook the node into `create_react_agent`, which knows neither approvals nor summaries."""
    assert not host.approves
    assert not host.summarises
    hook = guard.RepeatReminderNode(**options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # deprecated, and still used
        return create_react_agent(
            host.model, list(host.tools), pre_model_hook=hook, checkpointer=host.saver
        )


def bare_agent(host: Host) -> Any:
    """Return the `create_agent` agent without a guard."""
    return create_agent(
        host.model, list(host.tools), middleware=_others(host), checkpointer=host.saver
    )


def _middleware(name: str) -> Build:
    def build(host: Host, **options: Any) -> Any:
        middleware = [*_others(host), getattr(guard, name)(**options)]
        return create_agent(
            host.model, list(host.tools), middleware=middleware, checkpointer=host.saver
        )

    return build


ATTACHMENTS: dict[str, Build] = {
    "node": node,
    "node-with-channel": node_with_channel,
    "reminder-node": reminder_node,
    "pre-model-hook": pre_model_hook,
}
"""Every way to attach the guard, by name."""

for _name, _short in (
    ("RepeatGuardMiddleware", "middleware"),
    ("TransientRepeatGuardMiddleware", "transient-middleware"),
):
    if _name in guard.__all__:
        ATTACHMENTS[_short] = _middleware(_name)

BARE: dict[str, Build] = {
    name: bare_agent if "middleware" in name else bare_graph for name in ATTACHMENTS
}
"""The same agents without the guard, by the same names."""


def _others(host: Host) -> list[Any]:
    others: list[Any] = []
    if host.approves:
        others.append(HumanInTheLoopMiddleware(interrupt_on={"grep": True}))
    if host.summarises:
        summary = ScriptedModel(script=lambda _: says("It went on."))
        limits: dict[str, Any] = {
            "trigger": ("messages", SUMMARISED_AT),
            "keep": ("messages", KEPT),
        }
        others.append(SummarizationMiddleware(summary, **limits))
    return others


def _tools_node(host: Host) -> Any:
    inner = ToolNode(list(host.tools))
    return _approving(inner) if host.approves else inner


def _approving(inner: ToolNode) -> Callable[..., Any]:
    """Return a tools node that asks a person first, and answers what is refused itself."""

    def decide_and_run(state: MessagesState, config: RunnableConfig) -> dict[str, Any]:
        *before, asked = state["messages"]
        assert isinstance(asked, AIMessage)
        decisions = interrupt(len(asked.tool_calls))["decisions"]
        decided = list(zip(asked.tool_calls, decisions, strict=True))
        granted = [call for call, decision in decided if decision["type"] == "approve"]
        answers: list[Any] = [_denial(call) for call, _ in decided if call not in granted]
        if granted:
            part = asked.model_copy(update={"tool_calls": granted})
            answers += inner.invoke({"messages": [*before, part]}, config)["messages"]
        return {"messages": answers}

    return decide_and_run


def _denial(call: ToolCall) -> ToolMessage:
    return ToolMessage("Denied.", tool_call_id=call["id"], name=call["name"], status="error")


def _graph(
    host: Host, tools_node: Any, *, schema: type[Any] = MessagesState, remind: Any = None
) -> Any:
    bound = host.model.bind_tools(list(host.tools))

    def ask(state: MessagesState) -> dict[str, Any]:
        return {"messages": [bound.invoke(state["messages"])]}

    async def ask_async(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await bound.ainvoke(state["messages"])]}

    graph = StateGraph(schema)
    graph.add_node("model", RunnableLambda(ask, ask_async))
    graph.add_node("tools", tools_node)
    steps = ["tools", "model"]
    if remind is not None:
        graph.add_node("remind", remind)
        steps.insert(1, "remind")
    if host.summarises:
        graph.add_node("summarise", _summarise)
        steps.insert(-1, "summarise")
    for before, after in pairwise(steps):
        graph.add_edge(before, after)
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", _next_node, ["tools", END])
    return graph.compile(checkpointer=host.saver)


def _next_node(state: MessagesState) -> str:
    last = state["messages"][-1]
    return "tools" if isinstance(last, AIMessage) and last.tool_calls else END


def _summarise(state: MessagesState) -> dict[str, Any]:
    """Replace all but the newest steps by a summary, as LangChain's middleware does."""
    messages = state["messages"]
    if len(messages) < SUMMARISED_AT:
        return {}
    start = len(messages) - KEPT
    while start > 0 and isinstance(messages[start], ToolMessage):
        start -= 1
    note = HumanMessage("It went on.", additional_kwargs={"lc_source": "summarization"})
    return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), note, *messages[start:]]}
