"""A hook of the user's that runs in the same node, right behind the guard."""

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any, get_type_hints

from langgraph.types import Command
from pydantic import BaseModel

from langchain_repeat_guard.history.message_lists import as_list
from langchain_repeat_guard.history.outputs import parts_of

Hook = Callable[..., Any]


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
    return schema if isinstance(schema, type) and get_type_hints(schema) else None


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
            joined[key] = [*update[key], *as_list(output[key])]
        return joined
    return [Command(update=update), *parts_of(output)]
