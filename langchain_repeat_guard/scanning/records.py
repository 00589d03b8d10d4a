"""What a scan yields: plain values without arguments or other content of the runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from langchain_repeat_guard.core.reminder import Reminder


class Place(NamedTuple):
    """Where a run was found.

    Example:
        >>> str(Place("runs.jsonl", line=7, run_id="a1"))
        'runs.jsonl:7 run a1'
    """

    source: str
    """A file, `-` for standard input, or a database address without its password."""

    line: int | None = None
    """Line of the file, from 1, where the run starts; None for a database."""

    run_id: str = ""
    """What the record calls the run; empty where it has no name for it."""

    thread_id: str = ""
    """Thread of a LangGraph checkpointer, or of a trace."""

    namespace: str = ""
    """Checkpoint namespace of a subgraph; empty for the outermost graph."""

    def __str__(self) -> str:
        """Return the place as one line, `file:line` first."""
        parts = [self.source if self.line is None else f"{self.source}:{self.line}"]
        named = (("run", self.run_id), ("thread", self.thread_id), ("namespace", self.namespace))
        parts += [f"{what} {name}" for what, name in named if name]
        return " ".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundReminder:
    """A reminder that would have stood in front of the model."""

    place: Place
    agent: str
    """Name of the agent in a run of several; empty where there is one."""

    after_message: int
    """Number of the message, from 0 in its run, behind which the reminder stands."""

    call_number: int
    """Which of the agent's counted calls earned it, from 1."""

    tool_call_id: str
    reminder: Reminder


@dataclass(slots=True, kw_only=True)
class ToolFigures:
    """What the calls of one tool came to."""

    calls: int = 0
    """Calls in complete steps, tracked or not."""

    longest: int = 0
    """The highest count that its calls came to; 0 if no call is tracked."""

    reminders: dict[int, int] = field(default_factory=dict)
    """How many reminders each threshold gave."""

    wasted: int = 0
    """Identical calls made after a reminder for them was due: what heeding it would have spared."""

    resent_chars: int = 0
    """Estimate: characters of the conversation that were sent to the model only to get them."""

    @property
    def reminded(self) -> int:
        """Reminders of all thresholds."""
        return sum(self.reminders.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Chained:
    """The call with the highest count of a run."""

    tool: str
    count: int
    message: int
    """Number of the message, from 0 in its run, that issued the last of them."""


class Totals:
    """Sums over the figures of all tools."""

    __slots__ = ()

    tools: Mapping[str, ToolFigures]

    @property
    def calls(self) -> int:
        """Calls in complete steps."""
        return sum(tool.calls for tool in self.tools.values())

    @property
    def reminders(self) -> int:
        """Reminders of all tools."""
        return sum(tool.reminded for tool in self.tools.values())

    @property
    def wasted(self) -> int:
        """Identical calls after a reminder, of all tools."""
        return sum(tool.wasted for tool in self.tools.values())

    @property
    def resent_chars(self) -> int:
        """Estimate of the characters sent for the wasted calls."""
        return sum(tool.resent_chars for tool in self.tools.values())


@dataclass(slots=True, kw_only=True)
class RunRecord(Totals):
    """What one agent did in one run. It comes behind the reminders of that run."""

    place: Place
    agent: str
    tools: Mapping[str, ToolFigures]
    """Figures of each tool."""

    longest: Chained | None
    """The tracked call with the highest count; None if there is no tracked call."""

    unanswered: int
    """Calls that do not count, because their step never got all its answers."""

    agent_number: int = 0
    """Which of the run's agents this is, from 0; a record with 0 begins a run."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that could not be read. Everything else was."""

    place: Place
    reason: str
    """What is wrong, without content of the record."""


Record = FoundReminder | RunRecord | Problem
"""What `scan` yields."""
