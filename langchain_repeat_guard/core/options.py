"""The settings as keyword arguments, so that type checkers and editors know them by name."""

from collections.abc import Mapping
from typing import Literal, TypedDict

from langchain_repeat_guard.core.config import ToolOverride

_Strings = list[str] | tuple[str, ...]
_Numbers = list[int] | tuple[int, ...]


class ToolOverrideOptions(TypedDict):
    """A `ToolOverride` as a plain dict."""

    thresholds: _Numbers


class RepeatGuardOptions(TypedDict, total=False):
    """The fields of `RepeatGuardConfig`, all optional, in the types that they are checked from.

    Example:
        >>> from langchain_repeat_guard import RepeatReminderNode
        >>> options: RepeatGuardOptions = {"thresholds": (3, 6)}
        >>> RepeatReminderNode(**options).config.thresholds
        (3, 6)
    """

    thresholds: _Numbers
    include: _Strings
    exclude: _Strings
    arguments_preview_chars: int
    redact_arguments: _Strings
    counting: Literal["consecutive", "since_new_call"]
    ignore_arguments: Mapping[str, _Strings]
    overrides: Mapping[str, ToolOverride | ToolOverrideOptions]
    remind_every: int | None
    limit: int | None
    exit_behavior: Literal["end", "error"]
    style: Literal["default", "redirect"]
    first_reminder: str | None
    later_reminder: str | None
