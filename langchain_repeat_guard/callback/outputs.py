"""The messages that a graph's node has written."""

from collections.abc import Iterator, Mapping
from typing import Any

from langchain_core.messages import BaseMessage, convert_to_messages
from langgraph.types import Command

_ROLES = frozenset({"user", "human"})


def messages_in(written: object) -> list[BaseMessage]:
    """Return the messages in what a node returns: a dict, a Command, messages, or lists of them."""
    found: list[BaseMessage] = []
    _collect(written, found)
    return found


def _collect(written: Any, found: list[BaseMessage]) -> None:
    kind = type(written)
    if kind is dict:
        for value in written.values():
            if type(value) is list or isinstance(value, BaseMessage):
                _collect(value, found)
    elif kind is list or kind is tuple:
        for value in written:
            if isinstance(value, BaseMessage):
                found.append(value)
            elif (prompt := _prompt(value)) is not None:
                found.append(prompt)
            elif isinstance(value, Command | dict):
                _collect(value, found)
    elif isinstance(written, BaseMessage):
        found.append(written)
    elif isinstance(written, Command):
        if not written.graph:
            _collect(written.update, found)
    else:
        for value in _fields(written):
            if type(value) is list:
                _collect(value, found)


def _fields(written: object) -> Iterator[Any]:
    """Yield the values of a state that is an object."""
    values = getattr(written, "__dict__", None)
    if isinstance(values, Mapping):
        yield from values.values()


def _prompt(value: object) -> BaseMessage | None:
    """Return a user's message that is spelt as a dict or a pair, as LangGraph's reducer takes it."""
    match value:
        case {"role": str(role), "content": _} | (str(role), _) if role in _ROLES:
            return convert_to_messages([value])[0]
    return None
