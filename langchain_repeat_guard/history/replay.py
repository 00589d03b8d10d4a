"""One agent's history read forwards, for whoever has all of it: each call with its count.

It gives, step by step, what `judge` gives an adapter that is asked behind each message.
"""

from collections.abc import Sequence
from dataclasses import replace

from langchain_repeat_guard.core.arguments import fingerprint
from langchain_repeat_guard.core.chain import CallCounts, Chain, observe, reminder_at
from langchain_repeat_guard.core.config import RepeatGuardConfig
from langchain_repeat_guard.core.reminder import Reminder
from langchain_repeat_guard.history.calls import IssuedCall, all_answered_by
from langchain_repeat_guard.history.carried import REMEMBERED_STEPS
from langchain_repeat_guard.history.differ import are_identical, compares_neighbours_only

_EMPTY = Chain()
_TOOLS_REMEMBERED = 10_000


CountedCall = tuple[IssuedCall, int, Reminder | None]
"""A call of a complete step, its count as `counting` counts (0 if it is not tracked), and what is
due behind the step because of it."""


class ReplaySettings:
    """What all replays with one configuration share: answers that need not be found twice."""

    __slots__ = ("config", "counts_each_call", "is_plain", "thresholds", "tracked")

    def __init__(self, config: RepeatGuardConfig) -> None:
        """Look at what to track and when to remind."""
        self.config: RepeatGuardConfig = config
        self.is_plain: bool = compares_neighbours_only(config)
        self.counts_each_call: bool = config.counting == "since_new_call"
        self.thresholds: frozenset[int] = frozenset(config.thresholds)
        self.tracked: dict[str, bool] = _Tracked(config)


class _Tracked(dict[str, bool]):
    """Which tools are tracked, found out on first use."""

    def __init__(self, config: RepeatGuardConfig) -> None:
        self._config = config

    def __missing__(self, name: str) -> bool:
        if len(self) >= _TOOLS_REMEMBERED:
            self.clear()
        self[name] = is_tracked = self._config.tracks(name)
        return is_tracked


class Replay:
    """Counts the calls of one agent while its messages are read, oldest first."""

    __slots__ = (
        "_answered",
        "_chain",
        "_counted",
        "_counts",
        "_in_a_row",
        "_last",
        "_may_remind",
        "_pending",
        "_prompt",
        "_settings",
    )

    def __init__(self, settings: ReplaySettings) -> None:
        """Start with the empty chain."""
        self._settings = settings
        # None stands for `_in_a_row` calls like `_last`, whose key nobody has needed yet.
        self._chain: Chain | None = _EMPTY
        self._last: IssuedCall | None = None
        self._in_a_row = 0
        self._counts = CallCounts()
        self._counted: tuple[str, ...] = ()
        self._prompt = ""
        self._pending: tuple[str, Sequence[IssuedCall]] | None = None
        self._answered: list[str] = []
        self._may_remind = True

    @property
    def chain(self) -> Chain:
        """The chain after all complete steps so far."""
        return replace(self._keyed(self._last), seen=self._counts.seen)

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
            self._counts = CallCounts()
            self._counted = ()

    def on_calls(self, calls: Sequence[IssuedCall], message_id: str = "") -> None:
        """Read a model's message with tool calls. One that was counted is not counted again."""
        if self._answered:
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
        is_only_call = len(calls) == 1 and calls[0].id == call_id
        if not is_only_call:
            self._answered.append(call_id)
            if len(self._answered) < len(calls) or not all_answered_by(calls, self._answered):
                return ()
        self._pending = None
        if message_id:
            self._counted = (*self._counted, message_id)[-REMEMBERED_STEPS:]
        return (self._count(calls[0]),) if is_only_call else [*map(self._count, calls)]

    def _count(self, call: IssuedCall) -> CountedCall:
        name = call.name
        settings = self._settings
        if not settings.tracked[name]:
            return call, 0, None
        last = self._last
        self._last = call
        config = settings.config
        if settings.counts_each_call:
            return self._count_each(call)
        if settings.is_plain:
            # What is plain to see takes no digest, unless it comes to a reminder.
            is_same = last is not None and last.name == name and are_identical(last.args, call.args)
            in_a_row = self._in_a_row + 1 if is_same else 1
            if is_same is not None and in_a_row not in settings.thresholds:
                self._chain = None
                self._in_a_row = in_a_row
                return call, in_a_row, None
        chain, reminder = observe(self._keyed(last), name, call.args, config=config)
        self._chain = chain
        self._in_a_row = chain.count
        return call, chain.count, reminder if self._may_remind else None

    def _count_each(self, call: IssuedCall) -> CountedCall:
        # As `observe` does, without a new list of all calls for each.
        config = self._settings.config
        key, arguments = fingerprint(call.name, call.args, config.ignored_paths(call.name))
        count = self._counts.add(key)
        self._chain = Chain(key, count)
        reminder = reminder_at(call.name, count, arguments, config)
        return call, count, reminder if self._may_remind else None

    def _keyed(self, last: IssuedCall | None) -> Chain:
        if self._chain is None and last is not None:
            once, _ = observe(_EMPTY, last.name, last.args, config=self._settings.config)
            self._chain = replace(once, count=self._in_a_row)
        return self._chain or _EMPTY
