"""Small agent graphs whose model plays messages that a test hands over, run by run."""

import pickle
import warnings
from collections import deque
from collections.abc import Sequence
from typing import Any, Literal

from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    ToolMessage,
)
from langchain_core.runnables import RunnableConfig
from langgraph import prebuilt
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph

from langchain_repeat_guard import (
    RepeatGuardNode,
    RepeatGuardState,
    RepeatReminderNode,
    is_reminder,
)

Place = Literal["around-tools", "around-tools-with-channel", "before-model", "nowhere"]

GUARDED: tuple[Place, ...] = ("around-tools", "around-tools-with-channel", "before-model")
"""The places where a node can guard an agent."""


class ChannelState(MessagesState, RepeatGuardState):
    """Messages and the chain."""


class PickleSerializer:
    """Keeps integers of any size and lone surrogates, which LangGraph's own serializer does not."""

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """Return `obj` as bytes."""
        return "pickle", pickle.dumps(obj)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """Return what `dumps_typed` has written."""
        return pickle.loads(data[1])


def answer(state: MessagesState) -> dict[str, list[ToolMessage]]:
    """Answer each call of the last message; one whose tool is named `denied...` by an error."""
    return _answers(state, "denied")


def refuse(state: MessagesState) -> dict[str, list[ToolMessage]]:
    """Answer each call of the last message by an error, as something that blocks it does."""
    return _answers(state, "")


def _answers(state: MessagesState, refused: str) -> dict[str, list[ToolMessage]]:
    asked = state["messages"][-1]
    assert isinstance(asked, AIMessage)
    answers = []
    for call in [*asked.tool_calls, *asked.invalid_tool_calls]:
        name = call["name"] or ""
        status = "error" if name.startswith(refused) else "success"
        # Set behind the constructor's back: it refuses lone surrogates.
        message = ToolMessage("result", tool_call_id=call["id"] or "", status=status)
        message.name = name
        answers.append(message)
    return {"messages": answers}


def react_agent(*args: Any, **options: Any) -> Any:
    """Return `create_react_agent`'s graph, without its word that it has moved."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return prebuilt.create_react_agent(*args, **options)


class Playback:
    """An agent, one thread per conversation, whose model says what `run` is given."""

    def __init__(
        self,
        place: Place,
        tools: Any = answer,
        *,
        checkpointer: Any = None,
        state: type[Any] | None = None,
        **options: Any,
    ) -> None:
        """Build the graph with a guard at `place`, which has these `options`."""
        self._turns: deque[AIMessage] = deque()
        if place.startswith("around"):
            tools = RepeatGuardNode(tools, **options)
        default = ChannelState if place == "around-tools-with-channel" else MessagesState
        builder = StateGraph(state or default)
        builder.add_node("model", lambda _: {"messages": [self._turns.popleft()]})
        builder.add_node("tools", tools)
        builder.add_edge(START, "model")
        builder.add_conditional_edges("model", self._after_model)
        last = "tools"
        if place == "before-model":
            builder.add_node("remind", RepeatReminderNode(**options))
            builder.add_edge("tools", "remind")
            last = "remind"
        builder.add_conditional_edges(last, self._next)
        if checkpointer is None:
            checkpointer = InMemorySaver()
        self.app = builder.compile(checkpointer=checkpointer)

    def queue(self, turns: Sequence[AIMessage]) -> None:
        """Let the model say this next, in a run that the test starts."""
        self._turns.extend(turns)

    def run(
        self, turns: Sequence[AIMessage], *said: AnyMessage | str, thread: str = "thread"
    ) -> list[AnyMessage]:
        """Let the model answer `said` by `turns`; return the thread's messages."""
        self.queue(turns)
        update = {"messages": [HumanMessage(m) if isinstance(m, str) else m for m in said]}
        result = self.app.invoke(update, _config(thread), durability="exit")
        messages: list[AnyMessage] = result["messages"]
        return messages

    def messages(self, thread: str = "thread") -> list[AnyMessage]:
        """Return the thread's messages."""
        messages: list[AnyMessage] = self.app.get_state(_config(thread)).values.get("messages", [])
        return messages

    def _after_model(self, state: Any) -> str:
        last = state["messages"][-1]
        return "tools" if last.tool_calls or last.invalid_tool_calls else self._next(state)

    def _next(self, _: Any) -> str:
        return "model" if self._turns else END


def _config(thread: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread}, "recursion_limit": 1000}


def reminders(messages: Sequence[BaseMessage]) -> list[HumanMessage]:
    """Return the reminders among `messages`."""
    return [m for m in messages if isinstance(m, HumanMessage) and is_reminder(m)]


def summaries(messages: Sequence[BaseMessage]) -> list[str]:
    """Return what the reminders among `messages` are about, tool and length."""
    return [
        one["summary"]
        for message in reminders(messages)
        for one in message.additional_kwargs["lc_data"]["reminders"]
    ]


def misplaced(messages: Sequence[BaseMessage]) -> list[str]:
    """Return how `messages` break the rule of order: calls, their answers, at most one reminder."""
    faults = []
    for place, message in enumerate(messages):
        if not isinstance(message, AIMessage):
            continue
        wanted = len(message.tool_calls) + len(message.invalid_tool_calls)
        answers = messages[place + 1 : place + 1 + wanted]
        if len(answers) < wanted or not all(isinstance(one, ToolMessage) for one in answers):
            faults.append(f"calls at {place} are not followed by their answers")
    for place, message in enumerate(messages):
        if is_reminder(message) and not isinstance(messages[place - 1], ToolMessage):
            faults.append(f"the reminder at {place} stands behind no answer")
    return faults
