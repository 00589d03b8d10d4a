"""The state of a graph as the nodes read it."""

from typing import Annotated, Any

from langchain_core.messages import BaseMessage
from typing_extensions import TypedDict

from langchain_repeat_guard.history.carried import CHANNEL
from langchain_repeat_guard.history.outputs import get_key

NO_CHANNEL = object()


def _newest(_: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    return new


class RepeatGuardState(TypedDict):
    """Mix-in for a graph's state, so that `RepeatGuardNode` keeps its chain in the checkpoint.

    The chain then survives that messages are summarised or deleted. In a pydantic or dataclass
    state, declare a field `repeat_guard` of type `dict` with an empty dict as its default. Like
    LangGraph's `MessagesState` this is a `typing_extensions.TypedDict`; Python before 3.13 does
    not let it be mixed with a `typing.TypedDict`.

    Example:
        >>> from langgraph.graph import MessagesState
        >>> class State(MessagesState, RepeatGuardState):
        ...     pass
    """

    # The reducer gives the channel a value from the start, so that the node sees that it exists.
    repeat_guard: Annotated[dict[str, Any], _newest]


def get_messages(state: object, key: str) -> list[Any] | None:
    """Return the messages of a state, or None where it holds none."""
    messages = state if isinstance(state, list) else get_key(state, key)
    if isinstance(messages, list):
        return messages
    if isinstance(messages, BaseMessage):
        return [messages]
    return list(messages) if isinstance(messages, tuple) else None


def read_channel(state: object) -> Any:
    """Return the chain in the graph's state, `NO_CHANNEL` where that has no place for one."""
    return get_key(state, CHANNEL, NO_CHANNEL)


def is_single_call(state: object) -> bool:
    """Tell whether this is no state but one tool call of a Send fan-out."""
    if isinstance(state, list):
        return bool(state) and isinstance(state[-1], dict) and state[-1].get("type") == "tool_call"
    return isinstance(state, dict) and state.get("__type") == "tool_call_with_context"
