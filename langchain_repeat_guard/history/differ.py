"""A cheap look at two calls' arguments, for whoever reads many: most differ at first sight."""

from typing import Any

from langchain_repeat_guard.core.config import RepeatGuardConfig

_OF_PLAIN_COUNTING = {"thresholds", "include", "exclude", "arguments_preview_chars"}


def compares_neighbours_only(config: RepeatGuardConfig) -> bool:
    """Tell whether a call's count depends on nothing but the tracked call before it.

    True where every option that could change how calls are compared or counted has its default,
    options that this function has never heard of included.
    """
    return all(
        getattr(config, name) == field.get_default(call_default_factory=True)
        for name, field in type(config).model_fields.items()
        if name not in _OF_PLAIN_COUNTING
    )


def surely_differ(first: Any, second: Any) -> bool:
    """Tell whether two values certainly have different canonical forms. False means: look closer.

    Example:
        >>> surely_differ({"q": "a"}, {"q": "b"}), surely_differ({"n": 1}, {"n": 1.0})
        (True, False)
    """
    if type(first) is dict and type(second) is dict:
        if len(first) != len(second):
            return True
        pairs = [(value, second.get(key)) for key, value in first.items()]
    else:
        pairs = [(first, second)]
    for one, other in pairs:
        kind = type(one)
        if kind is not type(other) or one == other:
            continue
        # Surrogate pairs equal the characters that they stand for, which are not ASCII.
        if kind is int or (kind is str and one.isascii()):
            return True
    return False
