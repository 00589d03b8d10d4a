"""Reminders that are part of every request and of no state."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage

from langchain_repeat_guard.errors import RepeatGuardStateError
from langchain_repeat_guard.history.delivery import limit_message
from langchain_repeat_guard.history.events import ReminderEvent, reminder_event
from langchain_repeat_guard.history.guard import HistoryGuard
from langchain_repeat_guard.history.judge import Verdict
from langchain_repeat_guard.history.marks import (
    MARKS,
    MarkedStep,
    from_json,
    mark_step,
    to_json,
)
from langchain_repeat_guard.history.placing import address, place


@dataclass(frozen=True, slots=True)
class Prepared:
    """What becomes of one request to the model."""

    messages: list[Any] | None
    """The request's messages with all reminders; None where it needs none."""

    channel: dict[str, Any] | None
    """What the state's channel must hold together with the model's answer; None: as it is."""

    event: ReminderEvent | None = None
    """What to tell listeners."""

    last_message: AIMessage | None = None
    """What ends the run in place of the model's answer, at the limit."""


def prepare(
    guard: HistoryGuard, messages: Sequence[Any], requested: Sequence[Any], stored: object
) -> Prepared:
    """Say what to send to the model, and what to remember.

    Args:
        guard: Settings of the adapter.
        messages: The state's messages: calls are counted and quoted from them.
        requested: The request's messages, which other code may have shortened or edited.
        stored: What the state's channel holds.
    """
    carried = guard.read_channel(stored)
    verdict = guard.check(messages, carried)
    if verdict.at_limit:
        return Prepared(None, None, last_message=limit_message(*verdict.at_limit))
    known = _read_marks(guard, stored)
    marked = _with_verdict(known, verdict, guard.config.arguments_preview_chars)
    has_changed = verdict.carried != carried or len(marked) != len(known)
    if not marked:
        return Prepared(None, verdict.carried.to_dict() if has_changed else None)
    addressed = address(marked, messages, guard.config)
    channel = None
    if has_changed:
        kept = [step for step in marked if step.token in addressed]
        channel = {**verdict.carried.to_dict(), **({MARKS: to_json(kept)} if kept else {})}
    event = None
    if len(marked) != len(known):
        event = reminder_event(verdict.due, verdict.message_id)
    return Prepared(place(addressed, requested, guard.delivery), channel, event)


def _with_verdict(
    marked: Sequence[MarkedStep], verdict: Verdict, preview_chars: int
) -> Sequence[MarkedStep]:
    if not verdict.due or verdict.step is None:
        return marked
    token = verdict.step.token
    if any(step.token == token for step in marked):
        return marked  # what a request has said once stays as it is
    return [*marked, mark_step(token, verdict.due, preview_chars)]


def _read_marks(guard: HistoryGuard, stored: object) -> Sequence[MarkedStep]:
    if not isinstance(stored, dict) or MARKS not in stored:
        return ()
    try:
        return from_json(stored[MARKS])
    except RepeatGuardStateError:
        guard.warn_of_foreign_state(stored[MARKS])
        return ()
