"""Message histories as short strings, so that a test shows a whole run at a glance."""

from collections.abc import Iterable, Sequence
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage, ToolMessage

from langchain_repeat_guard import is_reminder


def picture(messages: Iterable[BaseMessage]) -> str:
    """Draw a history: h(uman), a(i), t(ool), n(ote), and R3 for a reminder of a chain of three.

    A tool message that carries a reminder is T3. System messages are left out. Reminders that stand
    together in one message are joined: R3+5.
    """
    return "".join(_letter(message) for message in messages)


def pictures(requests: Iterable[Iterable[BaseMessage]]) -> list[str]:
    """Draw each of several requests."""
    return [picture(request) for request in requests]


def growing(whole: str) -> list[str]:
    """Return the pictures of the requests of an undisturbed run whose messages end up as `whole`.

    Example:
        >>> growing("hatatR2at")
        ['h', 'hat', 'hatatR2', 'hatatR2at']
    """
    cuts = [place for place, letter in enumerate(whole) if letter == "a"]
    return [*(whole[:cut] for cut in cuts), whole]


def without_reminders(drawn: str) -> str:
    """Return a picture as it is where no reminder is stored.

    Example:
        >>> without_reminders("hatataT3atatR5+6")
        'hatatatatat'
    """
    return "".join(letter for letter in drawn.replace("T", "t") if letter in "hatn")


def reminder_counts(message: BaseMessage) -> list[int]:
    """Return the lengths of chains that a reminder, or a reminding tool message, is about."""
    key = "lc_data" if isinstance(message, HumanMessage) else "repeat_guard"
    data: dict[str, Any] = message.additional_kwargs.get(key, {})
    return [one["count"] for one in data.get("reminders", [])]


def reminders_in(messages: Iterable[BaseMessage]) -> list[str]:
    """Return the texts of the reminders among `messages`."""
    return [str(message.content) for message in messages if is_reminder(message)]


def _letter(message: BaseMessage) -> str:
    if isinstance(message, ToolMessage):
        counts = reminder_counts(message)
        return f"T{_joined(counts)}" if counts else "t"
    if is_reminder(message):
        return f"R{_joined(reminder_counts(message))}"
    if isinstance(message, HumanMessage) and message.additional_kwargs.get("lc_source"):
        return "n"
    return "" if message.type == "system" else message.type[0].lower()


def _joined(counts: Sequence[int]) -> str:
    return "+".join(map(str, counts))
