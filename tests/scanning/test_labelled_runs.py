"""The verdicts on the labelled runs that the README reports."""

import runpy
from pathlib import Path
from typing import Any

import pytest

from langchain_repeat_guard import RepeatGuardConfig

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "labelled_runs.py"


@pytest.fixture(scope="module")
def benchmark() -> dict[str, Any]:
    """Return what the benchmark script defines."""
    return runpy.run_path(str(SCRIPT))


def test_defaults_find_loops_and_leave_good_runs_alone(benchmark: dict[str, Any]) -> None:
    """The defaults remind in 95 of 145 loops, in no good run, and in no run that polls."""
    table = benchmark["summarise"](RepeatGuardConfig())
    found = {label: (one.runs, len(one.reached)) for label, one in table.items()}
    assert found == {"loop": (145, 95), "ok": (34, 0), "polling": (2, 0)}


def test_counting_since_new_call_finds_more(benchmark: dict[str, Any]) -> None:
    """`since_new_call` reminds in 135 of 145 loops, in one good run and in one that polls."""
    table = benchmark["summarise"](RepeatGuardConfig(counting="since_new_call"))
    found = {label: (one.runs, len(one.reached)) for label, one in table.items()}
    assert found == {"loop": (145, 135), "ok": (34, 1), "polling": (2, 1)}


def test_a_row_of_the_table(benchmark: dict[str, Any]) -> None:
    """Shares of runs with Wilson's interval, of calls with a bootstrap's; both are reproducible."""
    assert benchmark["row"](["thresholds=3"])[:5] == [
        "thresholds=3",
        "95/145 (57–73%)",
        "0/34 (0–10%)",
        "0/2 (0–66%)",
        "5 (3–11)",
    ]
    assert benchmark["row"](["thresholds=3"]) == benchmark["row"](["thresholds=3"])


@pytest.mark.parametrize(
    ("hits", "total", "low", "high"),
    [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1.0)],
)
def test_wilson_interval(
    benchmark: dict[str, Any], hits: int, total: int, low: float, high: float
) -> None:
    """The values that statistics books give."""
    assert benchmark["wilson"](hits, total) == pytest.approx((low, high), abs=1e-4)
