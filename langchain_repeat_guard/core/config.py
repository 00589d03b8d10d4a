"""What the user can set about counting and about the text of a reminder."""

from typing import Any, Self

from pydantic import BaseModel, field_validator

from langchain_repeat_guard.core.patterns import matches_any
from langchain_repeat_guard.core.reminder import printable

_SMALLEST_THRESHOLD = 2
_SHOWN_CHARS = 100


class RepeatGuardConfig(BaseModel, frozen=True, extra="forbid"):
    """Settings of the guard, checked when they are made and never changed afterwards.

    Raises:
        pydantic.ValidationError: A value breaks its rule. The message names the field, the rule
            and the value. It is a `ValueError`.

    Example:
        >>> config = RepeatGuardConfig(thresholds=(3, 6), exclude=("poll_*",))
        >>> config.thresholds
        (3, 6)
        >>> config.tracks("poll_job")
        False
    """

    thresholds: tuple[int, ...] = (3, 5, 8)
    """Lengths of a chain of identical calls at which the model is reminded; each at least 2.

    The smallest gives the short text, each larger one the detailed text. Order does not matter.
    """

    include: tuple[str, ...] = ()
    """Tools to track, as whole names where `*` stands for any characters. Empty: all tools."""

    exclude: tuple[str, ...] = ()
    """Tools not to track. Wins over `include`. Such a call neither counts nor breaks a chain."""

    arguments_preview_chars: int = 500
    """How many characters of the arguments the detailed text quotes; at least 1."""

    redact_arguments: tuple[str, ...] = ()
    """Keys whose values the detailed text masks, at any depth; `*` stands for any characters.

    As with tool names, whole keys are compared and case counts. Calls are still compared by their
    full arguments. Arguments that are a raw string (malformed JSON) are masked whole, and strings
    are not searched for JSON inside them. Empty: nothing is masked.
    """

    @classmethod
    def resolve(cls, config: Self | None, options: dict[str, Any]) -> Self:
        """Return `config`, or a new one made from `options`.

        Raises:
            TypeError: Both are given, or `config` is something else than a `RepeatGuardConfig`.
            pydantic.ValidationError: An option breaks its rule.

        Example:
            >>> RepeatGuardConfig.resolve(None, {"thresholds": (2,)}).thresholds
            (2,)
        """
        if config is None:
            return cls(**options)
        if options:
            msg = (
                f"Got config= and also {', '.join(sorted(options))}. "
                "Pass either one config or single options, not both."
            )
            raise TypeError(msg)
        if not isinstance(config, cls):
            msg = f"config must be a {cls.__name__}, got {type(config).__name__}."
            raise TypeError(msg)
        return config

    def tracks(self, tool: str) -> bool:
        """Tell whether calls of `tool` count.

        Example:
            >>> RepeatGuardConfig(include=("web_*",)).tracks("grep")
            False
        """
        if self.include and not matches_any(self.include, tool):
            return False
        return not (self.exclude and matches_any(self.exclude, tool))

    @property
    def last_threshold(self) -> int:
        """The chain length past which the guard stays silent."""
        return max(self.thresholds)

    @field_validator("thresholds", mode="before")
    @classmethod
    def _check_thresholds(cls, value: object) -> tuple[int, ...]:
        items = _list_of(value, "whole numbers")
        if not items:
            msg = f"needs at least one number, got {_shown(value)}"
            raise ValueError(msg)
        numbers = tuple(_whole_number(item, _SMALLEST_THRESHOLD) for item in items)
        if len(set(numbers)) < len(numbers):
            msg = f"numbers must differ from each other, got {_shown(value)}"
            raise ValueError(msg)
        return tuple(sorted(numbers))

    @field_validator("include", "exclude", mode="before")
    @classmethod
    def _check_patterns(cls, value: object) -> tuple[str, ...]:
        return _strings(value, "tool names")

    @field_validator("redact_arguments", mode="before")
    @classmethod
    def _check_keys(cls, value: object) -> tuple[str, ...]:
        return _strings(value, "argument names")

    @field_validator("arguments_preview_chars", mode="before")
    @classmethod
    def _check_preview(cls, value: object) -> int:
        return _whole_number(value, 1)


def _list_of(value: object, what: str) -> list[object]:
    if not isinstance(value, list | tuple):
        msg = f"must be a list or tuple of {what}, got {_shown(value)}"
        raise ValueError(msg)  # noqa: TRY004  pydantic turns ValueError into its report
    return list(value)


def _strings(value: object, what: str) -> tuple[str, ...]:
    items = _list_of(value, what)
    for item in items:
        if not isinstance(item, str):
            msg = f"{what} must be strings, got {_shown(item)}"
            raise ValueError(msg)  # noqa: TRY004  pydantic turns ValueError into its report
    return tuple(str.__str__(item) for item in items)


def _whole_number(value: object, smallest: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < smallest:
        msg = f"must be a whole number of at least {smallest}, got {_shown(value)}"
        raise ValueError(msg)
    return int(value)


def _shown(value: object) -> str:
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001  the message has to come out whatever the value is
        return f"a value of type {type(value).__name__}"
    return printable(text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…")
