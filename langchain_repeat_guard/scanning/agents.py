"""The agents of one run while it is read: their chains, and what their calls come to."""

from collections.abc import Iterator, Sequence

from langchain_repeat_guard.core.config import RepeatGuardConfig
from langchain_repeat_guard.core.reminder import Reminder
from langchain_repeat_guard.history.calls import IssuedCall
from langchain_repeat_guard.history.replay import Replay
from langchain_repeat_guard.scanning.formats.messages import Reading
from langchain_repeat_guard.scanning.records import (
    Chained,
    FoundReminder,
    Place,
    RunRecord,
    ToolFigures,
)


class RunScan:
    """Feeds the messages of one run to the agents that they belong to."""

    def __init__(self, place: Place, config: RepeatGuardConfig) -> None:
        """Start a run found at `place`."""
        self._place = place
        self._config = config
        self._agents: dict[str, _AgentScan] = {}
        self._shared_chars = 0
        self._last_caller = ""

    def take(self, index: int, message: Reading) -> Sequence[FoundReminder]:
        """Read message number `index`, and return the reminders that are due behind it."""
        kind = message.kind
        name = message.agent
        if not name:
            if kind == "answer":
                name = self._last_caller
            elif kind == "prompt" or kind == "note":  # noqa: PLR1714  quicker than a set
                self._for_all(message)
                return ()
        agent = self._agents.get(name) or self._add(name)
        if kind == "answer":
            return agent.take_answer(index, message)
        if kind == "calls":
            if len(self._agents) > 1:
                self._enter(agent)
            self._last_caller = name
            agent.take_calls(index, message)
        elif kind == "prompt":
            agent.replay.on_prompt(message.id)
        elif kind == "closing":
            agent.replay.on_closing()
        agent.chars += message.chars
        return ()

    def finish(self) -> Iterator[RunRecord]:
        """Yield what each agent did; at least one record."""
        for agent in (self._agents or {"": self._add("")}).values():
            yield agent.record()

    def _for_all(self, message: Reading) -> None:
        """Read a prompt or note that names no agent: every agent of the run reads it."""
        self._shared_chars += message.chars
        for agent in self._agents.values():
            agent.chars += message.chars
            if message.kind == "prompt":
                agent.replay.on_prompt(message.id)

    def _enter(self, agent: "_AgentScan") -> None:
        """Start `agent` anew if another one waits for it and has not done so before.

        An agent that another one calls is a visit of its own, however often it is called.
        """
        for other in self._agents.values():
            if other is not agent and other.replay.is_waiting:
                if agent.works_for != other.issued_at:
                    agent.works_for = other.issued_at
                    agent.replay.on_prompt()
                return

    def _add(self, name: str) -> "_AgentScan":
        agent = _AgentScan(self._place, name, self._config, self._shared_chars)
        self._agents[name] = agent
        return agent


class _AgentScan:
    """One agent's chain and figures."""

    __slots__ = (
        "_calls_counted",
        "_longest",
        "_place",
        "_reminded",
        "_sent_chars",
        "_tools",
        "_unanswered",
        "chars",
        "issued_at",
        "name",
        "replay",
        "works_for",
    )

    def __init__(self, place: Place, name: str, config: RepeatGuardConfig, chars: int) -> None:
        self._place = place
        self.name = name
        self.replay = Replay(config)
        self.chars = chars
        self.issued_at = 0
        self.works_for: int | None = None
        self._sent_chars = 0
        self._calls_counted = 0
        self._unanswered = 0
        self._longest: Chained | None = None
        self._tools: dict[str, ToolFigures] = {}
        # Tools whose current row of identical calls has earned a reminder.
        self._reminded: set[str] = set()

    def take_calls(self, index: int, message: Reading) -> None:
        self.issued_at = index
        self._sent_chars = self.chars
        self._unanswered += len(message.calls)
        self.replay.on_calls(message.calls, message.id)

    def take_answer(self, index: int, message: Reading) -> Sequence[FoundReminder]:
        self.chars += message.chars
        counted = self.replay.on_answer(message.id)
        if not counted:
            return ()
        self._unanswered -= len(counted)
        found: list[FoundReminder] = []
        wasted = 0
        for call, count, reminder in counted:
            self._calls_counted += 1
            name = call.name
            figures = self._tools.get(name)
            if figures is None:
                figures = self._tools[name] = ToolFigures()
            figures.calls += 1
            if count > figures.longest:
                self._lengthen(figures, name, count)
            if count > 1:
                wasted += self._is_wasted(figures, name)
            elif count:
                self._reminded.discard(name)
            if reminder:
                found.append(self._remind(figures, index, call, reminder))
        if wasted == len(counted):
            self._tools[counted[0].call.name].resent_chars += self._sent_chars
        return found

    def record(self) -> RunRecord:
        return RunRecord(
            place=self._place,
            agent=self.name,
            tools=self._tools,
            longest=self._longest,
            unanswered=self._unanswered,
        )

    def _lengthen(self, figures: ToolFigures, name: str, count: int) -> None:
        figures.longest = count
        if self._longest is None or count > self._longest.count:
            self._longest = Chained(tool=name, count=count, message=self.issued_at)

    def _is_wasted(self, figures: ToolFigures, name: str) -> bool:
        """Tell whether this repeat came after a reminder was due, and note it."""
        is_wasted = name in self._reminded
        figures.wasted += is_wasted
        return is_wasted

    def _remind(
        self, figures: ToolFigures, index: int, call: IssuedCall, reminder: Reminder
    ) -> FoundReminder:
        threshold = reminder.threshold
        figures.reminders[threshold] = figures.reminders.get(threshold, 0) + 1
        self._reminded.add(call.name)
        return FoundReminder(
            place=self._place,
            agent=self.name,
            after_message=index,
            call_number=self._calls_counted,
            tool_call_id=call.id,
            reminder=reminder,
        )
