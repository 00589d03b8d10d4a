"""What has happened to an agent, and what core alone says to it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

from langchain_repeat_guard import Chain, Reminder, RepeatGuardConfig, observe

Call = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Event:
    """One thing that happened, on top of all that happened before; a fork shares its past."""

    id: str
    """Id of the message in which it stands."""

    kind: Literal["prompt", "note", "text", "step"]
    before: Self | None = None
    calls: Sequence[Call] = ()
    overtakes: bool = False
    """Whether this prompt came between a step's results and the guard."""

    @property
    def past(self) -> "list[Event]":
        """All that happened up to this, oldest first."""
        return [*self._back()][::-1]

    @property
    def newest(self) -> "Event":
        """The newest event that is no note."""
        return next(event for event in self._back() if event.kind != "note")

    def _back(self) -> "Iterator[Event]":
        event: Event | None = self
        while event is not None:
            yield event
            event = event.before


def due(
    head: Event, config: RepeatGuardConfig, *, with_overtaken: bool = False
) -> dict[str, list[Reminder]]:
    """Return what core says to the steps up to `head`, by the id of the step's message.

    Args:
        head: The newest event.
        config: Settings of core.
        with_overtaken: Whether to list also the steps that a prompt has overtaken.
    """
    found: dict[str, list[Reminder]] = {}
    chain = Chain()
    for event in head.past:
        if event.kind == "prompt":
            chain = Chain()
            if event.overtakes and not with_overtaken and event.before is not None:
                found.pop(event.before.newest.id, None)
        for name, args in event.calls:
            chain, reminder = observe(chain, name, args, config=config)
            if reminder:
                found.setdefault(event.id, []).append(reminder)
    return found


def texts(head: Event, config: RepeatGuardConfig) -> dict[str, str]:
    """Return the content of the reminder of each step up to `head` that has one."""
    return {
        key: "\n\n".join(one.message_text for one in reminders)
        for key, reminders in due(head, config).items()
    }
