"""The messages that a graph's node has written."""

from collections.abc import Iterable
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage, convert_to_messages
from langgraph.types import Command

_USER = frozenset({"user", "human"})


def messages_in(written: object) -> list[BaseMessage]:
    """Return the messages in what a node returns: a state, a Command, messages, lists of them.

    A user's message may be spelt as a dict or a pair, as LangGraph's reducer takes it.
    """
    found: list[BaseMessage] = []
    _collect(written, found)
    return found


def _collect(written: Any, found: list[BaseMessage]) -> None:
    if isinstance(written, BaseMessage):
        found.append(written)
    elif type(written) is list or type(written) is tuple:
        for item in written:
            _collect_item(item, found)
    elif isinstance(written, Command):
        if not written.graph:  # else it is another agent that gets the update
            _collect(written.update, found)
    else:
        for value in _values(written):
            if type(value) is list or isinstance(value, BaseMessage):
                _collect(value, found)


def _collect_item(item: Any, found: list[BaseMessage]) -> None:
    match item:
        case BaseMessage():
            found.append(item)
        case {"role": str(role), "content": _} if role in _USER:
            found.append(convert_to_messages([item])[0])
        case (str(role), str(text)) if role in _USER:
            found.append(HumanMessage(text))
        case (str(), list(values)):  # a Command's update, as pairs of a key and a value
            _collect(values, found)
        case Command() | dict():
            _collect(item, found)


def _values(state: object) -> Iterable[Any]:
    """Return the values of a state, which may be a dict or an object."""
    if type(state) is dict:
        return state.values()
    return getattr(state, "__dict__", {}).values()
