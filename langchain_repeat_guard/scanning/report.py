"""Records summed up: figures per tool, the worst runs, and two settings side by side."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from langchain_repeat_guard.core.config import RepeatGuardConfig
from langchain_repeat_guard.history.steps import IsUserPrompt
from langchain_repeat_guard.scanning.records import (
    Problem,
    Record,
    RunRecord,
    ToolFigures,
    Totals,
)
from langchain_repeat_guard.scanning.runs import Run
from langchain_repeat_guard.scanning.scan import scan_with_each

_PROBLEMS_KEPT = 100


@dataclass(slots=True)
class Summary(Totals):
    """What many records come to. Feed it the records of one scan, in their order.

    Example:
        >>> from langchain_repeat_guard.scanning import Run, scan
        >>> summary = Summary.of(scan([Run([{"role": "user", "content": "hi"}])]))
        >>> (summary.runs, summary.calls, summary.worst)
        (1, 0, [])
    """

    worst_runs: int = 5
    """How many of the worst runs to keep."""

    runs: int = 0
    agents: int = 0
    """Agents of all runs: at least one in each."""

    agents_reminded: int = 0
    """Those of them that would have got a reminder."""

    unanswered: int = 0
    """Calls that do not count, because their step never got all its answers."""

    tools: dict[str, ToolFigures] = field(default_factory=dict)
    worst: list[RunRecord] = field(default_factory=list)
    """The runs with the most wasted calls, the worst first. Runs without a reminder are not bad."""

    problems: list[Problem] = field(default_factory=list)
    """The first of what could not be read."""

    problem_count: int = 0

    @classmethod
    def of(cls, records: Iterable[Record], *, worst_runs: int = 5) -> "Summary":
        """Return the summary of all `records`."""
        summary = cls(worst_runs)
        for record in records:
            summary.add(record)
        return summary

    def add(self, record: Record) -> None:
        """Add one record."""
        if isinstance(record, RunRecord):
            self._add_run(record)
        elif isinstance(record, Problem):
            self.problem_count += 1
            if len(self.problems) < _PROBLEMS_KEPT:
                self.problems.append(record)

    def _add_run(self, record: RunRecord) -> None:
        self.runs += record.agent_number == 0
        self.agents += 1
        self.unanswered += record.unanswered
        for name, figures in record.tools.items():
            _merge(self.tools.setdefault(name, ToolFigures()), figures)
        if record.reminders:
            self.agents_reminded += 1
            self.worst = sorted([*self.worst, record], key=_badness)[: self.worst_runs]


@dataclass(slots=True)
class Comparison:
    """Two settings on the same runs."""

    first: Summary
    second: Summary
    only_first: int = 0
    """Agents' runs that only the first setting would have reminded."""

    only_second: int = 0
    both: int = 0
    differing: list[tuple[RunRecord, RunRecord]] = field(default_factory=list)
    """The first runs that only one of them would have reminded, as each has counted them."""


def compare(
    runs: Iterable[Run | Problem],
    first: RepeatGuardConfig,
    second: RepeatGuardConfig,
    *,
    is_user_prompt: IsUserPrompt | None = None,
    worst_runs: int = 5,
) -> Comparison:
    """Scan with two settings at once, reading the runs once.

    Args:
        runs: As for `scan`.
        first: One setting.
        second: The other.
        is_user_prompt: As for `scan`.
        worst_runs: How many of the worst and of the differing runs to keep.

    Example:
        >>> from langchain_repeat_guard.scanning import Run
        >>> compare([Run([])], RepeatGuardConfig(), RepeatGuardConfig(thresholds=(2,))).both
        0
    """
    found = Comparison(Summary(worst_runs), Summary(worst_runs))
    waiting: RunRecord | None = None
    for number, record in scan_with_each(runs, (first, second), is_user_prompt=is_user_prompt):
        (found.second if number else found.first).add(record)
        if isinstance(record, RunRecord):
            if waiting is None:
                waiting = record
            else:
                _note_difference(found, waiting, record, worst_runs)
                waiting = None
    return found


def by_badness(tools: dict[str, ToolFigures]) -> list[tuple[str, ToolFigures]]:
    """Return tools and figures, the most wasted calls first, then reminders, chains and calls."""
    return sorted(
        tools.items(),
        key=lambda item: (
            -item[1].wasted,
            -item[1].reminded,
            -item[1].longest,
            -item[1].calls,
            item[0],
        ),
    )


def thresholds_of(
    config: RepeatGuardConfig, tools: Iterable[ToolFigures]
) -> Iterator[tuple[str, Sequence[int]]]:
    """Yield columns for the reminders: each threshold of `config`, and "other" if there are any."""
    for threshold in config.thresholds:
        yield str(threshold), (threshold,)
    others = {seen for figures in tools for seen in figures.reminders} - {*config.thresholds}
    if others:
        yield "other", sorted(others)


def _note_difference(found: Comparison, one: RunRecord, other: RunRecord, keep: int) -> None:
    if one.reminders and other.reminders:
        found.both += 1
    elif one.reminders or other.reminders:
        found.only_first += bool(one.reminders)
        found.only_second += bool(other.reminders)
        if len(found.differing) < keep:
            found.differing.append((one, other))


def _badness(record: RunRecord) -> tuple[int, int]:
    return -record.wasted, -(record.longest.count if record.longest else 0)


def _merge(total: ToolFigures, more: ToolFigures) -> None:
    total.calls += more.calls
    total.longest = max(total.longest, more.longest)
    total.wasted += more.wasted
    total.resent_chars += more.resent_chars
    for threshold, count in more.reminders.items():
        total.reminders[threshold] = total.reminders.get(threshold, 0) + count
