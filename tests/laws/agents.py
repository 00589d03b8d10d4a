"""The agents that the laws are checked on: one for each way to attach the guard."""

import asyncio
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from helpers.graphs import ChannelState, react_agent
from helpers.models import ScriptedModel
from helpers.tools import ask_human, grep, ping, refusing
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.tools import BaseTool, InjectedToolCallId, tool
from langgraph.config import get_config
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from langchain_repeat_guard import (
    RepeatGuardConfig,
    RepeatGuardMiddleware,
    RepeatGuardNode,
    RepeatReminderNode,
    TransientRepeatGuardMiddleware,
)


class BrokenOffError(Exception):
    """Breaks a run off: a fault of a tool or of a model that nobody handles."""


class ShakyError(Exception):
    """A fault of a tool that goes away when the tool is tried again."""


@dataclass
class Desk:
    """The world outside all processes: what models say, what they were sent, which tools failed."""

    turns: dict[str, deque[AIMessage | Exception]] = field(
        default_factory=lambda: defaultdict(deque)
    )
    requests: dict[str, list[list[BaseMessage]]] = field(default_factory=lambda: defaultdict(list))
    tried: set[Any] = field(default_factory=set)

    def answer(self, messages: list[BaseMessage]) -> AIMessage:
        """Say the next turn of the thread that asks."""
        thread = get_config()["configurable"]["thread_id"]
        self.requests[thread].append(messages)
        turn = self.turns[thread].popleft()
        if isinstance(turn, Exception):
            raise turn
        return turn

    def fails_once(self, call_id: str) -> bool:
        """Tell whether this is the first try of a call."""
        if call_id in self.tried:
            return False
        self.tried.add(call_id)
        return True


@tool
def denied(n: int) -> str:
    """Never run: calls are denied."""
    return "never"


def tools_of(desk: Desk) -> list[BaseTool]:
    """Return the tools of all agents; the first try of a call of some of them fails."""

    @tool
    def shaky(tool_call_id: Annotated[str, InjectedToolCallId]) -> str:
        """Fail at first; the host tries again at once."""
        if desk.fails_once(tool_call_id):
            raise ShakyError
        return "steady"

    @tool
    def flaky(tool_call_id: Annotated[str, InjectedToolCallId]) -> str:
        """Fail at first, and break the run off."""
        if desk.fails_once(tool_call_id):
            raise BrokenOffError
        return "whole"

    return [grep, ping, refusing, ask_human, shaky, flaky, denied]


def gate(request: Any, handler: Callable[[Any], Any]) -> Any:
    """Stand around a call of a tool as the host's code does: deny it, or try it again."""
    if denial := _denial(request):
        return denial
    try:
        return handler(request)
    except ShakyError:
        return handler(request)


async def agate(request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
    """Do as `gate` does, asynchronously."""
    if denial := _denial(request):
        return denial
    try:
        return await handler(request)
    except ShakyError:
        return await handler(request)


def _denial(request: Any) -> ToolMessage | None:
    call = request.tool_call
    if call["name"] != "denied":
        return None
    return ToolMessage("no", tool_call_id=call["id"], name="denied", status="error")


class GateMiddleware(AgentMiddleware[Any, Any, Any]):
    """The gate for `create_agent`."""

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Handle one call."""
        return gate(request, handler)

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Handle one call, asynchronously."""
        return await agate(request, handler)


@dataclass(frozen=True)
class Parts:
    """What an agent is built from."""

    desk: Desk
    saver: Any
    config: RepeatGuardConfig | None
    """Settings of the guard; None for an agent without one."""

    @property
    def model(self) -> ScriptedModel:
        """The model, which says what is on the desk."""
        return ScriptedModel(script=self.desk.answer)

    @property
    def tools_node(self) -> ToolNode:
        """The tools behind the gate."""
        return ToolNode(tools_of(self.desk), wrap_tool_call=gate, awrap_tool_call=agate)


Build = Callable[[Parts], Any]


def _around_tools(state: type[Any]) -> Build:
    def build(parts: Parts) -> Any:
        tools = parts.tools_node
        node = RepeatGuardNode(tools, config=parts.config) if parts.config else tools
        return _graph(parts, state, node, None)

    return build


def _stand_alone(parts: Parts) -> Any:
    remind = RepeatReminderNode(config=parts.config) if parts.config else None
    return _graph(parts, MessagesState, parts.tools_node, remind)


def _graph(parts: Parts, state: type[Any], tools: Any, remind: Any) -> Any:
    model = parts.model
    graph = StateGraph(state)

    def think(state: Any) -> Any:
        return {"messages": [model.invoke(state["messages"])]}

    graph.add_node("model", think)
    graph.add_node("tools", tools)
    graph.add_conditional_edges("model", tools_condition)
    if remind is None:
        graph.add_edge(START, "model")
        graph.add_edge("tools", "model")
    else:
        graph.add_node("remind", remind)
        graph.add_edge(START, "remind")
        graph.add_edge("tools", "remind")
        graph.add_edge("remind", "model")
    return graph.compile(checkpointer=parts.saver)


def _hook(version: str) -> Build:
    def build(parts: Parts) -> Any:
        hook = RepeatReminderNode(config=parts.config) if parts.config else None
        return react_agent(
            parts.model,
            parts.tools_node,
            version=version,
            pre_model_hook=hook,
            checkpointer=parts.saver,
        )

    return build


def _middleware(guard: Any) -> Build:
    def build(parts: Parts) -> Any:
        middleware: list[Any] = [GateMiddleware()]
        if parts.config:
            middleware.append(guard(config=parts.config))
        return create_agent(
            parts.model, tools_of(parts.desk), middleware=middleware, checkpointer=parts.saver
        )

    return build


@dataclass(frozen=True)
class Kind:
    """One way to attach the guard."""

    name: str
    build: Build = field(repr=False)
    runs: Literal["with-tools", "before-model", "with-model"]
    """When the guard sees a step."""

    model_node: str = "model"
    has_channel: bool = True

    @property
    def stores(self) -> bool:
        """Whether reminders are part of the state."""
        return self.runs != "with-model"

    def has_seen_newest(self, following: Sequence[str]) -> bool:
        """Tell whether the guard has seen the newest step of a run that goes on with these nodes.

        The step is complete if the tools node is not among them.
        """
        if "tools" in following or self.runs == "with-model":
            return False
        return self.runs == "with-tools" or self.model_node in following or not following


KINDS = (
    Kind("around-tools", _around_tools(MessagesState), "with-tools", has_channel=False),
    Kind("around-tools-with-channel", _around_tools(ChannelState), "with-tools"),
    Kind("stand-alone", _stand_alone, "before-model"),
    Kind("hook-v1", _hook("v1"), "before-model", model_node="agent"),
    Kind("hook-v2", _hook("v2"), "before-model", model_node="agent"),
    Kind("stored", _middleware(RepeatGuardMiddleware), "before-model"),
    Kind("transient", _middleware(TransientRepeatGuardMiddleware), "with-model"),
)


def invoke(agent: Any, value: Any, config: Any, *, is_async: bool, **options: Any) -> None:
    """Run an agent until it ends, pauses, or breaks off."""
    try:
        if is_async:
            asyncio.run(agent.ainvoke(value, config, **options))
        else:
            agent.invoke(value, config, **options)
    except BrokenOffError:
        pass
