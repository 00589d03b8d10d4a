"""What one call of `observe` costs, as ratios within one run.

Time is compared with hashing the arguments as JSON, memory with the size of the argument's text.
Run it: python tests/benchmarks/observe.py. Exits with 1 where a limit is passed.
"""

import hashlib
import json
import statistics
import sys
import time
import timeit
import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any

from langchain_repeat_guard import Chain, RepeatGuardConfig, observe

CONFIG = RepeatGuardConfig()
MAX_COPIES = 3.0
SECONDS_PER_ROUND = 0.005
ROUNDS = 60

LINE = "def handler(request):  # one of many lines\n"
CALL = {"path": "src/app/main.py", "pattern": "def handler", "limit": 10, "recursive": True}

TIMES: list[tuple[str, Any, float]] = [
    ("200 bytes", {**CALL, "tags": ["a", "b"], "note": "x" * 90}, 3.0),
    ("200 bytes with floats", {**CALL, "box": [12.5, 48.0, 3.25], "note": "x" * 90}, 3.0),
    ("24 KB in one string", {"content": LINE * 560}, 1.5),
    ("24 KB in one string, not ASCII", {"content": "Zeile f\u00fcr Zeile\n" * 1_500}, 1.5),
    ("2,000 leaves", {f"key {n}": n for n in range(2_000)}, 3.0),
    (
        "2,000 leaves of all kinds",
        {f"key {n}": [n, f"s{n}", None, True][n % 4] for n in range(2_000)},
        3.0,
    ),
    ("2,000 leaves, nested", {f"key {n}": [{"a": n, "b": "x"}] * 10 for n in range(100)}, 3.0),
    ("2,000 leaves, deep", [[{"a": {"b": [n, "x"]}, "c": [n, n]}] for n in range(500)], 3.0),
    ("2,000 floats", {f"key {n}": n * 1.37 for n in range(2_000)}, 3.0),
    ("2,000 floats, a small one among them", [1e-7, *(n / 7 for n in range(2_000))], 3.0),
]

TEXTS = [
    ("ASCII", LINE * 100_000),
    ("Latin", "Zeile f\u00fcr Zeile\n" * 250_000),
    ("Chinese", "\u6771\u4eac" * 1_000_000),
    ("emoji", "\U0001f600!" * 500_000),
]


def guard(arguments: object) -> object:
    """Observe a call."""
    return observe(Chain(), "tool", arguments, config=CONFIG)


def plain_hash(arguments: object) -> object:
    """Hash a call, as the shortest code that does so."""
    return hashlib.sha256(json.dumps(arguments, sort_keys=True).encode())


def time_ratio(arguments: object) -> float:
    """Return how many times as long the guard takes as a plain hash, in the usual round."""
    # Processor time, as other programs on the machine do not count.
    timers = [
        timeit.Timer(partial(run, arguments), timer=time.process_time)
        for run in (guard, plain_hash)
    ]
    number = max(1, int(SECONDS_PER_ROUND / (timers[1].timeit(100) / 100)))
    # Rounds alternate, so that both meet the same neighbours on a busy machine.
    rounds = [[timer.timeit(number) for timer in timers] for _ in range(ROUNDS)]
    return statistics.median(ours / theirs for ours, theirs in rounds)


def copies(text: str, arguments: object) -> float:
    """Return the peak of memory that the guard takes, in sizes of `text` in memory."""
    return peak(lambda: guard(arguments)) / sys.getsizeof(text)


def peak(run: Callable[[], object]) -> int:
    """Return the peak of memory that `run` allocates, in bytes."""
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def main() -> int:
    """Print the table; return the exit code."""
    results = [(name, "times", time_ratio(arguments), limit) for name, arguments, limit in TIMES]
    for name, text in TEXTS:
        size = f"{len(text) / 1e6:.1f} million characters, {name}"
        results.append((size, "copies", copies(text, {"content": text}), MAX_COPIES))
        results.append((f"{size}, raw string", "copies", copies(text, text), MAX_COPIES))
    for name, unit, ratio, limit in results:
        verdict = "" if ratio <= limit else "  TOO MUCH"
        print(f"{name:<48}{ratio:>6.2f} {unit:<7}at most {limit}{verdict}")
    return int(any(ratio > limit for _, _, ratio, limit in results))


if __name__ == "__main__":
    sys.exit(main())
