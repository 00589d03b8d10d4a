"""What the user can set about counting and about the text of a reminder."""

import math
from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import BaseModel, ValidationError, field_validator

from langchain_repeat_guard.core.checks import (
    one_string,
    patterns_in,
    string_list,
    threshold_list,
    whole_number,
)
from langchain_repeat_guard.core.patterns import first_match, matches_any
from langchain_repeat_guard.core.texts import FIRST_TEXT, LATER_TEXT, REDIRECT_TEXT, check_text


class ToolOverride(BaseModel, frozen=True, extra="forbid"):
    """Settings for some tools only.

    Example:
        >>> config = RepeatGuardConfig(overrides={"shell": {"thresholds": (5, 10)}})
        >>> config.overrides["shell"].thresholds
        (5, 10)
    """

    thresholds: tuple[int, ...]
    """As in `RepeatGuardConfig`."""

    _check_thresholds = field_validator("thresholds", mode="before")(threshold_list)


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
    """Tools not to track; wins over `include`. Such a call neither counts nor breaks a chain."""

    arguments_preview_chars: int = 500
    """How many characters of the arguments the detailed text quotes; at least 1."""

    redact_arguments: tuple[str, ...] = ()
    """Keys whose values the detailed text masks, at any depth; `*` stands for any characters.

    As with tool names, whole keys are compared and case counts. Calls are still compared by their
    full arguments. Arguments that are a raw string (malformed JSON) are masked whole, and strings
    are not searched for JSON inside them. Empty: nothing is masked.
    """

    counting: Literal["consecutive", "since_new_call"] = "consecutive"
    """What counts as repeating.

    `"consecutive"`: identical calls in a row. `"since_new_call"`: each call has a count of its own,
    and all counts clear when a tracked call comes that the agent has not made since the user's
    prompt. It also finds cycles such as A, B, A, B. The last 256 distinct calls are remembered.
    """

    ignore_arguments: dict[str, tuple[str, ...]] = {}
    """Arguments that do not count, by tool pattern: keys, or paths such as `headers.date`.

    A part of a path may hold `*`; for a list it stands for an index. The reminder does not quote
    them. Of several patterns that match a tool, the first one holds.
    """

    overrides: dict[str, ToolOverride] = {}
    """Other thresholds by tool pattern, such as `{"shell": {"thresholds": [5]}}`.

    Of several patterns that match a tool, the first one holds.
    """

    remind_every: int | None = None
    """Past the last threshold, remind again every so many calls; at least 1. None: stay silent."""

    limit: int | None = None
    """Length of a chain at which the run ends; at least 2. None: no limit."""

    exit_behavior: Literal["end", "error"] = "end"
    """What happens at `limit`: the run ends with a message that says so, or `RepeatLimitError`."""

    style: Literal["default", "redirect"] = "default"
    """Which texts: the contract's, or one that forbids nothing, names no tool, quotes no arguments
    and asks the model what new information its next step will bring."""

    first_reminder: str | None = None
    """A text of your own for the first threshold. Fields: {tool} {count} {threshold} {arguments}

    Where a graph strips the metadata of messages, a text with 20 letters or more besides its fields
    is still known as a reminder; a shorter one is taken for the user's.
    """

    later_reminder: str | None = None
    """The same for each later reminder."""

    def __hash__(self) -> int:
        """Agree with equality, for which the order of the dicts does not count."""
        return hash((self.thresholds, self.include, self.exclude, self.counting, self.limit))

    @classmethod
    def resolve(cls, config: Self | None, options: Mapping[str, Any]) -> Self:
        """Return `config`, or a new one made from `options`.

        Raises:
            TypeError: Both are given, or `config` is something else than a `RepeatGuardConfig`.
            pydantic.ValidationError: An option breaks its rule.

        Example:
            >>> RepeatGuardConfig.resolve(None, {"thresholds": (2,)}).thresholds
            (2,)
        """
        if config is None:
            return cls._from_options(options)
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

    @classmethod
    def _from_options(cls, options: Mapping[str, Any]) -> Self:
        try:
            return cls(**options)
        except ValidationError as error:
            # An adapter's signature ends in `**options`, which says little to a reader of it.
            if not options.keys() <= cls.model_fields.keys():
                error.add_note(f"The options are {', '.join(cls.model_fields)}.")
            raise

    def tracks(self, tool: str) -> bool:
        """Tell whether calls of `tool` count.

        Example:
            >>> RepeatGuardConfig(include=("web_*",)).tracks("grep")
            False
        """
        if self.include and not matches_any(self.include, tool):
            return False
        return not (self.exclude and matches_any(self.exclude, tool))

    def text_at(self, tool: str, count: int) -> str | None:
        """Return the text for a chain of `count` calls of `tool`, or None where none is due."""
        thresholds = self.thresholds_of(tool) if self.overrides else self.thresholds
        if count == thresholds[0]:
            return self.first_reminder or self._style_texts[0]
        past = count - thresholds[-1]
        again = self.remind_every is not None and past > 0 and past % self.remind_every == 0
        if again or count in thresholds:
            return self.later_reminder or self._style_texts[1]
        return None

    def thresholds_of(self, tool: str) -> tuple[int, ...]:
        """Return the thresholds that hold for `tool`, in order.

        Example:
            >>> RepeatGuardConfig(overrides={"sh*": {"thresholds": (9,)}}).thresholds_of("shell")
            (9,)
        """
        override = first_match(self.overrides, tool) if self.overrides else None
        return override.thresholds if override else self.thresholds

    def ignored_paths(self, tool: str) -> tuple[str, ...]:
        """Return the paths of the arguments of `tool` that do not count."""
        return (first_match(self.ignore_arguments, tool) if self.ignore_arguments else None) or ()

    def settles_at(self, tool: str) -> float:
        """Return the length from which on all chains of `tool` are treated alike."""
        if self.remind_every is not None:
            return math.inf
        return max(self.thresholds_of(tool)[-1], self.limit or 0)

    @property
    def own_texts(self) -> tuple[str, ...]:
        """The texts that are not this package's."""
        texts = (self.first_reminder, self.later_reminder)
        return tuple([text for text in texts if text]) if any(texts) else ()

    @property
    def _style_texts(self) -> tuple[str, str]:
        if self.style == "redirect":
            return REDIRECT_TEXT, REDIRECT_TEXT
        return FIRST_TEXT, LATER_TEXT

    _check_thresholds = field_validator("thresholds", mode="before")(threshold_list)

    @field_validator("include", "exclude", mode="before")
    @classmethod
    def _check_patterns(cls, value: object) -> tuple[str, ...]:
        return string_list(value, "tool names")

    @field_validator("redact_arguments", mode="before")
    @classmethod
    def _check_keys(cls, value: object) -> tuple[str, ...]:
        return string_list(value, "argument names")

    @field_validator("arguments_preview_chars", mode="before")
    @classmethod
    def _check_preview(cls, value: object) -> int:
        return whole_number(value, 1)

    @field_validator("remind_every", mode="before")
    @classmethod
    def _check_remind_every(cls, value: object) -> int | None:
        return None if value is None else whole_number(value, 1)

    @field_validator("limit", mode="before")
    @classmethod
    def _check_limit(cls, value: object) -> int | None:
        return None if value is None else whole_number(value, 2)

    @field_validator("ignore_arguments", mode="before")
    @classmethod
    def _check_ignored(cls, value: object) -> dict[str, tuple[str, ...]]:
        entries = patterns_in(value)
        return {pattern: _paths(paths) for pattern, paths in entries.items()}

    @field_validator("overrides", mode="before")
    @classmethod
    def _check_overrides(cls, value: object) -> dict[str, object]:
        return patterns_in(value)

    @field_validator("first_reminder", "later_reminder", mode="before")
    @classmethod
    def _check_text(cls, value: object) -> str | None:
        return None if value is None else check_text(one_string(value, "texts"))


def _paths(value: object) -> tuple[str, ...]:
    paths = string_list(value, "argument paths")
    if not paths:
        msg = "needs at least one argument path for each tool pattern, got none"
        raise ValueError(msg)
    for path in paths:
        if not all(path.split(".")):
            msg = f"argument paths must be keys joined by single dots, got {path!r}"
            raise ValueError(msg)
    return paths
