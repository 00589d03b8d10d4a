"""How the default settings do on recorded runs that people labelled.

Run it: python tests/benchmarks/labelled_runs.py

The data (tests/data/labelled_calls.jsonl) holds calls of 181 recorded runs of many agents and
models, as digests only: no text of theirs. Each run was looked at and labelled loop, polling or ok.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from langchain_repeat_guard import Chain, RepeatGuardConfig, observe

DATA = Path(__file__).parents[1] / "data" / "labelled_calls.jsonl"


def reminder_positions(run: dict[str, Any], config: RepeatGuardConfig) -> Iterator[int]:
    """Yield the number of each call of `run` that earns a reminder, counted over the whole run."""
    number = 0
    for segment in run["segments"]:
        chain = Chain()
        for tool, arguments, _ in segment:
            number += 1
            chain, reminder = observe(chain, tool, arguments, config=config)
            if reminder:
                yield number


def summarise(config: RepeatGuardConfig) -> dict[str, tuple[int, int, int]]:
    """Return, per label, the runs, those with a reminder, and the calls after the first one."""
    table: dict[str, tuple[int, int, int]] = {}
    for line in DATA.read_text(encoding="utf-8").splitlines():
        run = json.loads(line)
        calls = sum(map(len, run["segments"]))
        first = next(reminder_positions(run, config), None)
        runs, reminded, after = table.get(run["label"], (0, 0, 0))
        later = calls - first if first else 0
        table[run["label"]] = (runs + 1, reminded + bool(first), after + later)
    return table


if __name__ == "__main__":
    print("label     runs  reminded  calls after the first reminder")
    for label, (runs, reminded, after) in sorted(summarise(RepeatGuardConfig()).items()):
        print(f"{label:8} {runs:>5} {reminded:>9} {after:>31}")
