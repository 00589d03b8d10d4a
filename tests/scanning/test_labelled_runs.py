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
    found = {label: (runs, reminded) for label, (runs, reminded, _) in table.items()}
    assert found == {"loop": (145, 95), "ok": (34, 0), "polling": (2, 0)}


def test_counting_since_new_call_finds_more(benchmark: dict[str, Any]) -> None:
    """`since_new_call` reminds in 135 of 145 loops, in one good run and in one that polls."""
    table = benchmark["summarise"](RepeatGuardConfig(counting="since_new_call"))
    found = {label: (runs, reminded) for label, (runs, reminded, _) in table.items()}
    assert found == {"loop": (145, 135), "ok": (34, 1), "polling": (2, 1)}
