"""What a scan found, as plain JSON values and as rows of CSV."""

from collections.abc import Iterator
from typing import Any

from langchain_repeat_guard.core.config import RepeatGuardConfig
from langchain_repeat_guard.scanning.records import Place, RunRecord
from langchain_repeat_guard.scanning.report import Comparison, Summary, by_badness, thresholds_of

Row = list[str | int]


def scan_report(config: RepeatGuardConfig, summary: Summary) -> dict[str, Any]:
    """Return the document of a scan."""
    return {"mode": "scan", **_result(config, summary), **_problems(summary)}


def comparison_report(
    first: RepeatGuardConfig, second: RepeatGuardConfig, found: Comparison
) -> dict[str, Any]:
    """Return the document of two settings side by side."""
    return {
        "mode": "compare",
        "first": _result(first, found.first),
        "second": _result(second, found.second),
        "agents_reminded_by_both": found.both,
        "agents_reminded_by_first_only": found.only_first,
        "agents_reminded_by_second_only": found.only_second,
        "differing_runs": [
            {
                "place": _place(one.place),
                "agent": one.agent,
                "reminders_first": one.reminders,
                "reminders_second": other.reminders,
            }
            for one, other in found.differing
        ],
        **_problems(found.first),
    }


def csv_rows(results: list[tuple[str, RepeatGuardConfig, Summary]]) -> Iterator[Row]:
    """Yield a heading, and a row for each tool under each named setting."""
    numbers = sorted({n for _, config, _ in results for n in config.thresholds})
    heads: Row = [f"reminders_at_{number}" for number in numbers]
    yield ["setting", "tool", "calls", "longest", *heads, "reminders", "wasted", "resent_chars"]
    for name, _, summary in results:
        for tool, figures in by_badness(summary.tools):
            at_each: Row = [figures.reminders.get(number, 0) for number in numbers]
            yield [
                name,
                tool,
                figures.calls,
                figures.longest,
                *at_each,
                figures.reminded,
                figures.wasted,
                figures.resent_chars,
            ]


def _result(config: RepeatGuardConfig, summary: Summary) -> dict[str, Any]:
    columns = list(thresholds_of(config, summary.tools.values()))
    return {
        "config": config.model_dump(mode="json"),
        "runs": summary.runs,
        "agents": summary.agents,
        "agents_reminded": summary.agents_reminded,
        "calls": summary.calls,
        "unanswered_calls": summary.unanswered,
        "reminders": summary.reminders,
        "wasted_calls": summary.wasted,
        "resent_chars": summary.resent_chars,
        "tools": [
            {
                "tool": tool,
                "calls": figures.calls,
                "longest": figures.longest,
                "reminders": {
                    head: sum(figures.reminders.get(number, 0) for number in numbers)
                    for head, numbers in columns
                },
                "wasted_calls": figures.wasted,
                "resent_chars": figures.resent_chars,
            }
            for tool, figures in by_badness(summary.tools)
        ],
        "worst_runs": [_worst(record) for record in summary.worst],
    }


def _worst(record: RunRecord) -> dict[str, Any]:
    longest = record.longest
    return {
        "place": _place(record.place),
        "agent": record.agent,
        "calls": record.calls,
        "reminders": record.reminders,
        "wasted_calls": record.wasted,
        "resent_chars": record.resent_chars,
        "longest": (
            {"tool": longest.tool, "count": longest.count, "message": longest.message}
            if longest
            else None
        ),
    }


def _problems(summary: Summary) -> dict[str, Any]:
    return {
        "problem_count": summary.problem_count,
        "problems": [
            {"place": _place(one.place), "reason": one.reason} for one in summary.problems
        ],
    }


def _place(place: Place) -> dict[str, Any]:
    return {
        "source": place.source,
        "line": place.line,
        "run_id": place.run_id,
        "thread_id": place.thread_id,
        "namespace": place.namespace,
    }
