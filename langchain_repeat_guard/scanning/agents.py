"""The agents of one run while it is read: their chains, and what their calls come to."""

from collections.abc import Iterator, Sequence

from langchain_repeat_guard.core.reminder import Reminder
from langchain_repeat_guard.history.calls import IssuedCall
from langchain_repeat_guard.history.replay import Replay, ReplaySettings
from langchain_repeat_guard.scanning.formats.messages import Kind, Parts
from langchain_repeat_guard.scanning.records import (
    Chained,
    FoundReminder,
    Place,
    RunRecord,
    ToolFigures,
)


class RunScan:
    """Feeds the messages of one run to the agents that they belong to."""

    def __init__(self, place: Place, settings: ReplaySettings) -> None:
        """Start a run found at `place`."""
        self._place = place
        self._settings = settings
        self.own_texts: tuple[str, ...] = settings.config.own_texts
        self._agents: dict[str, _AgentScan] = {}
        self._shared_chars = 0
        self._last_caller = ""

    def take(self, index: int, message: Parts) -> Sequence[FoundReminder]:
        """Read message number `index`, and return the reminders that are due behind it."""
        kind, calls, message_id, chars, name = message
        if kind == "answer":
            agent = self._agents.get(name or self._last_caller)
            return agent.take_answer(index, message_id, chars) if agent else ()
        if not name and (kind == "prompt" or kind == "note"):  # noqa: PLR1714  quicker than a set
            self._for_all(kind, message_id, chars)
            return ()
        agent = self._agents.get(name) or self._add(name)
        if kind == "calls":
            if len(self._agents) > 1:
                self._enter(agent)
            self._last_caller = name
            agent.take_calls(index, calls, message_id)
        elif kind == "prompt":
            agent.replay.on_prompt(message_id)
        elif kind == "closing":
            agent.replay.on_closing()
        agent.chars += chars
        return ()

    def finish(self) -> Iterator[RunRecord]:
        """Yield what each agent did; at least one record."""
        agents = (self._agents or {"": self._add("")}).values()
        for number, agent in enumerate(agents):
            yield agent.record(number)

    def _for_all(self, kind: Kind, message_id: str, chars: int) -> None:
        """Read a prompt or note that names no agent: every agent of the run reads it."""
        self._shared_chars += chars
        for agent in self._agents.values():
            agent.chars += chars
            if kind == "prompt":
                agent.replay.on_prompt(message_id)

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
        agent = _AgentScan(self._place, name, Replay(self._settings))
        agent.chars = self._shared_chars
        self._agents[name] = agent
        return agent


class _AgentScan:
    """One agent's chain and figures."""

    __slots__ = (
        "_calls_counted",
        "_longest",
        "_longest_at",
        "_longest_tool",
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

    def __init__(self, place: Place, name: str, replay: Replay) -> None:
        self._place = place
        self.name = name
        self.replay = replay
        self.chars = 0
        self.issued_at = 0
        self.works_for: int | None = None
        self._sent_chars = 0
        self._calls_counted = 0
        self._unanswered = 0
        self._longest = 0
        self._longest_at = 0
        self._longest_tool = ""
        self._tools: dict[str, ToolFigures] = {}
        # Tools whose current row of identical calls has earned a reminder.
        self._reminded: set[str] = set()

    def take_calls(self, index: int, calls: Sequence[IssuedCall], message_id: str) -> None:
        self.issued_at = index
        self._sent_chars = self.chars
        self._unanswered += len(calls)
        self.replay.on_calls(calls, message_id)

    def take_answer(self, index: int, call_id: str, chars: int) -> Sequence[FoundReminder]:
        self.chars += chars
        counted = self.replay.on_answer(call_id)
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
                figures.longest = count
                if count > self._longest:
                    self._longest = count
                    self._longest_at = self.issued_at
                    self._longest_tool = name
            if count > 1:
                wasted += self._is_wasted(figures, name)
            elif count and self._reminded:
                self._reminded.discard(name)
            if reminder:
                found.append(self._remind(figures, index, call, reminder))
        if wasted == len(counted):
            self._tools[counted[0][0].name].resent_chars += self._sent_chars
        return found

    def record(self, number: int) -> RunRecord:
        longest = Chained(tool=self._longest_tool, count=self._longest, message=self._longest_at)
        return RunRecord(
            place=self._place,
            agent=self.name,
            tools=self._tools,
            longest=longest if self._longest else None,
            unanswered=self._unanswered,
            agent_number=number,
        )

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
