"""The event that tells listeners of a run about a reminder."""

from collections.abc import Sequence
from typing import Any, Final

from langchain_core.callbacks import adispatch_custom_event, dispatch_custom_event
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config, get_callback_manager_for_config
from langgraph.config import get_stream_writer
from typing_extensions import TypedDict

from langchain_repeat_guard.history.delivery import (
    DueReminder,
    RemindedCall,
    reminded_calls,
    reminder_id,
)

REMINDER_EVENT: Final = "repeat_guard.reminder"
"""Name of the event, for `astream_events`; in `stream_mode="custom"` it is the payload's `type`."""


class ReminderEvent(TypedDict):
    """The payload of the event: plain JSON values."""

    type: str
    """Always `REMINDER_EVENT`."""

    reminder_id: str
    """Id of the reminder's message. A replayed step gives the same id again."""

    reminders: list[RemindedCall]
    """What the step's calls have earned, in call order."""


def reminder_event(due: Sequence[DueReminder], message_id: str | None) -> ReminderEvent:
    """Return the payload for the reminders `due` of one step."""
    return {
        "type": REMINDER_EVENT,
        "reminder_id": reminder_id(message_id),
        "reminders": reminded_calls(due),
    }


def send_event(event: ReminderEvent, config: RunnableConfig | None = None) -> None:
    """Show `event` in LangChain's event stream and LangGraph's custom stream, if they listen.

    Args:
        event: The payload.
        config: The run's config; the current one where None.
    """
    _write(event)
    if _has_listeners(config):
        dispatch_custom_event(REMINDER_EVENT, event, config=config)


async def asend_event(event: ReminderEvent, config: RunnableConfig | None = None) -> None:
    """Do as `send_event` does, from a coroutine."""
    _write(event)
    if _has_listeners(config):
        await adispatch_custom_event(REMINDER_EVENT, event, config=config)


def _write(event: ReminderEvent) -> None:
    try:
        writer: Any = get_stream_writer()
    except (RuntimeError, KeyError):  # not inside a graph
        return
    writer(event)


def _has_listeners(config: RunnableConfig | None) -> bool:
    manager = get_callback_manager_for_config(ensure_config(config))
    if manager.parent_run_id is None:
        return False  # outside any run LangChain refuses custom events
    return any(not handler.ignore_custom_event for handler in manager.handlers)
