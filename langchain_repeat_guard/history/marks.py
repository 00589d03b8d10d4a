"""Reminders that stand in no message: where they are due, and how they are made anew."""

import contextlib
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage

from langchain_repeat_guard.core.arguments import fingerprint
from langchain_repeat_guard.core.config import RepeatGuardConfig
from langchain_repeat_guard.core.reminder import make_reminder
from langchain_repeat_guard.core.texts import (
    FIRST_TEXT,
    LATER_TEXT,
    REDIRECT_TEXT,
    check_text,
    quotes,
)
from langchain_repeat_guard.errors import RepeatGuardStateError
from langchain_repeat_guard.history.calls import calls_of
from langchain_repeat_guard.history.delivery import DueReminder

MARKS = "reminded"
"""Key of the marks in the state channel. Absent while no reminder has fired."""

# Texts of our own are stored by name, a user's own text as it is.
_NAMES = {"short": FIRST_TEXT, "detailed": LATER_TEXT, "redirect": REDIRECT_TEXT}
_NAME_OF = {text: name for name, text in _NAMES.items()}


class Mark(NamedTuple):
    """What one call of a step has earned. Kept as it was, so that other settings change no text."""

    call_index: int
    template: str
    reached: int
    preview_chars: int


class MarkedStep(NamedTuple):
    """A step whose results are followed by a reminder in every request. Holds no arguments."""

    token: str
    """The step's token: the id of its AIMessage, or `#` and where it stood."""

    marks: Sequence[Mark]


def mark_step(token: str, due: Iterable[DueReminder], preview_chars: int) -> MarkedStep:
    """Return what to keep of the reminders that a step has earned."""
    return MarkedStep(token, [_mark(one, preview_chars) for one in due])


def due_again(
    message: AIMessage, marks: Iterable[Mark], config: RepeatGuardConfig
) -> list[DueReminder]:
    """Return the reminders of a marked step, made anew from its AIMessage.

    Args:
        message: As the model wrote it.
        marks: Those whose call is gone, since somebody has edited the message, are left out.
        config: Says which arguments are not quoted now, whatever was quoted before.
    """
    calls = calls_of(message)
    due = []
    for mark in marks:
        if mark.call_index < len(calls):
            call = calls[mark.call_index]
            arguments = ""
            if quotes(mark.template):
                ignored = config.ignored_paths(call.name)
                _, arguments = fingerprint(call.name, call.args, ignored)
            reminder = make_reminder(
                call.name,
                mark.reached,
                arguments,
                template=mark.template,
                preview_chars=mark.preview_chars,
                redact_keys=config.redact_arguments,
            )
            due.append(DueReminder(reminder, call.id, mark.call_index))
    return due


def to_json(steps: Iterable[MarkedStep]) -> list[Any]:
    """Return plain JSON values, for a checkpoint."""
    return [[step.token, [_mark_to_json(mark) for mark in step.marks]] for step in steps]


def from_json(value: object) -> Sequence[MarkedStep]:
    """Return what `to_json` has written.

    Raises:
        RepeatGuardStateError: `value` is something else.
    """
    if isinstance(value, list):
        return [_step_from_json(entry) for entry in value]
    raise RepeatGuardStateError(value, "a list of reminded steps")


def _mark(due: DueReminder, preview_chars: int) -> Mark:
    reminder = due.reminder
    return Mark(due.call_index, reminder.template, reminder.count, preview_chars)


def _mark_to_json(mark: Mark) -> list[Any]:
    text = _NAME_OF.get(mark.template) or {"text": mark.template}
    return [mark.call_index, text, mark.reached, mark.preview_chars]


def _step_from_json(value: object) -> MarkedStep:
    match value:
        case [str(token), list(entries)]:
            return MarkedStep(token, [_mark_from_json(entry) for entry in entries])
    raise RepeatGuardStateError(value, "a pair of a message id and a list")


def _mark_from_json(value: object) -> Mark:
    match value:
        case [int(index), text, int(count), int(preview)] if index >= 0 and preview >= 1:
            return Mark(index, _text_from_json(text), count, preview)
    raise RepeatGuardStateError(value, "a list of index, form, count and preview length")


def _text_from_json(value: object) -> str:
    match value:
        case str(name) if name in _NAMES:
            return _NAMES[name]
        case {"text": str(text)}:
            with contextlib.suppress(ValueError):
                return check_text(text)
    raise RepeatGuardStateError(value, "the name of a text, or a dict with a 'text'")
