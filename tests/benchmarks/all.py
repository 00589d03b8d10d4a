"""Every cost of the guard, measured anew, one benchmark after the other.

Run it: python tests/benchmarks/all.py. Exits with 1 where a limit is passed. Takes some minutes, on
a machine that does nothing else.
"""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
BENCHMARKS = ("observe", "nodes", "middleware", "callback", "memory", "scan", "importing")


def main() -> int:
    """Run all; return the exit code."""
    missed = []
    for name in BENCHMARKS:
        print(f"\n== {name}", flush=True)
        done = subprocess.run([sys.executable, HERE / f"{name}.py"], check=False)  # noqa: S603
        if done.returncode:
            missed.append(name)
    print(f"\nbeyond a limit: {', '.join(missed) or 'nothing'}")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
