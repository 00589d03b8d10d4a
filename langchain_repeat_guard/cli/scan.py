"""The command `repeat-guard scan`. Whatever is slow to import is imported inside it."""
# ruff: noqa: PLC0415  LangChain takes seconds to load, and --help needs none of it

import csv
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from langchain_repeat_guard.cli.config_flags import changed_config, with_config_flags
from langchain_repeat_guard.cli.options import number_flag
from langchain_repeat_guard.cli.output import print_json, say
from langchain_repeat_guard.core.config import RepeatGuardConfig
from langchain_repeat_guard.errors import MissingExtraError

if TYPE_CHECKING:
    from langchain_repeat_guard.scanning.report import Summary

TOO_MANY_REMINDERS = 1
USAGE = 2
_PROBLEMS_SHOWN = 20


@with_config_flags
def scan_command(
    *,
    config: RepeatGuardConfig,
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH...",
            help="Files, directories, - for standard input, or postgresql://USER@HOST/DATABASE.",
            show_default=False,
        ),
    ],
    compare: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FIELD=VALUE",
            help="Compare with a second setting that differs in this; can be repeated. "
            "Such as thresholds=2,4.",
        ),
    ] = None,
    fail_on: Annotated[
        str | None,
        typer.Option(metavar="N", help="Exit with code 1 if at least N reminders would fall."),
    ] = None,
    worst: Annotated[str, typer.Option(metavar="N", help="Show so many of the worst runs.")] = "5",
    messages_key: Annotated[
        str, typer.Option(metavar="CHANNEL", help="Channel of a checkpointer with the messages.")
    ] = "messages",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document and nothing else.")
    ] = False,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print the table of tools as CSV and nothing else.")
    ] = False,
) -> None:
    """Show where reminders would have fallen in recorded runs. Reads, and changes nothing.

    PATH holds JSON or JSON Lines of OpenAI-style messages, of LangChain's messages or of
    LangSmith's runs, or an SQLite file of a LangGraph checkpointer; also packed with gzip, also
    whole directories.
    """
    _check_paths(paths)
    if as_json and as_csv:
        message = "cannot be combined with --json"
        raise typer.BadParameter(message, param_hint="--csv")
    second = changed_config(config, compare) if compare else None
    limit = None if fail_on is None else number_flag(fail_on, "--fail-on")
    keep = number_flag(worst, "--worst", smallest=0)
    try:
        summary = _scan(paths, config, second, keep, messages_key, as_json=as_json, as_csv=as_csv)
    except MissingExtraError as error:
        say(str(error))
        raise typer.Exit(USAGE) from error
    _print_problems(summary)
    if not summary.runs:
        if not summary.problem_count:
            say(f"no run in {', '.join(paths)}")
        raise typer.Exit(USAGE)
    if limit is not None and summary.reminders >= limit:
        raise typer.Exit(TOO_MANY_REMINDERS)


def _scan(
    paths: Sequence[str],
    config: RepeatGuardConfig,
    second: RepeatGuardConfig | None,
    worst: int,
    messages_key: str,
    *,
    as_json: bool,
    as_csv: bool,
) -> "Summary":
    """Scan, print what was found, and return the summary under `config`."""
    from langchain_repeat_guard.cli import scan_render, scan_report
    from langchain_repeat_guard.cli.render import make_console
    from langchain_repeat_guard.scanning import Comparison, Summary, compare, read_runs, scan
    from langchain_repeat_guard.scanning.read import total_bytes

    found: Comparison | None = None
    with scan_render.progress(total_bytes(paths)) as on_bytes:
        runs = read_runs(paths, messages_key=messages_key, on_bytes=on_bytes)
        if second is None:
            summary = Summary.of(scan(runs, config), worst_runs=worst)
        else:
            found = compare(runs, config, second, worst_runs=worst)
            summary = found.first
    if as_csv:
        results = [("first", config, summary)]
        if found and second:
            results.append(("second", second, found.second))
        csv.writer(sys.stdout, lineterminator="\n").writerows(scan_report.csv_rows(results))
    elif found and second:
        if as_json:
            print_json(scan_report.comparison_report(config, second, found))
        else:
            scan_render.print_comparison(make_console(), config, second, found)
    elif as_json:
        print_json(scan_report.scan_report(config, summary))
    else:
        scan_render.print_summary(make_console(), config, summary)
    return summary


def _check_paths(paths: Sequence[str]) -> None:
    for path in paths:
        is_file = "://" not in path and path != "-"
        if is_file and not Path(path).exists():
            message = f"there is no {path!r}"
            raise typer.BadParameter(message, param_hint="PATH")


def _print_problems(summary: "Summary") -> None:
    for problem in summary.problems[:_PROBLEMS_SHOWN]:
        say(f"{problem.place}: {problem.reason}")
    more = summary.problem_count - _PROBLEMS_SHOWN
    if more > 0:
        say(f"and {more} more that could not be read")
