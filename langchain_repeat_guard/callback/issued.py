"""What an agent's model has issued and what it comes to: the entries of a ledger."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_repeat_guard.core.chain import Chain
from langchain_repeat_guard.core.config import RepeatGuardConfig
from langchain_repeat_guard.history.calls import IssuedCall
from langchain_repeat_guard.history.delivery import DueReminder


@dataclass(frozen=True, slots=True)
class Rules:
    """What the user has set about counting."""

    config: RepeatGuardConfig
    keeps_arguments: bool = False


@dataclass(frozen=True, slots=True)
class Due:
    """A reminder, and the arguments of its call if the user asked for them."""

    reminder: DueReminder
    arguments: Any = field(repr=False)


@dataclass(frozen=True, slots=True)
class DueStep:
    """The reminders of one counted step."""

    message_id: str
    """Id of the AIMessage; for a call without one, an id made of its run."""

    due: Sequence[Due]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a step comes to, on top of the chain `before` it."""

    before: Chain
    after: Chain
    due: Sequence[Due]
    at_limit: tuple[str, int] | None
    """The tool and the count that reached the limit, if one did."""


@dataclass(eq=False, slots=True)
class IssuedStep:
    """A model's message with calls that are not all answered."""

    message_id: str
    calls: Sequence[IssuedCall] = field(repr=False)
    """The calls while the task that has issued them runs and may change them; none afterwards."""

    task_id: int | None
    """The running task that has issued the step, and takes it back if it fails."""

    node: str | None
    names: Sequence[str] = field(init=False)
    ids: Sequence[str] = field(init=False)
    unstarted: set[int] = field(init=False)
    unanswered: set[int] = field(init=False)
    outcomes: Sequence[Outcome] = ()
    """Worked out once the task has ended, so that arguments need not be kept for longer."""

    def __post_init__(self) -> None:
        """Start with no call carried out."""
        self.names = [call.name for call in self.calls]
        self.ids = [call.id for call in self.calls]
        self.unstarted = set(range(len(self.ids)))
        self.unanswered = set(range(len(self.ids)))

    def rewrite(self, message_id: str, calls: Sequence[IssuedCall]) -> None:
        """Take in a later form of the message: calls may be changed, dropped or added."""
        ids = [call.id for call in calls]
        if ids != self.ids:
            self.unstarted = _open_places(ids, self.ids, self.unstarted)
            self.unanswered = _open_places(ids, self.ids, self.unanswered)
        self.message_id, self.calls, self.ids = message_id, calls, ids
        self.names = [call.name for call in calls]

    def is_same(self, message_id: str, ids: Sequence[str]) -> bool:
        """Tell whether a message is this step's. A copy may have another id, but the same calls."""
        if message_id and message_id == self.message_id:
            return True
        return any(ids) and ids == self.ids


@dataclass(eq=False, slots=True)
class LooseCall:
    """A call that no message announced, until it is counted."""

    call: IssuedCall
    source_id: str
    task_id: int | None = None
    is_over: bool = False


def _open_places(ids: Sequence[str], old_ids: Sequence[str], old_open: set[int]) -> set[int]:
    """Return the places in `ids` of the calls that are open, where `old_open` were in `old_ids`."""
    done = Counter(call_id for place, call_id in enumerate(old_ids) if place not in old_open)
    places = set()
    for place, call_id in enumerate(ids):
        if done[call_id]:
            done[call_id] -= 1
        else:
            places.add(place)
    return places
