"""What an import costs, beside the import of what this package is built on.

Run it: python tests/benchmarks/importing.py. Each import has an interpreter of its own, the best of
some counts, and that of an interpreter which imports nothing is taken off. Exits with 1 where the
package takes more than half as long again as pydantic alone.
"""

import subprocess
import sys
import time

ROUNDS = 7
MAX_RATIO = 1.5
STATEMENTS = (
    "import pydantic; pydantic.BaseModel, pydantic.field_validator",
    "import langchain_repeat_guard",
    "from langchain_repeat_guard import RepeatGuardNode",
    "import langgraph.graph, langgraph.prebuilt",
    "from langchain_repeat_guard import RepeatGuardMiddleware",
    "import langchain.agents",
)


def seconds(statement: str) -> float:
    """Return the shortest time that a fresh interpreter takes."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", statement], check=True)  # noqa: S603
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> int:
    """Print the table; return the exit code."""
    nothing = seconds("pass")
    times = {statement: seconds(statement) - nothing for statement in STATEMENTS}
    for statement, taken in times.items():
        print(f"{statement:<64}{taken:>6.2f} s")
    alone, ours, *_ = times.values()
    print(f"the package beside pydantic alone: x{ours / alone:.2f}, at most {MAX_RATIO}")
    return int(ours / alone > MAX_RATIO)


if __name__ == "__main__":
    sys.exit(main())
