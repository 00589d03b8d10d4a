"""A hook of the user's that runs in the same node, right behind the guard."""

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any, get_type_hints

from langgraph.types import Command, Overwrite
from pydantic import BaseModel

from langchain_repeat_guard.history.message_lists import as_list
from langchain_repeat_guard.history.outputs import parts_of

Hook = Callable[..., Any]


def checked_schema(schema: object, hook: object) -> type[Any] | None:
    """Return the `state_schema` that a user names for `hook`, if there is one.

    Raises:
        TypeError: It declares no keys of a state, or there is no hook to read it.
    """
    if schema is None:
        return None
    if hook is None:
        msg = "state_schema is the state that a hook reads: pass hook= with it, or leave it out"
        raise TypeError(msg)
    if not isinstance(schema, type) or not _declares_keys(schema):
        msg = (
            "state_schema must be a TypedDict, a dataclass or a pydantic model whose annotations "
            f"can be read, got {schema!r}"
        )
        raise TypeError(msg)
    return schema


def _declares_keys(schema: type[Any]) -> bool:
    try:
        return bool(get_type_hints(schema))
    except (NameError, TypeError):  # an annotation that only its author can read
        return False


def state_schema_of(hook: Any) -> type[Any] | None:
    """Return the state that `hook` declares to read, by LangGraph's rule: its first annotation."""
    if not callable(hook):
        return None
    function = hook if inspect.isroutine(hook) else type(hook).__call__
    try:
        names = [name for name in inspect.signature(function).parameters if name != "self"]
        schema = get_type_hints(function).get(names[0]) if names else None
    except (NameError, TypeError, ValueError):  # a builtin, or a name that only its author knows
        return None
    return schema if isinstance(schema, type) and _declares_keys(schema) else None


def state_for_hook(state: Any, update: dict[str, Any], key: str, schema: type[Any] | None) -> Any:
    """Return what `hook` reads: the state as it will be once `update` is applied.

    Args:
        state: The node's input.
        update: The guard's update of it.
        key: The state's key for the messages.
        schema: What the hook declares to read.
    """
    if key in update:
        messages = _updated(as_list(state[key]), update[key])
        state = {**state, key: messages}
    if schema is None or not (issubclass(schema, BaseModel) or dataclasses.is_dataclass(schema)):
        return state
    return schema(**{name: state[name] for name in get_type_hints(schema) if name in state})


def _updated(messages: list[Any], update: list[Any]) -> list[Any]:
    replaced = {message.id: message for message in update if message.id}
    kept = [replaced.pop(getattr(message, "id", None), message) for message in messages]
    return [*kept, *(message for message in update if message.id in (None, *replaced))]


def join_updates(update: dict[str, Any], output: Any, key: str) -> Any:
    """Return the guard's `update` and the hook's `output` as the output of one node."""
    if not update or output is None:
        return output or update
    if isinstance(output, dict):
        joined = {**update, **output}
        if key in update and key in output:
            theirs = output[key]
            # An Overwrite replaces the list that the hook has read, with the reminder in it.
            is_whole = isinstance(theirs, Overwrite)
            joined[key] = theirs if is_whole else [*update[key], *as_list(theirs)]
        return joined
    return [Command(update=update), *parts_of(output)]
