"""The account of one agent: what its model issued, what is answered, what is counted and due."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_repeat_guard.core.chain import Chain
from langchain_repeat_guard.core.config import RepeatGuardConfig
from langchain_repeat_guard.history.calls import IssuedCall
from langchain_repeat_guard.history.delivery import DueReminder
from langchain_repeat_guard.history.judge import observe_calls

_UNANSWERED_STEPS = 8
_REMEMBERED_STEPS = 8


@dataclass(frozen=True, slots=True)
class Due:
    """A reminder, and the arguments of its call."""

    reminder: DueReminder
    arguments: Any = field(repr=False)


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
    """A model's message with calls that are not all answered. Holds no arguments."""

    message_id: str
    names: Sequence[str]
    ids: Sequence[str]
    keys: Sequence[str]
    """The chain's key after each call."""

    outcomes: Sequence[Outcome]
    """Worked out when the step is issued, so that its arguments need not be kept."""

    task_id: int | None
    """The task that issued the step, if a failure of that task takes the step back."""

    node: str | None
    unstarted: set[int]
    unanswered: set[int]


@dataclass(slots=True)
class LooseCall:
    """A call that no message announced, until it has ended."""

    call: IssuedCall
    source_id: str
    is_over: bool = False


@dataclass(frozen=True, slots=True)
class DueStep:
    """The reminders of one counted step, not reported yet."""

    message_id: str
    """Id of the AIMessage; for calls without one, an id made of the tool's run."""

    due: Sequence[Due]


@dataclass(eq=False, slots=True)
class Ledger:
    """One agent's chain, and the calls that are on their way into it."""

    config: RepeatGuardConfig
    limit: int | None = None
    chain: Chain = Chain()
    due: list[DueStep] = field(default_factory=list)
    at_limit: tuple[str, int] | None = None
    last_node: str | None = None
    """The node that issued the last counted step."""

    last_message_id: str | None = None
    """The message of the last counted step; None if that step had none."""

    last_ids: Sequence[str] = ()
    superstep: int = 0
    has_model: bool = False
    is_interrupted: bool = False
    is_adopted: bool = False
    """Whether the run goes on with what an earlier run left, and nothing was compared yet."""

    key: tuple[str, str, str] | None = None
    thread_id: str | None = None
    taken: tuple[str, Sequence[DueStep]] | None = None
    """What a node took for delivery, and the namespace of its task: a retry gets it again."""

    _steps: list[IssuedStep] = field(default_factory=list)
    _loose: list[LooseCall] = field(default_factory=list)
    _counted: deque[tuple[str, Sequence[str]]] = field(
        default_factory=lambda: deque(maxlen=_REMEMBERED_STEPS)
    )

    @property
    def has_open_steps(self) -> bool:
        """Whether a model's message waits for answers."""
        return bool(self._steps)

    @property
    def loose_count(self) -> int:
        """How many loose calls are not counted yet."""
        return len(self._loose)

    def issue(
        self,
        message_id: str,
        calls: Sequence[IssuedCall],
        *,
        task_id: int | None,
        node: str | None,
    ) -> None:
        """Take in a message with calls, once; a later form of the same message replaces it."""
        if message_id and any(message_id == known for known, _ in self._counted):
            return
        ids = [call.id for call in calls]
        known = next((step for step in self._steps if _is_same(step, message_id, ids)), None)
        if known:
            if known.node == node and known.message_id == message_id:
                return
            self._steps.remove(known)
        step = self._step(message_id, calls, ids, task_id, node)
        if known:
            step.node, step.task_id = known.node, known.task_id
            step.unstarted, step.unanswered = known.unstarted, known.unanswered
        self._steps = [*self._steps[1 - _UNANSWERED_STEPS :], step]

    def start_call(self, name: str, args: object, call_id: str | None) -> tuple[IssuedStep, int] | bool:
        """Find the issued call that a tool run executes.

        Returns:
            The step and the place of the call in it, True if the call is known and needs nothing
            more (a retry), False if no message announced it.
        """
        is_known = False
        key = None
        for step in reversed(self._steps):
            for place, issued_id in enumerate(step.ids):
                if call_id:
                    matches = issued_id == call_id
                elif step.names[place] == name:
                    key = key or observe_calls(Chain(), [IssuedCall(name, args, "")], self.config)[0].key
                    matches = key in ("", step.keys[place])
                else:
                    matches = False
                if matches and place in step.unstarted:
                    step.unstarted.discard(place)
                    return step, place
                is_known = is_known or matches
        return is_known or (bool(call_id) and any(call_id in ids for _, ids in self._counted))

    def answer(self, call_id: str) -> None:
        """Note that a tool message answers the call with `call_id`; count its step if that's all."""
        for step in reversed(self._steps):
            for place in sorted(step.unanswered):
                if step.ids[place] == call_id:
                    self.answer_place(step, place)
                    return

    def answer_place(self, step: IssuedStep, place: int) -> None:
        """Note that the call at `place` of `step` is answered; count the step if that's all."""
        step.unanswered.discard(place)
        if not step.unanswered and step in self._steps:
            self._count(step)

    def answer_all(self, message_id: str, ids: Sequence[str]) -> None:
        """Count the step that a model was shown with all its answers."""
        for step in reversed(self._steps):
            if _is_same(step, message_id, ids):
                self._count(step)
                return

    def add_loose(self, loose: LooseCall) -> None:
        """Take in a call that no message announced."""
        self._loose.append(loose)

    def drop_loose(self, loose: LooseCall) -> None:
        """Forget a call that was not carried out."""
        if loose in self._loose:
            self._loose.remove(loose)

    def count_loose(self, *, all_over: bool = False) -> None:
        """Count loose calls in the order in which they came, up to the first that is not over."""
        while self._loose and (all_over or self._loose[0].is_over):
            loose = self._loose.pop(0)
            outcome = self._outcome(self.chain, [loose.call])
            self._adopt(outcome, loose.source_id, joins=True)
            self.last_message_id, self.last_ids = None, ()

    def start_anew(self) -> None:
        """Forget everything: the user has spoken."""
        self.chain = Chain()
        self.due, self.at_limit, self.taken = [], None, None
        self._steps, self._loose = [], []

    def take_back(self, task_id: int, before: Chain | None) -> None:
        """Forget what a failed task has issued, and return to the chain `before` it."""
        self._steps = [step for step in self._steps if step.task_id != task_id]
        if before is not None:
            self.chain = before
            self.due, self.at_limit = [], None

    def has_counted(self, message_id: str, ids: Sequence[str]) -> bool:
        """Tell whether this message is the one counted last."""
        if self.last_message_id is None:
            return False
        if message_id and self.last_message_id:
            return message_id == self.last_message_id
        return list(ids) == list(self.last_ids)

    def is_open(self, message_id: str, ids: Sequence[str]) -> bool:
        """Tell whether this message waits for answers."""
        return any(_is_same(step, message_id, ids) for step in self._steps)

    def issuers(self) -> set[str | None]:
        """Return the nodes that have issued steps."""
        return {self.last_node, *(step.node for step in self._steps)}

    def is_own_loop(self, task_id: int) -> bool:
        """Tell whether the task has issued a step itself and goes on: code drives its loop."""
        return any(step.task_id == task_id for step in self._steps)

    def _count(self, step: IssuedStep) -> None:
        # An older step without answers was overtaken, or came from another model: it is dropped.
        self._steps = self._steps[self._steps.index(step) + 1 :]
        outcome = next((one for one in step.outcomes if one.before == self.chain), step.outcomes[0])
        self._adopt(outcome, step.message_id, joins=False)
        self._counted.append((step.message_id, step.ids))
        self.last_node, self.last_message_id, self.last_ids = step.node, step.message_id, step.ids

    def _adopt(self, outcome: Outcome, message_id: str, *, joins: bool) -> None:
        self.chain = outcome.after
        if outcome.after is not outcome.before:
            self.at_limit = outcome.at_limit
        if not joins:
            self.due = []
        if outcome.due:
            self.due.append(DueStep(message_id, outcome.due))
            self.taken = None

    def _step(
        self,
        message_id: str,
        calls: Sequence[IssuedCall],
        ids: Sequence[str],
        task_id: int | None,
        node: str | None,
    ) -> IssuedStep:
        first = self._outcome(self.chain, calls)
        bases = {step.outcomes[-1].after for step in self._steps} - {self.chain} if self._steps else ()
        outcomes = [first, *(self._outcome(base, calls) for base in bases)]
        places = range(len(calls))
        keys = self._keys(calls) if len(calls) > 1 else [first.after.key]
        return IssuedStep(
            message_id,
            [call.name for call in calls],
            ids,
            keys,
            outcomes,
            task_id,
            node,
            set(places),
            set(places),
        )

    def _keys(self, calls: Sequence[IssuedCall]) -> list[str]:
        return [observe_calls(Chain(), [call], self.config)[0].key for call in calls]

    def _outcome(self, before: Chain, calls: Sequence[IssuedCall]) -> Outcome:
        chain, due = before, []
        at_limit = None
        for call in calls:
            chain, reminders = observe_calls(chain, [call], self.config)
            due += [Due(reminder, call.args) for reminder in reminders]
            if self.limit and chain.count >= self.limit and self.config.tracks(call.name):
                at_limit = (call.name, chain.count)
        return Outcome(before, chain, due, at_limit)


def _is_same(step: IssuedStep, message_id: str, ids: Sequence[str]) -> bool:
    if message_id and step.message_id == message_id:
        return True
    # A node may pass a copy of the model's message on, under an id of its own.
    return any(ids) and list(step.ids) == list(ids)
