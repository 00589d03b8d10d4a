"""What a graph's node may return, read as LangGraph reads it."""

from collections.abc import Iterable, Sequence
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


def values_in(part: object, key: str | None) -> Iterable[Any]:
    """Return what a part writes to this graph's messages: as it stands, an `Overwrite` included.

    Args:
        part: A state, a `Command`, or a list state's messages.
        key: The state's key for the messages. None if it is not known: whatever any key is given.
    """
    if isinstance(part, dict):
        return part.values() if key is None else [part.get(key)]
    if isinstance(part, Command):
        return [] if is_for_parent(part) else _values_in_update(part.update, key)
    if isinstance(part, list | tuple | BaseMessage):
        return [part]
    return _all_values(part) if key is None else [get_key(part, key)]


def is_pairs(update: object) -> TypeGuard[Sequence[tuple[str, Any]]]:
    """Tell, by LangGraph's own rule, a list of state keys with values from a list of messages."""
    return isinstance(update, list | tuple) and all(
        isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[0], str)  # noqa: PLR2004
        for entry in update
    )


def _values_in_update(update: object, key: str | None) -> Iterable[Any]:
    if is_pairs(update):
        return [value for name, value in update if key in (None, name)]
    return values_in(update, key)


def _all_values(state: object) -> Iterable[Any]:
    if is_dataclass(state):
        return [getattr(state, field.name) for field in fields(state)]
    return list(getattr(state, "__dict__", {}).values())
