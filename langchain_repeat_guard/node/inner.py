"""What can be wrapped as a tools node, and what can be known about it beforehand."""

import inspect
from collections.abc import Callable, Iterator
from typing import Any

from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.tools import BaseTool

from langchain_repeat_guard.errors import RepeatGuardSetupError
from langchain_repeat_guard.history.guard import HistoryGuard

_INJECTED = ("runtime", "store", "writer", "previous")
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def as_tools_node(tools_node: object) -> Runnable[Any, Any]:
    """Return `tools_node` as a runnable.

    Raises:
        RepeatGuardSetupError: It cannot work as a wrapped node.
    """
    if isinstance(tools_node, Runnable) and not isinstance(tools_node, BaseTool):
        _refuse_second_guard(tools_node)
        return tools_node
    name = getattr(tools_node, "__name__", type(tools_node).__name__)
    if isinstance(tools_node, BaseTool | list | tuple | type):
        msg = (
            f"Cannot wrap {name!r}: it is no node. "
            "Wrap the node that runs the tools: RepeatGuardNode(ToolNode([...]))."
        )
        raise RepeatGuardSetupError(msg)
    if not callable(tools_node):
        msg = (
            f"Cannot wrap {name!r}: tools_node must be a ToolNode, a runnable, or a function that "
            "takes the state."
        )
        raise RepeatGuardSetupError(msg)
    _check_signature(tools_node, name)
    return RunnableLambda(tools_node)


def as_hook(hook: object) -> Runnable[Any, Any]:
    """Return a `pre_model_hook` as a runnable.

    Raises:
        RepeatGuardSetupError: It cannot run inside another node.
    """
    if isinstance(hook, Runnable):
        _refuse_second_guard(hook)
        return hook
    name = getattr(hook, "__name__", type(hook).__name__)
    if not callable(hook):
        msg = f"Cannot wrap {name!r}: hook must be a runnable or a function that takes the state."
        raise RepeatGuardSetupError(msg)
    _check_signature(hook, name)
    return RunnableLambda(hook)


def return_direct_tools(tools_node: Runnable[Any, Any]) -> frozenset[str]:
    """Return the names of the tools whose results end the run."""
    return frozenset(
        name
        for part in _parts(tools_node)
        for name, tool in getattr(part, "tools_by_name", {}).items()
        if tool.return_direct
    )


def _refuse_second_guard(node: Runnable[Any, Any]) -> None:
    for part in _parts(node):
        if isinstance(getattr(part, "__dict__", {}).get("_guard"), HistoryGuard):
            msg = f"One guard per agent: this {type(part).__name__} guards already."
            raise RepeatGuardSetupError(msg)


def _parts(runnable: object) -> Iterator[object]:
    """Yield a runnable and what is inside of it: what it binds, chains, retries, falls back on."""
    yield runnable
    inside = [getattr(runnable, name, None) for name in ("bound", "runnable")]
    for part in (*inside, *getattr(runnable, "steps", ()), *getattr(runnable, "fallbacks", ())):
        if isinstance(part, Runnable):
            yield from _parts(part)


def _check_signature(function: Callable[..., Any], name: str) -> None:
    try:
        parameters = [*inspect.signature(function).parameters.values()]
    except (TypeError, ValueError):  # a builtin: it has none to look at
        return
    if not parameters:
        msg = f"Cannot wrap {name!r}: a node takes the state, and this takes nothing."
        raise RepeatGuardSetupError(msg)
    bound_already = getattr(function, "keywords", {})
    for parameter in parameters[1:]:
        if parameter.kind not in _NAMED or parameter.name in bound_already:
            continue
        if parameter.name in _INJECTED:
            msg = (
                f"Cannot wrap a function that wants {parameter.name!r}: LangGraph fills that only "
                "for the node itself. Take the state (and config) alone, and call "
                "langgraph.runtime.get_runtime() inside."
            )
            raise RepeatGuardSetupError(msg)
        if parameter.default is parameter.empty and parameter.name != "config":
            msg = (
                f"Cannot wrap {name!r}: it wants {parameter.name!r}, but a wrapped function gets "
                "the state, and config if it has a parameter of that name."
            )
            raise RepeatGuardSetupError(msg)
