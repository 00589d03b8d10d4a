"""Reminders put into the messages of one request, at the places where they are due."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage, ToolMessage, convert_to_messages

from langchain_repeat_guard.core.config import RepeatGuardConfig
from langchain_repeat_guard.history.delivery import (
    Delivery,
    DueReminder,
    remind_in_tool_message,
    reminder_message,
)
from langchain_repeat_guard.history.marks import MarkedStep, due_again
from langchain_repeat_guard.history.tokens import has_moved, position_in, token_at


class Addressed(NamedTuple):
    """The reminders of one step, and the AIMessage behind whose results they belong."""

    source: Any
    """The message as the state holds it."""

    due: Sequence[DueReminder]


def address(
    steps: Iterable[MarkedStep], messages: Sequence[Any], config: RepeatGuardConfig
) -> dict[str, Addressed]:
    """Return the reminders of the marked steps that `messages` still hold, by the steps' tokens.

    Args:
        steps: The marked steps.
        messages: The state's messages: what is quoted comes from them.
        config: Says which arguments are not quoted.
    """
    places = _places_by_id(messages)
    found = {}
    for step in steps:
        source = _source(step.token, messages, places)
        message = None if source is None else convert_to_messages([source])[0]
        if isinstance(message, AIMessage) and (due := due_again(message, step.marks, config)):
            found[step.token] = Addressed(source, due)
    return found


def place(
    addressed: Mapping[str, Addressed], messages: Sequence[Any], delivery: Delivery
) -> list[Any]:
    """Return the request's `messages` with each reminder directly behind its step's results.

    A reminder whose step or results are not among them is left out.
    """
    places = _places_by_id(messages)
    placed = list(messages)
    found = []
    for token, reminders in addressed.items():
        start = _place_of(token, reminders.source, messages, places)
        last = None if start is None else _last_answer(messages, start)
        if last is not None:
            found.append((last, reminders))
    # From the end, so that no place moves before its turn.
    for last, reminders in sorted(found, key=lambda entry: entry[0], reverse=True):
        if delivery == "tool_message":
            placed[last] = remind_in_tool_message(placed[last], reminders.due)
        else:
            placed.insert(last + 1, reminder_message(reminders.due, _id_of(reminders.source)))
    return placed


def _places_by_id(messages: Sequence[Any]) -> dict[Any, int]:
    try:
        return {message.id: place for place, message in enumerate(messages)}
    except AttributeError:  # a state without `add_messages` may hold dicts and tuples
        return {_id_of(message): place for place, message in enumerate(messages)}


def _source(token: str, messages: Sequence[Any], places: Mapping[Any, int]) -> Any | None:
    if (index := places.get(token)) is not None:
        return messages[index]
    position, _ = position_in(token)
    for index in range(min(position, len(messages) - 1), -1, -1):
        message = convert_to_messages([messages[index]])[0]
        if isinstance(message, AIMessage):
            now = token_at(index, message)
            if now == token or has_moved(token, now):
                return messages[index]
    return None


def _place_of(
    token: str, source: object, messages: Sequence[Any], places: Mapping[Any, int]
) -> int | None:
    if (index := places.get(token)) is not None:
        return index
    return next((place for place, message in enumerate(messages) if message is source), None)


def _last_answer(messages: Sequence[Any], start: int) -> int | None:
    """Return the place of the last tool message that answers the AIMessage at `start`."""
    last = None
    for index in range(start + 1, len(messages)):
        if isinstance(messages[index], AIMessage):
            break
        if isinstance(messages[index], ToolMessage):
            last = index
    return last


def _id_of(message: object) -> str | None:
    return getattr(message, "id", None) or None
