"""The guard as a node of its own, between tools and model."""

from collections.abc import Callable
from functools import cache
from typing import Any, Self, cast

from langchain_core.messages import HumanMessage
from langchain_core.runnables import Runnable, RunnableConfig
from typing_extensions import TypedDict

from langchain_repeat_guard.core.config import RepeatGuardConfig
from langchain_repeat_guard.history.carried import CHANNEL
from langchain_repeat_guard.history.delivery import (
    Delivery,
    remind_in_tool_message,
    reminder_message,
)
from langchain_repeat_guard.history.guard import HistoryGuard
from langchain_repeat_guard.history.judge import Verdict
from langchain_repeat_guard.node.state import get_key, get_messages


class ReminderNodeState(TypedDict):
    """What the node reads and writes. LangGraph adds the channel to the graph that it joins."""

    # A plain list fits whatever reducer the graph's own state gives its messages.
    messages: list[Any]
    repeat_guard: dict[str, Any]


class RepeatReminderNode(Runnable[Any, Any]):
    """Puts a reminder behind the newest tool results when the model repeats itself.

    Stands between tools and model, or is the `pre_model_hook` of `create_react_agent`. It brings
    its own state channel, so that the chain survives resume, replay, and deleted messages; nothing
    has to be added to the graph's state. Adds one superstep per model call.

    The graph's messages need a reducer that appends, such as `add_messages` or `operator.add`: in
    a state without one, any node's update replaces the whole list.

    Args:
        config: Settings, or single settings by name as `options`.
        messages_key: The state's key for the messages. A state without it is left alone.
        is_user_prompt: Tells a user's prompt from other human messages. By default, a message
            without notification metadata (`additional_kwargs["lc_source"]`) is one.
        delivery: `"human_message"` adds a message of its own behind the tool messages.
            `"tool_message"` appends to the last of them, for models that refuse the former; the
            graph's messages need the reducer `add_messages` for it.
        options: Fields of `RepeatGuardConfig`.

    Raises:
        TypeError: `config` comes together with options, or has a wrong type.
        ValueError: An option breaks its rule.

    Example:
        >>> from langgraph.graph import MessagesState, StateGraph
        >>> graph = StateGraph(MessagesState)
        >>> node = RepeatReminderNode(thresholds=(3, 6))
        >>> _ = graph.add_node("remind", node)
    """

    def __new__(cls, *, messages_key: object = "messages", **_: Any) -> Self:
        """Choose the class whose `__call__` names the key: LangGraph reads the schema there."""
        is_other_key = isinstance(messages_key, str) and messages_key not in ("messages", CHANNEL)
        if cls is RepeatReminderNode and is_other_key:
            cls = cast("type[Self]", _class_for(messages_key))  # noqa: PLW0642
        return super().__new__(cls)

    def __init__(
        self,
        *,
        config: RepeatGuardConfig | None = None,
        messages_key: str = "messages",
        is_user_prompt: Callable[[HumanMessage], bool] | None = None,
        delivery: Delivery = "human_message",
        **options: Any,
    ) -> None:
        """Check the settings."""
        self._guard = HistoryGuard(
            "RepeatReminderNode",
            config=config,
            options=options,
            messages_key=messages_key,
            is_user_prompt=is_user_prompt,
            delivery=delivery,
        )

    @property
    def config(self) -> RepeatGuardConfig:
        """The settings in force."""
        return self._guard.config

    @property
    def input_schema(self) -> type[Any]:
        """The state that the node reads, for `add_node(..., input_schema=node.input_schema)`."""
        schema: type[Any] = type(self).__call__.__annotations__["state"]
        return schema

    def __call__(self, state: ReminderNodeState) -> dict[str, Any]:
        """Return the update of `state`: the reminder that is due, and the chain."""
        update = self._guard.failsafe.run(self._update, state)
        return update or {}

    def invoke(
        self,
        input: Any,  # noqa: A002  the name is Runnable's
        config: RunnableConfig | None = None,  # noqa: ARG002
        **_: Any,
    ) -> dict[str, Any]:
        """Return the update of a state: the reminder that is due, and the chain."""
        return self(input)

    async def ainvoke(
        self,
        input: Any,  # noqa: A002  the name is Runnable's
        config: RunnableConfig | None = None,  # noqa: ARG002
        **_: Any,
    ) -> dict[str, Any]:
        """Do as `invoke` does, on the event loop: it never waits."""
        return self(input)

    def _update(self, state: object) -> dict[str, Any]:
        key = self._guard.messages_key
        messages = get_messages(state, key)
        if messages is None:
            return {}
        carried = self._guard.read_channel(get_key(state, CHANNEL))
        verdict = self._guard.judge(messages, carried)
        update: dict[str, Any] = {}
        if verdict.due:
            update[key] = self._delivered(verdict)
        if verdict.carried != carried:
            update[CHANNEL] = verdict.carried.to_dict()
        return update

    def _delivered(self, verdict: Verdict) -> list[Any]:
        if self._guard.delivery == "human_message":
            return [reminder_message(verdict.due, verdict.message_id)]
        answer = verdict.step.answers[0] if verdict.step else None
        if answer is None or not answer.id:
            self._guard.failsafe.warn_once(
                "delivery",
                "cannot append to a tool message without id. delivery='tool_message' needs the "
                "reducer add_messages on the state's messages.",
            )
            return []
        return [remind_in_tool_message(answer, verdict.due)]


@cache
def _class_for(messages_key: str) -> type[RepeatReminderNode]:
    """Return the node's class for a state whose messages have another key."""
    # Through Any: a type checker wants literal keys, and this one is known at run time only.
    make_schema: Any = TypedDict
    schema = make_schema("ReminderNodeState", {messages_key: list[Any], CHANNEL: dict[str, Any]})

    def __call__(self: RepeatReminderNode, state: Any) -> dict[str, Any]:  # noqa: N807
        return RepeatReminderNode.__call__(self, state)

    __call__.__annotations__["state"] = schema
    return type("RepeatReminderNode", (RepeatReminderNode,), {"__call__": __call__})
