"""The account of one agent: what its model issued, what is answered, what is counted and due."""

import itertools
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from langchain_repeat_guard.callback.issued import (
    Due,
    DueStep,
    IssuedStep,
    LooseCall,
    Outcome,
    Rules,
)
from langchain_repeat_guard.core.chain import Chain
from langchain_repeat_guard.history.calls import IssuedCall
from langchain_repeat_guard.history.carried import REMEMBERED_STEPS
from langchain_repeat_guard.history.counting import count_step

_UNANSWERED_STEPS = 8


@dataclass(eq=False, slots=True)
class Ledger:
    """One agent's chain, and the calls that are on their way into it."""

    rules: Rules
    chain: Chain = field(default_factory=Chain)
    due: list[DueStep] = field(default_factory=list)
    at_limit: tuple[str, int] | None = None
    has_issued: bool = False
    """Whether a model's message has announced calls: others are then not the model's."""

    has_model: bool = False
    """Whether a run of a model was seen."""

    superstep: int = 0
    due_superstep: int = 0
    last: IssuedStep | None = None
    """The step counted last."""

    taken: tuple[str, Sequence[DueStep]] | None = None
    """What a node took for delivery, and the namespace of its task: a retry gets it again."""

    key: tuple[str, str, str] | None = None
    """Under what the ledger is parked; None where nothing can resume the agent."""

    entry: tuple[str | None, str | None] | None = None
    """The graph's name and the node that it started with, which tell it from most other graphs."""

    is_interrupted: bool = False
    is_adopted: bool = False
    """Whether the run goes on with what an earlier one left, and has not called a model yet."""

    _steps: list[IssuedStep] = field(default_factory=list)
    _loose: list[LooseCall] = field(default_factory=list)
    _counted_messages: deque[str] = field(default_factory=lambda: deque(maxlen=REMEMBERED_STEPS))
    _counted_calls: deque[Sequence[str]] = field(
        default_factory=lambda: deque(maxlen=REMEMBERED_STEPS)
    )
    _before: dict[int, Chain] = field(default_factory=dict)
    """For each running task that has counted something of its own: the chain before it."""

    @property
    def is_waiting(self) -> bool:
        """Whether a message waits for answers, or a reminder or the limit for the model."""
        return bool(self._steps or self.due or self.at_limit)

    @property
    def loose_count(self) -> int:
        """How many loose calls are not counted yet."""
        return len(self._loose)

    @property
    def issuers(self) -> set[str | None]:
        """The nodes that have issued the last counted step and the open ones."""
        return {step.node for step in (self.last, *self._steps) if step}

    def issue(
        self, message_id: str, calls: Sequence[IssuedCall], task_id: int | None, node: str | None
    ) -> None:
        """Take in a message with calls, once. A later form of the same message replaces it."""
        if message_id and message_id in self._counted_messages:
            return
        if not self.has_issued:
            self.has_issued = True
            self.chain, self.due = Chain(), []
        step = self.open_step(message_id, [call.id for call in calls])
        if step and (step.message_id == message_id or step.task_id == task_id is not None):
            step.rewrite(message_id, calls)
        else:
            others = [one for one in self._steps if one is not step]
            step = IssuedStep(message_id, calls, task_id, node)
            self._steps = [*others[1 - _UNANSWERED_STEPS :], step]
        if step.task_id is None:
            self._settle(step)
        if not step.unanswered:
            self.count(step)

    def start_call(self, name: str, call_id: str | None) -> tuple[IssuedStep, int] | bool:
        """Find the issued call that a tool's run executes.

        Returns:
            The step, and the place of the call in it. True if the call was started before, False
            if no message has announced it.
        """
        is_known = False
        for step in reversed(self._steps):
            for place, issued_id in enumerate(step.ids):
                if issued_id != call_id if call_id else step.names[place] != name:
                    continue
                if place in step.unstarted:
                    step.unstarted.discard(place)
                    return step, place
                is_known = True
        return is_known or bool(call_id and call_id in itertools.chain(*self._counted_calls))

    def answer(self, call_id: str) -> None:
        """Note that a tool message answers the call with `call_id`."""
        for step in reversed(self._steps):
            for place in sorted(step.unanswered):
                if step.ids[place] == call_id:
                    self.answer_place(step, place)
                    return

    def answer_place(self, step: IssuedStep, place: int) -> None:
        """Note that the call at `place` of `step` is answered; count the step if all are."""
        step.unanswered.discard(place)
        if not step.unanswered and step in self._steps:
            self.count(step)

    def open_step(self, message_id: str, ids: Sequence[str]) -> IssuedStep | None:
        """Return the step of a message that waits for answers.

        A message that is counted has none, though a model may give its call ids to the next one.
        """
        if message_id and message_id in self._counted_messages:
            return None
        for step in reversed(self._steps):
            if step.is_same(message_id, ids):
                return step
        return None

    def add_loose(self, loose: LooseCall) -> None:
        """Take in a call that no message announced."""
        self._loose.append(loose)

    def drop_loose(self, loose: LooseCall) -> None:
        """Forget a call that was not carried out."""
        self._loose = [one for one in self._loose if one is not loose]

    def count_loose(self) -> None:
        """Count loose calls in the order in which they came, up to the first that is not over."""
        while self._loose and self._loose[0].is_over:
            loose = self._loose.pop(0)
            self._remember(loose.task_id)
            outcome = self._outcome(self.chain, [loose.call])
            self._adopt(outcome, loose.source_id)
            self.at_limit = outcome.at_limit
            self.last = None

    def count_all_loose(self) -> None:
        """Count the loose calls as one step: the agent plans the next one."""
        at_limit = None
        for loose in self._loose:
            outcome = self._outcome(self.chain, [loose.call])
            self._adopt(outcome, loose.source_id)
            at_limit = outcome.at_limit or at_limit
        if self._loose:
            self._loose, self.at_limit = [], at_limit

    def start_anew(self) -> None:
        """Forget everything: the user has spoken."""
        self.chain = Chain()
        self.due, self.at_limit, self.taken = [], None, None
        self._steps, self._loose = [], []
        self._before.clear()

    def end_task(self, task_id: int) -> None:
        """Let what a task has issued stand: the task has ended well."""
        self._before.pop(task_id, None)
        for step in self._steps:
            if step.task_id == task_id:
                step.task_id = None
                self._settle(step)

    def fail_task(self, task_id: int) -> None:
        """Take back what a failed task has issued: if it is run again, it does so again."""
        self._steps = [step for step in self._steps if step.task_id != task_id]
        self._loose = [loose for loose in self._loose if loose.task_id != task_id]
        before = self._before.pop(task_id, None)
        if before is not None:
            self.chain = before
            self.due, self.at_limit = [], None

    def close(self) -> None:
        """Forget what cannot go on in another run."""
        self._loose = []
        self._before.clear()
        for step in self._steps:
            step.task_id = None
            if step.calls:
                self._settle(step)

    def count(self, step: IssuedStep) -> None:
        """Count a step that is complete."""
        # An older step without answers was overtaken, or came from another model: it is dropped.
        self._steps = self._steps[self._steps.index(step) + 1 :]
        self._remember(step.task_id)
        if step.calls:
            self._settle(step)
        outcome = step.outcomes[0]
        for other in step.outcomes:
            if other.before == self.chain:
                outcome = other
        self._adopt_step(step, outcome)
        self._counted_messages.append(step.message_id)
        self._counted_calls.append(step.ids)
        self.last = step

    def recount(self, step: IssuedStep, calls: Sequence[IssuedCall]) -> None:
        """Count the last step once more if it comes to something else with these `calls`."""
        outcome = self._outcome(step.outcomes[0].before, calls)
        if outcome.after != self.chain:
            self.at_limit = None
            self._adopt_step(step, outcome)

    def _remember(self, task_id: int | None) -> None:
        if task_id is not None:
            self._before.setdefault(task_id, self.chain)

    def _adopt_step(self, step: IssuedStep, outcome: Outcome) -> None:
        self.due = []
        self._adopt(outcome, step.message_id)
        self.at_limit = outcome.at_limit if outcome.after is not outcome.before else self.at_limit
        step.outcomes = [outcome]

    def _adopt(self, outcome: Outcome, message_id: str) -> None:
        self.chain = outcome.after
        self.due_superstep = self.superstep
        if outcome.due:
            self.due.append(DueStep(message_id, outcome.due))

    def _settle(self, step: IssuedStep) -> None:
        """Work out what a step comes to on top of the chain, and of each step that is open too."""
        bases = [self.chain]
        for other in self._steps:
            if other is step:
                break
            if other.outcomes and (after := other.outcomes[0].after) not in bases:
                bases.append(after)
        step.outcomes = [self._outcome(base, step.calls) for base in bases]
        step.calls = ()

    def _outcome(self, before: Chain, calls: Sequence[IssuedCall]) -> Outcome:
        counted = count_step(before, calls, self.rules.config)
        kept = calls if self.rules.keeps_arguments else None
        due = [Due(one, kept and kept[one.call_index].args) for one in counted.due]
        return Outcome(before, counted.chain, due, counted.at_limit)
