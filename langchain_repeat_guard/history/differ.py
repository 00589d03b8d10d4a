"""A cheap look at two calls' arguments, for whoever reads many: most differ at first sight."""

from typing import Any

from langchain_repeat_guard.core.config import RepeatGuardConfig

_PLAIN = frozenset({str, int, bool, type(None)})
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


def are_identical(first: Any, second: Any) -> bool | None:
    """Tell whether two values have the same canonical form, where that is plain to see.

    Returns:
        True or False where it is certain, None where only the canonical forms can tell.

    Example:
        >>> are_identical({"q": "a"}, {"q": "a"}), are_identical({"q": "a"}, {"q": "b"})
        (True, False)
        >>> are_identical({"n": 1}, {"n": 1.0}) is None
        True
    """
    if type(first) is not dict or type(second) is not dict:
        return _are_same_texts(first, second)
    if first == second:
        # Numbers of two kinds can be equal, and then `1` and `True` could have changed places.
        kinds = [*map(type, first.values())]
        is_plain = _PLAIN.issuperset(kinds) and kinds == [*map(type, second.values())]
        return True if is_plain and [*first] == [*second] and all(map(_is_text, first)) else None
    if len(first) != len(second):
        return False
    for key, value in first.items():
        other = second.get(key)
        if value != other and (
            type(value) is type(other) is int or _are_same_texts(value, other) is False
        ):
            return False
    return None


def _is_text(value: object) -> bool:
    return type(value) is str


def _are_same_texts(first: Any, second: Any) -> bool | None:
    if type(first) is not str or type(second) is not str:
        return None
    if first == second:
        return True
    # Surrogate pairs equal the characters that they stand for, which are not ASCII.
    return False if first.isascii() else None
