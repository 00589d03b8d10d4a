"""Rules that single settings keep. Each raises an error that states the value and the rule.

Checks of a field raise a ValueError, to which pydantic adds the field's name. Those of an adapter's
own options, which no model holds, name the option themselves.
"""

from langchain_repeat_guard.core.reminder import printable

_SMALLEST_THRESHOLD = 2
_SHOWN_CHARS = 100


def threshold_list(value: object) -> tuple[int, ...]:
    """Return thresholds in ascending order."""
    items = list_of(value, "whole numbers")
    if not items:
        msg = f"needs at least one number, got {_shown(value)}"
        raise ValueError(msg)
    numbers = tuple(whole_number(item, _SMALLEST_THRESHOLD) for item in items)
    if len(set(numbers)) < len(numbers):
        msg = f"numbers must differ from each other, got {_shown(value)}"
        raise ValueError(msg)
    return tuple(sorted(numbers))


def string_list(value: object, what: str) -> tuple[str, ...]:
    """Return a list of strings, which are `what`, as a tuple."""
    return tuple(one_string(item, what) for item in list_of(value, what))


def one_string(value: object, what: str) -> str:
    """Return a string, one of `what`, as a plain one."""
    if not isinstance(value, str):
        msg = f"{what} must be strings, got {_shown(value)}"
        raise ValueError(msg)  # noqa: TRY004  pydantic turns ValueError into its report
    return str.__str__(value)


def patterns_in(value: object) -> dict[str, object]:
    """Return a mapping whose keys are tool-name patterns."""
    if not isinstance(value, dict):
        msg = f"must be a dict by tool name or pattern, got {_shown(value)}"
        raise ValueError(msg)  # noqa: TRY004  pydantic turns ValueError into its report
    return {one_string(pattern, "tool names"): entry for pattern, entry in value.items()}


def whole_number(value: object, smallest: int) -> int:
    """Return a whole number that is no bool and not below `smallest`."""
    if not isinstance(value, int) or isinstance(value, bool) or value < smallest:
        msg = f"must be a whole number of at least {smallest}, got {_shown(value)}"
        raise ValueError(msg)
    return int(value)


def list_of(value: object, what: str) -> list[object]:
    """Return the members of a list or tuple of `what`."""
    if not isinstance(value, list | tuple):
        msg = f"must be a list or tuple of {what}, got {_shown(value)}"
        raise ValueError(msg)  # noqa: TRY004  pydantic turns ValueError into its report
    return list(value)


def number_option(option: str, value: object, smallest: int) -> int:
    """Return the value of an `option` that is a whole number not below `smallest`."""
    try:
        return whole_number(value, smallest)
    except ValueError as error:
        msg = f"{option} {error}"
        raise ValueError(msg) from None


def function_option(option: str, value: object) -> None:
    """Refuse the value of an `option` that is neither a function nor left out."""
    if value is not None and not callable(value):
        msg = f"{option} must be a function, got {_shown(value)}"
        raise TypeError(msg)


def flag_option(option: str, value: object) -> bool:
    """Return the value of an `option` that is on or off."""
    if not isinstance(value, bool):
        msg = f"{option} must be True or False, got {_shown(value)}"
        raise TypeError(msg)
    return value


def _shown(value: object) -> str:
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001  the message has to come out whatever the value is
        return f"a value of type {type(value).__name__}"
    return printable(text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…")
