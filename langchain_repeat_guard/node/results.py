"""The shapes of what a tools node may return, read and extended without touching the parts."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from langchain_core.messages import BaseMessage, RemoveMessage, ToolMessage
from langgraph.graph.message import add_messages
from langgraph.types import Command

from langchain_repeat_guard.node.state import get_key


def parts_of(output: Any) -> list[Any]:
    """Return the single updates of a node's output."""
    return list(output) if isinstance(output, list | tuple) else [output]


def leaves_graph(output: Any) -> bool:
    """Tell whether a part of `output` hands the run to a parent graph."""
    return any(
        isinstance(part, Command) and part.graph == Command.PARENT for part in parts_of(output)
    )


def messages_after(before: list[Any], output: Any, key: str) -> list[Any]:
    """Return the messages of the state as they will be once `output` is applied."""
    added = [message for part in parts_of(output) for message in _messages_in(part, key)]
    if all(isinstance(message, ToolMessage) for message in added):
        return [*before, *added]
    if any(isinstance(message, RemoveMessage) for message in added):
        return list(add_messages(before, added))
    # A node may return the state's own list again.
    again = {id(message) for message in added}
    return [message for message in before if id(message) not in again] + added


def extend(output: Any, update: dict[str, Any], key: str, *, is_list_state: bool) -> Any:
    """Return `output` with `update` behind it."""
    if not update:
        return output
    if is_list_state:
        return _extend_list(output, update.get(key, []))
    if output is None or isinstance(output, dict):
        return _extend_dict(output or {}, update, key)
    if isinstance(output, Command | list | tuple):
        return [*parts_of(output), update]
    # A state object: LangGraph takes it beside other updates only where one of them is a Command.
    return [output, Command(update=update)]


def _extend_dict(output: dict[str, Any], update: dict[str, Any], key: str) -> dict[str, Any]:
    if key not in update:
        return {**output, **update}
    return {**output, **update, key: [*_as_list(output.get(key)), *update[key]]}


def replace_message(output: Any, old: BaseMessage, new: BaseMessage, key: str) -> Any:
    """Return `output` with `new` in the place of the one object `old`."""

    def swap(messages: Any) -> Any:
        if isinstance(messages, list | tuple):
            return [new if message is old else message for message in messages]
        return new if messages is old else messages

    def rebuild(part: Any) -> Any:
        if isinstance(part, dict):
            return {**part, key: swap(part[key])} if key in part else part
        if isinstance(part, Command):
            return replace(part, update=_rebuild_update(part.update, key, swap))
        return swap(part)

    if isinstance(output, list | tuple):
        return [rebuild(part) for part in output]
    return rebuild(output)


def _rebuild_update(update: Any, key: str, swap: Callable[[Any], Any]) -> Any:
    if isinstance(update, dict):
        return {**update, key: swap(update[key])} if key in update else update
    if isinstance(update, list | tuple):
        return [(name, swap(value)) if name == key else (name, value) for name, value in update]
    return update


def _extend_list(output: Any, messages: list[Any]) -> Any:
    if not messages:
        return output
    parts = parts_of(output)
    if any(isinstance(part, Command) for part in parts):
        return [*parts, messages]
    return [*parts, *messages]


def _messages_in(part: Any, key: str) -> Iterator[Any]:
    if isinstance(part, dict):
        yield from _as_list(part.get(key))
    elif isinstance(part, BaseMessage):
        yield part
    elif isinstance(part, list | tuple):
        yield from part
    elif isinstance(part, Command):
        yield from _messages_in_update(part, key)
    elif part is not None:
        yield from _as_list(get_key(part, key))


def _messages_in_update(command: Command[Any], key: str) -> Iterator[Any]:
    if command.graph == Command.PARENT:
        return
    update = command.update
    if isinstance(update, list | tuple):
        for name, value in update:
            if name == key:
                yield from _as_list(value)
    elif update is not None:
        yield from _as_list(get_key(update, key))


def _as_list(messages: Any) -> list[Any]:
    if messages is None:
        return []
    return list(messages) if isinstance(messages, list | tuple) else [messages]
