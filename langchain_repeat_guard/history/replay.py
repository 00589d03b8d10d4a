"""One agent's history read forwards, for whoever has all of it: each call with its count.

It gives, step by step, what `judge` gives an adapter that is asked behind each message.
"""

from collections.abc import Sequence
from typing import NamedTuple

from langchain_repeat_guard.core.chain import Chain, observe
from langchain_repeat_guard.core.config import RepeatGuardConfig
from langchain_repeat_guard.core.reminder import Reminder
from langchain_repeat_guard.history.calls import IssuedCall, all_answered_by
from langchain_repeat_guard.history.carried import REMEMBERED_STEPS
from langchain_repeat_guard.history.differ import compares_neighbours_only, surely_differ

_EMPTY = Chain()


class CountedCall(NamedTuple):
    """A call of a complete step, and what it did to the chain."""

    call: IssuedCall
    in_a_row: int
    """How many identical calls stand in a row, this one included; 0 if it is not tracked."""

    reminder: Reminder | None
    """What is due behind the step because of this call."""


class Replay:
    """Counts the calls of one agent while its messages are read, oldest first."""

    __slots__ = (
        "_answered",
        "_chain",
        "_config",
        "_counted",
        "_is_plain",
        "_last",
        "_may_remind",
        "_pending",
        "_prompt",
        "_tracked",
    )

    def __init__(self, config: RepeatGuardConfig) -> None:
        """Start with the empty chain."""
        self._config = config
        self._is_plain = compares_neighbours_only(config)
        self._tracked: dict[str, bool] = {}
        # None stands for the chain of one call, `_last`, whose key nobody has needed yet.
        self._chain: Chain | None = _EMPTY
        self._last: IssuedCall | None = None
        self._counted: tuple[str, ...] = ()
        self._prompt = ""
        self._pending: tuple[str, Sequence[IssuedCall]] | None = None
        self._answered: list[str] = []
        self._may_remind = True

    @property
    def chain(self) -> Chain:
        """The chain after all complete steps so far."""
        return self._keyed(self._last)

    @property
    def is_waiting(self) -> bool:
        """Whether the newest step lacks answers."""
        return self._pending is not None

    def on_prompt(self, message_id: str = "") -> None:
        """Read a user's prompt: the chain starts anew, a step without its answers is dropped."""
        self._pending = None
        if not message_id or message_id != self._prompt:
            self._prompt = message_id
            self._chain = _EMPTY
            self._last = None
            self._counted = ()

    def on_calls(self, calls: Sequence[IssuedCall], message_id: str = "") -> None:
        """Read a model's message with tool calls. One that was counted is not counted again."""
        self._answered = []
        self._may_remind = True
        self._pending = None if message_id and message_id in self._counted else (message_id, calls)

    def on_closing(self) -> None:
        """Read an answer without calls, or a reminder: no reminder is due before the next step."""
        self._may_remind = False

    def on_answer(self, call_id: str) -> Sequence[CountedCall]:
        """Read a tool message, and return the calls of the step that it completes, if it does."""
        if self._pending is None:
            return ()
        message_id, calls = self._pending
        if len(calls) == 1 and calls[0].id == call_id:
            self._pending = None
        else:
            self._answered.append(call_id)
            if len(self._answered) < len(calls) or not all_answered_by(calls, self._answered):
                return ()
            self._pending = None
        if message_id:
            self._counted = (*self._counted, message_id)[-REMEMBERED_STEPS:]
        return [self._count(call) for call in calls]

    def _count(self, call: IssuedCall) -> CountedCall:
        name = call.name
        is_tracked = self._tracked.get(name)
        if is_tracked is None:
            is_tracked = self._tracked[name] = self._config.tracks(name)
        if not is_tracked:
            return CountedCall(call, 0, None)
        last = self._last
        self._last = call
        if self._is_plain and (
            last is None or last.name != name or surely_differ(last.args, call.args)
        ):
            self._chain = None  # obviously a new chain: its digest can wait
            return CountedCall(call, 1, None)
        before = self._keyed(last)
        self._chain, reminder = observe(before, name, call.args, config=self._config)
        return CountedCall(call, self._chain.count, reminder if self._may_remind else None)

    def _keyed(self, last: IssuedCall | None) -> Chain:
        if self._chain is None and last is not None:
            self._chain, _ = observe(_EMPTY, last.name, last.args, config=self._config)
        return self._chain or _EMPTY
