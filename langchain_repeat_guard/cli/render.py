"""What the commands found, for people: text that fits the terminal."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from textwrap import fill
from typing import Any

from rich import box
from rich.console import Console, ConsoleRenderable
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from langchain_repeat_guard.cli.playback import RecordedRun
from langchain_repeat_guard.cli.report import calls_after_first_reminder
from langchain_repeat_guard.cli.text import cut, plural, shown
from langchain_repeat_guard.cli.transcript import CallRecord, LiveRun, SeenReminder, StepRecord
from langchain_repeat_guard.core.config import RepeatGuardConfig

_WIDEST = 120
_NARROWEST = 30
_NARROW = 80
_INDENT = 5
_GAP = 2
_NUMBER_WIDTH = 4
_COUNT_WIDTH = 9
_LONGEST_ANSWER = 600

_PLAYED_BACK = (
    "This recorded run is played back through a LangGraph agent with the guard in it; "
    "the reminders are what its model received."
)

_HEADINGS = ("step", "the model calls", "the tool answers", "count")
_TRY_LIVE = "See how a live model reacts: repeat-guard demo --model provider:name"


def make_console(*, stderr: bool = False) -> Console:
    """Return a console that takes text as it is, and has colours on a terminal only."""
    return Console(stderr=stderr, highlight=False, markup=False, emoji=False)


def print_introduction(console: Console, run: RecordedRun) -> None:
    """Say what is played back, and head the table of steps."""
    _print_paragraph(console, f"{run.summary} {_PLAYED_BACK}")
    console.print()
    _print_paragraph(console, f"Task: {run.task}")
    console.print()
    console.print(_row(console, *_HEADINGS, style="bold"))


def print_step(console: Console, step: StepRecord) -> None:
    """Print the calls of a step, and the reminder that the model gets before its next one."""
    for place, call in enumerate(step.calls):
        number = "" if place else str(step.step)
        console.print(_call_row(console, number, call))
    if step.reminder:
        console.print(_reminder(console, step.reminder))


def print_conclusion(
    console: Console, run: RecordedRun, config: RepeatGuardConfig, steps: Sequence[StepRecord]
) -> None:
    """Say what the steps show and what they cannot show."""
    console.print()
    _print_paragraph(console, conclusion(config, steps))
    _print_paragraph(console, _TRY_LIVE)
    source = run.source
    console.print()
    _print_paragraph(console, f"Recording: {source.name}, {source.license}, {source.copyright}.")
    console.print(Text(source.url), soft_wrap=True)


def conclusion(config: RepeatGuardConfig, steps: Sequence[StepRecord]) -> str:
    """Return what a played-back run shows, in words."""
    reminders = sum(step.reminder is not None for step in steps)
    if not reminders:
        thresholds = ", ".join(map(str, config.thresholds))
        return f"No reminder: no row of identical, tracked calls came to {thresholds}."
    later = calls_after_first_reminder(steps)
    return (
        f"{plural(reminders, 'reminder')}; {plural(later, 'call')} came after the first one. "
        "A recorded model cannot react: it repeats what it once did without the guard."
    )


def print_comparison(console: Console, model: str, task: str, runs: Sequence[LiveRun]) -> None:
    """Print what a live model did without and with the guard."""
    _print_paragraph(console, f"Model: {shown(model)}")
    _print_paragraph(console, f"Task: {task}")
    _print_paragraph(console, "Its only tool always returns the same unhelpful result.")
    console.print()
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for heading in ("", "guard off", "guard on"):
        table.add_column(heading, overflow="fold")
    for label, *cells in _comparison(runs):
        table.add_row(Text(label), *map(Text, cells))
    console.print(table)
    console.print()
    _print_paragraph(console, "One run of each: models vary, so repeat it before you conclude.")


def waiting(what: str) -> AbstractContextManager[Any]:
    """Return a context in which a terminal shows that `what` is at work; others show nothing."""
    console = make_console(stderr=True)
    return console.status(Text(what)) if console.is_terminal else nullcontext()


def short_call(tool: str, arguments: Mapping[str, Any]) -> str:
    """Return a call as one would write it in Python.

    Example:
        >>> short_call("grep", {"pattern": "TODO", "limit": 3})
        'grep(pattern="TODO", limit=3)'
    """
    written = ", ".join(
        f"{name}={json.dumps(value, ensure_ascii=False, default=str)}"
        for name, value in arguments.items()
    )
    return shown(f"{tool}({written})")


def _comparison(runs: Sequence[LiveRun]) -> Iterator[list[str]]:
    yield ["tool calls", *(str(run.calls) for run in runs)]
    yield ["identical in a row", *(str(run.longest_repeat) for run in runs)]
    yield ["reminders read", *(str(run.reminders) for run in runs)]
    yield ["ended by itself", *map(_ending, runs)]
    yield ["final answer", *(_answer(run) for run in runs)]


def _ending(run: LiveRun) -> str:
    return "yes" if run.ended_by_itself else f"no, stopped after {run.model_calls} model calls"


def _answer(run: LiveRun) -> str:
    return cut(shown(run.final_answer), _LONGEST_ANSWER) or "none"


def _call_row(console: Console, number: str, call: CallRecord) -> Text:
    count = "untracked" if call.count is None else str(call.count)
    style = "bold yellow" if call.count and call.count > 1 else ""
    asked = short_call(call.tool, call.arguments)
    return _row(console, number, asked, shown(call.result), count, count_style=style)


def _row(
    console: Console,
    number: str,
    call: str,
    result: str,
    count: str,
    *,
    style: str = "",
    count_style: str = "",
) -> Text:
    """Return one line of the table of steps.

    Laid out by hand, so that lines can appear one by one, with reminders across all columns.
    """
    cells = [Text(number.rjust(_NUMBER_WIDTH), style)]
    for width, text in zip(_wide_columns(console), (call, result), strict=False):
        cell = Text(text, style)
        cell.truncate(width, overflow="ellipsis", pad=True)
        cells.append(cell)
    cells.append(Text(count.rjust(_COUNT_WIDTH), style or count_style))
    return Text(" " * _GAP).join(cells)


def _wide_columns(console: Console) -> list[int]:
    """Return the widths for a call and for its result; a narrow terminal shows the call alone."""
    rest = _width(console) - _NUMBER_WIDTH - _COUNT_WIDTH - 2 * _GAP
    if console.width < _NARROW:
        return [rest]
    for_results = (rest - _GAP) * 2 // 5
    return [rest - _GAP - for_results, for_results]


def _reminder(console: Console, reminder: SeenReminder) -> ConsoleRenderable:
    text = Text("\n".join(map(shown, reminder.text.splitlines())))
    panel = Panel(
        text,
        title="reminder in front of the next call",
        title_align="left",
        border_style="yellow",
        width=_width(console) - _INDENT,
    )
    return Padding(panel, (0, 0, 0, _INDENT), expand=False)


def _print_paragraph(console: Console, text: str) -> None:
    """Print `text` in lines without trailing spaces, which rich would leave."""
    console.print(Text(fill(text, _width(console))))


def _width(console: Console) -> int:
    return max(_NARROWEST, min(console.width, _WIDEST))
