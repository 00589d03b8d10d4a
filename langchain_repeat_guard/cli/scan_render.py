"""What a scan found, for people: text that fits the terminal."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich import box
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TaskProgressColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from langchain_repeat_guard.cli.render import make_console
from langchain_repeat_guard.cli.text import plural, shown
from langchain_repeat_guard.core.config import RepeatGuardConfig
from langchain_repeat_guard.scanning.records import RunRecord, ToolFigures
from langchain_repeat_guard.scanning.report import Comparison, Summary, by_badness, thresholds_of

_MOST_TOOLS = 30
_LONG_INPUT = 16_000_000
_COMPARED = ("longest", "reminders", "wasted")


def print_summary(console: Console, config: RepeatGuardConfig, summary: Summary) -> None:
    """Print the table of tools, the totals and the worst runs."""
    columns = list(thresholds_of(config, summary.tools.values()))
    table = _table("tool", "calls", "longest", *_headings(columns), "wasted", "chars re-sent")
    for tool, figures in _most(by_badness(summary.tools)):
        table.add_row(Text(shown(tool) or "(no name)"), *_figures(figures, columns))
    console.print(table)
    hidden = len(summary.tools) - _MOST_TOOLS
    if hidden > 0:
        console.print(f"and {hidden} more tools, with --json or --csv")
    console.print()
    for line in _totals(summary):
        console.print(Text(line))
    if summary.worst:
        console.print()
        console.print(Text("Worst runs", "bold"))
        for run in summary.worst:
            console.print(Text(_worst(run)), soft_wrap=True)


def print_comparison(
    console: Console, first: RepeatGuardConfig, second: RepeatGuardConfig, found: Comparison
) -> None:
    """Print two settings side by side."""
    for name, text in zip("AB", _changed_settings(first, second), strict=True):
        console.print(Text(f"{name}: {text}"), soft_wrap=True)
    console.print()
    table = _table("tool", "calls", *(f"{head} A / B" for head in _COMPARED))
    for tool, mine in _most(by_badness(found.first.tools)):
        theirs = found.second.tools.get(tool, ToolFigures())
        pairs = zip(_sums(mine), _sums(theirs), strict=True)
        cells = [f"{mine.calls:,}", *(f"{one:,} / {two:,}" for one, two in pairs)]
        table.add_row(Text(shown(tool) or "(no name)"), *cells)
    console.print(table)
    console.print()
    for name, summary in (("A", found.first), ("B", found.second)):
        console.print(Text(f"{name}: {' '.join(_totals(summary))}"))
    console.print(
        Text(
            f"Reminded by both: {found.both:,}, by A only: {found.only_first:,}, "
            f"by B only: {found.only_second:,}."
        )
    )
    for one, other in found.differing:
        side, run = ("A", one) if one.reminders else ("B", other)
        console.print(Text(f"  {side} only: {_worst(run).strip()}"), soft_wrap=True)


@contextmanager
def progress(total: int | None) -> Iterator[Callable[[int], None]]:
    """Show a bar on a terminal while long input is read; the function takes bytes read."""
    console = make_console(stderr=True)
    if not console.is_terminal or (total is not None and total < _LONG_INPUT):
        yield lambda _count: None
        return
    columns = (BarColumn(), TaskProgressColumn(), DownloadColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=total)
        yield lambda count: bar.advance(task, count)


def _table(first: str, *others: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column(first, overflow="fold")
    for heading in others:
        table.add_column(heading, justify="right")
    return table


def _most(tools: list[tuple[str, ToolFigures]]) -> list[tuple[str, ToolFigures]]:
    return tools[:_MOST_TOOLS]


def _headings(columns: Sequence[tuple[str, Sequence[int]]]) -> list[str]:
    return [f"at {head}" if head.isdigit() else head for head, _ in columns]


def _figures(figures: ToolFigures, columns: Sequence[tuple[str, Sequence[int]]]) -> Iterator[str]:
    yield f"{figures.calls:,}"
    yield f"{figures.longest:,}"
    for _, numbers in columns:
        yield f"{sum(figures.reminders.get(number, 0) for number in numbers):,}"
    yield f"{figures.wasted:,}"
    yield f"{figures.resent_chars:,}"


def _sums(figures: ToolFigures) -> tuple[int, int, int]:
    return figures.longest, figures.reminded, figures.wasted


def _totals(summary: Summary) -> Iterator[str]:
    has_others = summary.agents != summary.runs
    agents = f" with {plural(summary.agents, 'agent')}" if has_others else ""
    yield f"{plural(summary.runs, 'run')}{agents}, {plural(summary.calls, 'call')}."
    yield (
        f"{plural(summary.reminders, 'reminder')} in {summary.agents_reminded:,} of them; "
        f"{plural(summary.wasted, 'call')} wasted after a reminder, "
        f"about {summary.resent_chars:,} characters re-sent for them."
    )
    if summary.unanswered:
        yield f"{summary.unanswered:,} calls do not count: their step has no complete answer."


def _worst(record: RunRecord) -> str:
    agent = f" agent {shown(record.agent)}" if record.agent else ""
    longest = record.longest
    chain = (
        f"{shown(longest.tool)} × {longest.count} (message {longest.message})" if longest else ""
    )
    return f"  {shown(str(record.place))}{agent}: {chain}, {record.wasted:,} wasted"


def _changed_settings(*configs: RepeatGuardConfig) -> Iterator[str]:
    """Yield each configuration, as far as one of them is not the default."""
    default = RepeatGuardConfig()
    changed = [
        name
        for name in RepeatGuardConfig.model_fields
        if any(getattr(config, name) != getattr(default, name) for config in configs)
    ]
    for config in configs:
        yield ", ".join(f"{name}={getattr(config, name)!r}" for name in changed) or "the defaults"
