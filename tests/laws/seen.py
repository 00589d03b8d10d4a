"""What messages show of an agent, for comparison with what core says."""

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.messages.tool import tool_call
from laws.oracle import Event

from langchain_repeat_guard import is_reminder


def message_of(step: Event) -> AIMessage:
    """Return the model's message of a step."""
    calls = [
        tool_call(name=name, args=args, id=f"{step.id}.{place}")
        for place, (name, args) in enumerate(step.calls)
    ]
    return AIMessage("", id=step.id, tool_calls=calls)


def newest_event(messages: Sequence[BaseMessage], events: Mapping[str, Event]) -> Event:
    """Return the newest event that `messages` show."""
    return next(events[str(one.id)] for one in reversed(messages) if one.id in events)


def found_reminders(messages: Sequence[BaseMessage]) -> list[tuple[Any, Any]]:
    """Return ids and contents of the reminders, but those whose step has been deleted."""
    possible = {f"repeat_guard:{one.id}" for one in messages}
    return [(one.id, one.content) for one in messages if is_reminder(one) and one.id in possible]


def has_reminder(messages: Sequence[BaseMessage], step: str) -> bool:
    """Tell whether the reminder of a step, named by the id of its message, is there."""
    return any(one.id == f"repeat_guard:{step}" for one in messages)


def expected_reminders(
    messages: Sequence[BaseMessage], said: Mapping[str, str]
) -> list[tuple[Any, Any]]:
    """Return ids and contents of the reminders that belong to the steps among `messages`."""
    return [(f"repeat_guard:{one.id}", said[str(one.id)]) for one in messages if one.id in said]


def kept_from(messages: Sequence[BaseMessage], keep: int, events: Mapping[str, Event]) -> int:
    """Return where the newest `keep` messages start, or a little before.

    No results without their calls are kept, and never less than the newest step or prompt.
    """
    cut = max(len(messages) - keep, 0)
    while isinstance(messages[cut], ToolMessage):
        cut -= 1
    anchors = [
        place
        for place, one in enumerate(messages)
        if one.id in events and events[str(one.id)].kind in ("prompt", "step")
    ]
    return min(cut, *anchors[-1:], cut)


def shapes(messages: Sequence[BaseMessage], events: Mapping[str, Event]) -> dict[Any, Any]:
    """Return prompts, calls and results among `messages`, by what tells them from each other."""
    found: dict[Any, Any] = {}
    for one in messages:
        if isinstance(one, ToolMessage):
            found["result", one.tool_call_id] = (one.name, one.content, one.status)
        elif one.id in events and events[str(one.id)].kind in ("prompt", "step"):
            calls = one.tool_calls if isinstance(one, AIMessage) else ()
            found[one.type, one.id] = (one.content, calls)
    return found
