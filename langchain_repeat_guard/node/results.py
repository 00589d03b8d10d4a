"""What a tools node may return, with a reminder put in and the parts left as they are."""

from collections.abc import Callable, Iterator
from dataclasses import is_dataclass, replace
from functools import partial
from typing import Any

from langchain_core.messages import (
    BaseMessage,
    RemoveMessage,
    ToolMessage,
    convert_to_messages,
)
from langgraph.graph.message import add_messages
from langgraph.types import Command, Overwrite
from pydantic import BaseModel

from langchain_repeat_guard.history.message_lists import as_list
from langchain_repeat_guard.history.outputs import (
    get_key,
    is_for_parent,
    is_pairs,
    parts_of,
    values_in,
)

_Change = Callable[[list[Any]], list[Any]]


def leaves_graph(output: Any) -> bool:
    """Tell whether a part of `output` hands the run to a parent graph."""
    return any(map(is_for_parent, parts_of(output)))


def messages_after(before: list[Any], output: Any, key: str) -> list[Any]:
    """Return the messages of the state as they will be once `output` is applied."""
    added = [message for part in parts_of(output) for message in _messages_in(part, key)]
    if all(isinstance(message, ToolMessage) for message in added):
        return [*before, *added]
    if any(isinstance(message, Overwrite) for message in added):
        return _unwrapped(next(one for one in added if isinstance(one, Overwrite)))
    if any(isinstance(message, RemoveMessage) for message in added):
        return list(add_messages(before, added))
    return _merged(before, added)


def extend(output: Any, update: dict[str, Any], key: str, *, is_list_state: bool) -> Any:
    """Return `output` with `update` behind it."""
    if not update:
        return output
    if is_list_state:
        return _extend_list(output, update[key])
    if isinstance(output, Command | list | tuple):
        return _extend_parts(parts_of(output), update, key)
    return _extend_state({} if output is None else output, update, key)


def replace_message(output: Any, old: BaseMessage, new: BaseMessage, key: str) -> Any:
    """Return `output` with `new` in the place of `old`, one of the messages in it."""

    def swap(messages: list[Any]) -> list[Any]:
        return [new if _is_same(message, old) else message for message in messages]

    def rebuild(part: Any) -> Any:
        found = _messages_in(part, key)
        has_it = any(_is_same(message, old) for one in found for message in _unwrapped(one))
        return _changed_part(part, key, swap) if has_it else part

    if isinstance(output, list | tuple):
        return [rebuild(part) for part in output]
    return rebuild(output)


def _merged(before: list[Any], added: list[Any]) -> list[Any]:
    """Return both lists as one; a message that is there already keeps its place."""
    places = {_identity(message): place for place, message in enumerate(before)}
    merged = list(before)
    for message in added:
        place = places.get(_identity(message))
        if place is None:
            merged.append(message)
        else:
            merged[place] = message
    return merged


def _identity(message: Any) -> Any:
    return getattr(message, "id", None) or id(message)


def _is_same(message: Any, other: BaseMessage) -> bool:
    if isinstance(message, BaseMessage):
        return message is other
    return bool(convert_to_messages([message])[0] == other)


def _extend_state(output: Any, update: dict[str, Any], key: str) -> Any:
    extended = output
    for name, value in update.items():
        new = value
        if name == key:
            new = _changed(get_key(output, key), partial(_joined, value))
        extended = _with_value(extended, name, new)
    return extended


def _extend_parts(parts: list[Any], update: dict[str, Any], key: str) -> list[Any]:
    """Return `parts` and `update` behind them.

    LangGraph drops what is written beside an `Overwrite`: messages then go into that.
    """
    if key not in update or not any(_overwrites(part, key) for part in parts):
        return [*parts, update]
    join = partial(_joined, update[key])
    joined = [_changed_part(part, key, join) if _overwrites(part, key) else part for part in parts]
    rest = {name: value for name, value in update.items() if name != key}
    return [*joined, rest]


def _overwrites(part: Any, key: str) -> bool:
    return any(isinstance(value, Overwrite) for value in values_in(part, key))


def _joined(new: list[Any], old: list[Any]) -> list[Any]:
    return [*old, *new]


def _changed_part(part: Any, key: str, change: _Change) -> Any:
    if isinstance(part, BaseMessage | list | tuple):
        changed = change(as_list(part))
        return changed if isinstance(part, list) else changed[0]
    if isinstance(part, Command):
        return replace(part, update=_changed_update(part.update, key, change))
    return _with_value(part, key, _changed(get_key(part, key), change))


def _changed_update(update: Any, key: str, change: _Change) -> Any:
    if is_pairs(update):
        return [(name, _changed(value, change) if name == key else value) for name, value in update]
    return _changed_part(update, key, change)


def _changed(messages: Any, change: _Change) -> Any:
    if isinstance(messages, Overwrite):
        return Overwrite(change(as_list(messages.value)))
    return change(as_list(messages))


def _with_value(state: Any, key: str, value: Any) -> Any:
    """Return a copy of a dict, dataclass or pydantic state that holds `value` under `key`."""
    if isinstance(state, BaseModel):
        return state.model_copy(update={key: value})
    if is_dataclass(state) and not isinstance(state, type):
        return replace(state, **{key: value})
    return {**state, key: value}


def _extend_list(output: Any, messages: list[Any]) -> Any:
    parts = as_list(output)
    if any(isinstance(part, Command) for part in parts):
        return [*parts, messages]
    return [*parts, *messages]


def _messages_in(part: Any, key: str) -> Iterator[Any]:
    for value in values_in(part, key):
        yield from as_list(value)


def _unwrapped(message: Any) -> list[Any]:
    """Return the messages of an `Overwrite`, or the one message that this is."""
    return as_list(message.value) if isinstance(message, Overwrite) else [message]
