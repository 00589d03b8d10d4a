"""How fast a scan is, beside reading the same lines with `json.loads` and nothing else.

Run it: python tests/benchmarks/scan.py [FILE.jsonl ...]

Without files it makes its own: runs of OpenAI-style messages with short and with long results. Each
round times both in turn, in CPU time, and the median of their ratios counts. Exits with 1 where a
scan is slower than a third of the other.
"""

import gzip
import json
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

from langchain_repeat_guard.scanning import Summary, read_runs, scan

ROUNDS = 9
MIN_RATIO = 1 / 3
RUNS = 1500
CALLS = 12


def main() -> int:
    """Print a line for each file; return the exit code."""
    print("input              MB    calls   json.loads/s   scan calls/s   ratio")
    with tempfile.TemporaryDirectory() as folder:
        paths = list(map(Path, sys.argv[1:])) or [
            generated(Path(folder, f"{length}-chars.jsonl"), length) for length in (60, 600)
        ]
        ratios = [measure(plain(path, Path(folder))) for path in paths]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"peak memory of the process: {peak // 1024} MB")
    return int(min(ratios) < MIN_RATIO)


def measure(path: Path) -> float:
    """Print how many calls a second are parsed and are scanned; return the ratio."""
    calls = Summary.of(scan(read_runs(str(path)))).calls
    rounds = [
        (seconds(lambda: parse(path)), seconds(lambda: use_up(scan(read_runs(str(path))))))
        for _ in range(ROUNDS)
    ]
    alone, whole = (median(column) for column in zip(*rounds, strict=True))
    ratio = median(one / other for one, other in rounds)
    size = path.stat().st_size / 1e6
    print(
        f"{path.name[:16]:16} {size:>5.1f} {calls:>8,} {calls / alone:>14,.0f} "
        f"{calls / whole:>14,.0f} {ratio:>7.2f}"
    )
    return ratio


def seconds(function: Callable[[], None]) -> float:
    """Return the CPU time that `function` takes."""
    start = time.process_time()
    function()
    return time.process_time() - start


def parse(path: Path) -> None:
    """Read every line as JSON, and drop it."""
    with path.open("rb") as lines:
        for line in lines:
            json.loads(line)


def use_up(records: Iterator[Any]) -> None:
    """Ask for every record, and drop it."""
    for _ in records:
        pass


def plain(path: Path, folder: Path) -> Path:
    """Return `path`, unpacked into `folder` if it is gzip: unpacking is not what is measured."""
    if path.suffix != ".gz":
        return path
    unpacked = folder / path.stem
    unpacked.write_bytes(gzip.decompress(path.read_bytes()))
    return unpacked


def generated(path: Path, result_chars: int) -> Path:
    """Write runs whose results are about so long. One call in four repeats the one before it."""
    chance = random.Random(7)
    with path.open("w", encoding="utf-8") as file:
        for number in range(RUNS):
            run = {"run_id": str(number), "messages": [*messages(chance, result_chars)]}
            file.write(json.dumps(run) + "\n")
    return path


def messages(chance: random.Random, result_chars: int) -> Iterator[dict[str, Any]]:
    """Yield the messages of a run."""
    yield {"role": "user", "content": "Find out why the build of the web client fails."}
    arguments = ""
    for place in range(CALLS):
        if not arguments or chance.random() > 1 / 4:
            query = " ".join(chance.choices(("error", "src", "main", "test", "npm", "log"), k=4))
            arguments = json.dumps(
                {"pattern": query, "path": "web/", "limit": chance.randint(1, 50)}
            )
        name = chance.choice(("grep", "grep", "read_file", "run_tests"))
        function = {"name": name, "arguments": arguments}
        call = {"id": f"call_{place}", "type": "function", "function": function}
        yield {"role": "assistant", "content": None, "tool_calls": [call]}
        text = "x" * chance.randint(result_chars // 2, result_chars * 3 // 2)
        yield {"role": "tool", "tool_call_id": f"call_{place}", "content": text}


if __name__ == "__main__":
    sys.exit(main())
