"""How settings do on recorded runs that people labelled, put through `scan`.

Run it: python tests/benchmarks/labelled_runs.py [FIELD=VALUE ...]

Such as thresholds=3. Without settings it shows the defaults.

The data (tests/data/labelled_calls.jsonl) holds calls of 181 recorded runs of many agents and
models, as digests only: no text of theirs. Each run was looked at and labelled loop, polling or ok.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from langchain_repeat_guard import RepeatGuardConfig
from langchain_repeat_guard.cli.config_flags import changed_config
from langchain_repeat_guard.scanning import FoundReminder, Place, Run, RunRecord, scan

DATA = Path(__file__).parents[1] / "data" / "labelled_calls.jsonl"


def labelled_runs() -> Iterator[Run]:
    """Yield the runs, each with its label as the source of its place."""
    for number, line in enumerate(DATA.read_text(encoding="utf-8").splitlines(), 1):
        run = json.loads(line)
        yield Run(list(messages_of(run["segments"])), Place(run["label"], number, run["run_id"]))


def messages_of(segments: list[list[list[str]]]) -> Iterator[dict[str, Any]]:
    """Yield OpenAI-style messages: a prompt for each segment, a step for each call."""
    for segment in segments:
        yield {"role": "user", "content": ""}
        for tool, arguments, _ in segment:
            function = {"name": tool, "arguments": arguments}
            yield {"role": "assistant", "tool_calls": [{"id": "c", "function": function}]}
            yield {"role": "tool", "tool_call_id": "c", "content": ""}


def summarise(config: RepeatGuardConfig) -> dict[str, tuple[int, int, int]]:
    """Return, per label, the runs, those with a reminder, and the calls after the first one."""
    table: dict[str, tuple[int, int, int]] = {}
    first: int | None = None
    for record in scan(labelled_runs(), config):
        if isinstance(record, FoundReminder) and first is None:
            first = record.call_number
        elif isinstance(record, RunRecord):
            runs, reminded, after = table.get(record.place.source, (0, 0, 0))
            later = 0 if first is None else record.calls - first
            table[record.place.source] = (runs + 1, reminded + (first is not None), after + later)
            first = None
    return table


if __name__ == "__main__":
    print("label     runs  reminded  calls after the first reminder")
    for label, (runs, reminded, after) in sorted(
        summarise(changed_config(RepeatGuardConfig(), sys.argv[1:])).items()
    ):
        print(f"{label:8} {runs:>5} {reminded:>9} {after:>31}")
