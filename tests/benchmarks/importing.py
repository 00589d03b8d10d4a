"""What an import costs, beside the import of what this package is built on.

Run it: python tests/benchmarks/importing.py. Each import has an interpreter of its own, whose own
time is taken off; rounds are taken in turns, and their median counts. Exits with 1 where the
package takes twice as long as pydantic alone.
"""

import os
import statistics
import subprocess
import sys

ROUNDS = 7
MAX_RATIO = 2.0
STATEMENTS = (
    "import pydantic; pydantic.BaseModel, pydantic.field_validator",
    "import langchain_repeat_guard",
    "from langchain_repeat_guard import RepeatGuardNode",
    "import langgraph.graph, langgraph.prebuilt",
    "from langchain_repeat_guard import RepeatGuardMiddleware",
    "import langchain.agents",
)


def seconds(statement: str) -> float:
    """Return the processor time that a fresh interpreter takes."""
    before = children_seconds()
    subprocess.run([sys.executable, "-c", statement], check=True)  # noqa: S603
    return children_seconds() - before


def children_seconds() -> float:
    """Return the processor time of all interpreters so far."""
    times = os.times()
    return times.children_user + times.children_system


def main() -> int:
    """Print the table; return the exit code."""
    for statement in STATEMENTS:
        seconds(statement)  # from here on, the files are in the system's cache
    rounds = [[seconds("pass"), *map(seconds, STATEMENTS)] for _ in range(ROUNDS)]
    own = [[taken - nothing for taken in times] for nothing, *times in rounds]
    times = dict(zip(STATEMENTS, map(statistics.median, zip(*own, strict=True)), strict=True))
    for statement, taken in times.items():
        print(f"{statement:<64}{taken:>6.2f} s")
    alone, ours, *_ = times.values()
    print(f"the package beside pydantic alone: x{ours / alone:.2f}, at most {MAX_RATIO}")
    return int(ours / alone > MAX_RATIO)


if __name__ == "__main__":
    sys.exit(main())
