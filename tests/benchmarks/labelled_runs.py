"""How settings do on recorded runs that people labelled, put through `scan`.

Run it: python tests/benchmarks/labelled_runs.py [FIELD=VALUE ...]

Such as thresholds=3. Without settings it shows several. Each share comes with its 95% interval:
that of runs is Wilson's, that of calls a bootstrap over runs, since the calls of one run hang
together. "First at" is the number of the call that earned the first reminder: the median, and the
quartiles. "Spared" are the calls behind a run's first reminder, had it stopped there.

The data (tests/data/labelled_calls.jsonl) holds calls of 181 recorded runs of many agents and
models, as digests only: no text of theirs. Each run was looked at and labelled loop, polling or ok.
No runs were held out: the table describes these runs and predicts nothing.
"""

import json
import math
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from typing import Any

from langchain_repeat_guard import RepeatGuardConfig
from langchain_repeat_guard.cli.config_flags import changed_config
from langchain_repeat_guard.scanning import FoundReminder, Place, Run, RunRecord, scan

DATA = Path(__file__).parents[1] / "data" / "labelled_calls.jsonl"
RESAMPLES = 2000
LABELS = ("loop", "ok", "polling")
SETTINGS = (
    (),
    ("thresholds=2",),
    ("thresholds=4",),
    ("thresholds=5",),
    ("counting=since_new_call",),
    ("counting=since_new_call", "thresholds=2"),
    ("counting=since_new_call", "thresholds=4"),
    ("counting=since_new_call", "thresholds=5"),
)


@dataclass
class Figures:
    """What a setting comes to on the runs of one label."""

    calls: list[int] = field(default_factory=list)
    """Calls of each run."""

    first_at: list[int | None] = field(default_factory=list)
    """For each run, the number of the call that earned the first reminder; None without one."""

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return len(self.calls)

    @property
    def reached(self) -> list[int]:
        """The numbers of those calls, for runs with a reminder."""
        return [first for first in self.first_at if first is not None]

    @property
    def spared(self) -> list[int]:
        """For each run, the calls behind its first reminder."""
        both = zip(self.calls, self.first_at, strict=True)
        return [0 if first is None else calls - first for calls, first in both]


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


def summarise(config: RepeatGuardConfig) -> dict[str, Figures]:
    """Return the figures for the runs of each label."""
    table: dict[str, Figures] = {}
    first: int | None = None
    for record in scan(labelled_runs(), config):
        if isinstance(record, FoundReminder) and first is None:
            first = record.call_number
        elif isinstance(record, RunRecord):
            figures = table.setdefault(record.place.source, Figures())
            figures.calls.append(record.calls)
            figures.first_at.append(first)
            first = None
    return table


def wilson(hits: int, total: int) -> tuple[float, float]:
    """Return the 95% interval of a share, by Wilson's score."""
    z = 1.959964
    share = hits / total
    middle = share + z * z / (2 * total)
    spread = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    scale = 1 + z * z / total
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


def bootstrap(parts: Sequence[int], wholes: Sequence[int]) -> tuple[float, float]:
    """Return the 95% interval of the share that `parts` are of `wholes`, run by run."""
    chance = random.Random(7)
    pairs = list(zip(parts, wholes, strict=True))
    shares = []
    for _ in range(RESAMPLES):
        drawn = chance.choices(pairs, k=len(pairs))
        shares.append(sum(part for part, _ in drawn) / sum(whole for _, whole in drawn))
    shares.sort()
    return shares[RESAMPLES // 40], shares[-RESAMPLES // 40]


def share(hits: int, total: int, interval: tuple[float, float]) -> str:
    """Return a share as text, with its interval in per cent."""
    low, high = interval
    return f"{hits}/{total} ({100 * low:.0f}–{100 * high:.0f}%)"


def quartiles(numbers: Sequence[int]) -> str:
    """Return the median of `numbers`, and the lower and the upper quartile."""
    if not numbers:
        return "-"
    if len(numbers) == 1:
        return str(numbers[0])
    low, middle, high = quantiles(numbers, n=4, method="inclusive")
    return f"{middle:.0f} ({low:.0f}–{high:.0f})"


def row(changes: Sequence[str]) -> list[str]:
    """Return the cells of one setting."""
    table = summarise(changed_config(RepeatGuardConfig(), changes))
    loops = table["loop"]
    hits = [(len(table[label].reached), table[label].runs) for label in LABELS]
    found = [share(*one, wilson(*one)) for one in hits]
    interval = bootstrap(loops.spared, loops.calls)
    spared = share(sum(loops.spared), sum(loops.calls), interval)
    return [" ".join(changes) or "default", *found, quartiles(loops.reached), spared]


def main() -> None:
    """Print a Markdown table."""
    settings = [sys.argv[1:]] if sys.argv[1:] else SETTINGS
    head = ["settings", "loops found", "ok flagged", "polling flagged"]
    print_row([*head, "first at call", "calls of loops spared"])
    print_row(["---"] * (len(head) + 2))
    for changes in settings:
        print_row(row(changes))


def print_row(cells: Sequence[str]) -> None:
    """Print a line of the table."""
    print(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
