"""What a graph's node may return, read as LangGraph reads it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, TypeGuard

from langchain_core.messages import BaseMessage
from langgraph.types import Command


def get_key(state: object, key: str, default: object = None) -> Any:
    """Return what a dict, dataclass or pydantic state holds under `key`."""
    if isinstance(state, dict):
        return state.get(key, default)
    return getattr(state, key, default)


def parts_of(output: Any) -> list[Any]:
    """Return the single updates of a node's output."""
    return list(output) if isinstance(output, list | tuple) else [output]


def is_for_parent(part: object) -> bool:
    """Tell whether a part hands the run to the parent graph, which then gets the update.

    A node that returns a `Command` with a graph's name updates its own graph all the same.
    """
    return isinstance(part, Command) and part.graph == Command.PARENT


def values_in(part: object, key: str | None) -> Iterator[Any]:
    """Yield what a part writes to this graph's messages: as it stands, an `Overwrite` included.

    Args:
        part: A state, a `Command`, or a list state's messages.
        key: The state's key for the messages. None if it is not known: whatever any key is given.
    """
    if is_for_parent(part):
        return
    if isinstance(part, Command):
        if is_pairs(part.update):
            yield from (value for name, value in part.update if key in (None, name))
        else:
            yield from values_in(part.update, key)
    elif isinstance(part, BaseMessage | list | tuple):
        yield part
    else:
        yield from _values_of(part, key)


def is_pairs(update: object) -> TypeGuard[Sequence[tuple[str, Any]]]:
    """Tell, by LangGraph's own rule, a list of state keys with values from a list of messages."""
    return isinstance(update, list | tuple) and all(
        isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[0], str)  # noqa: PLR2004
        for entry in update
    )


def as_list(messages: Any) -> list[Any]:
    """Return a list of messages, whichever of the forms a node may return them in."""
    if messages is None:
        return []
    if isinstance(messages, list):
        return messages
    if isinstance(messages, tuple):
        is_role_and_text = len(messages) == 2 and isinstance(messages[0], str)  # noqa: PLR2004
        return [messages] if is_role_and_text else list(messages)
    return [messages]


def _values_of(state: object, key: str | None) -> Iterable[Any]:
    if key is not None:
        return [get_key(state, key)]
    if is_dataclass(state):
        return [getattr(state, field.name) for field in fields(state)]
    return (state if isinstance(state, dict) else getattr(state, "__dict__", {})).values()
