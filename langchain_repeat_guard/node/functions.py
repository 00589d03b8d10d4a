"""Functions of the user that run inside a node of ours."""

import inspect
from collections.abc import Callable
from typing import Any

from langchain_core.runnables import Runnable, RunnableLambda

from langchain_repeat_guard.errors import RepeatGuardSetupError

_INJECTED = ("runtime", "store", "writer", "previous")


def as_runnable(function: object, rule: str) -> Runnable[Any, Any]:
    """Return a runnable as it is, and a function of the state as a runnable.

    Args:
        function: What the user has given.
        rule: Begin of the rule to quote where it is neither.

    Raises:
        RepeatGuardSetupError: It is neither, or it wants what LangGraph gives to nodes only.
    """
    if isinstance(function, Runnable):
        return function
    if not callable(function):
        msg = f"Cannot wrap a {type(function).__name__}: {rule} or a function that takes the state."
        raise RepeatGuardSetupError(msg)
    _check_signature(function)
    return RunnableLambda(function)


def _check_signature(function: Callable[..., Any]) -> None:
    _, *others = inspect.signature(function).parameters.values() or (None,)
    for parameter in others:
        if parameter.name in _INJECTED:
            msg = (
                f"Cannot wrap a function that wants {parameter.name!r}: LangGraph fills that only "
                "for the node itself. Take the state (and config) alone, and call "
                "langgraph.runtime.get_runtime() inside."
            )
            raise RepeatGuardSetupError(msg)
