"""What the callback handler costs, as counted function calls beside an empty handler.

Run it: python tests/benchmarks/callback.py. Exits with 1 where a limit is passed.
"""

import asyncio
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from counting import count_calls
from empty import EmptyHandler
from helpers.models import ScriptedModel, asks, call, says
from helpers.tools import grep
from langchain.agents import create_agent
from langchain_core.messages import AIMessage

from langchain_repeat_guard import RepeatGuardCallbackHandler

MAX_CALLS_PER_STEP = 300
MAX_GROWTH = 1.05
STEPS = 30
EARLY = (10, 40)
LATE = (170, 200)
ROUNDS = 3
SHAPES = {"one call": 1, "four parallel calls": 4}

Run = Callable[[list[Any], int, int], None]


def turns(steps: int, parallel: int) -> Iterator[AIMessage]:
    """Yield distinct steps, and an answer."""
    for step in range(steps):
        yield asks(
            *[call("grep", {"pattern": f"{step}-{n}"}, f"{step}-{n}") for n in range(parallel)]
        )
    yield says("done")


def run_sync(handlers: list[Any], steps: int, parallel: int) -> None:
    """Run an agent of that many steps with `invoke`."""
    agent: Any = create_agent(ScriptedModel(script=list(turns(steps, parallel))), [grep])
    agent.invoke({"messages": "hi"}, {"callbacks": handlers, "recursion_limit": 9999})


def run_async(handlers: list[Any], steps: int, parallel: int) -> None:
    """Run it with `ainvoke`."""
    agent: Any = create_agent(ScriptedModel(script=list(turns(steps, parallel))), [grep])
    config: Any = {"callbacks": handlers, "recursion_limit": 9999}
    asyncio.run(agent.ainvoke({"messages": "hi"}, config))


def calls_of(run: Run, make: Callable[[], list[Any]], steps: int, parallel: int) -> float:
    """Return the median number of calls of a whole run."""
    return median(count_calls(lambda: run(make(), steps, parallel)) for _ in range(ROUNDS))


def added_calls(run: Run, first: int, last: int, parallel: int) -> float:
    """Return what the handler adds to an empty one, per step, between two lengths of the run."""
    added = [
        calls_of(run, lambda: [RepeatGuardCallbackHandler()], steps, parallel)
        - calls_of(run, lambda: [EmptyHandler()], steps, parallel)
        for steps in (first, last)
    ]
    return (added[1] - added[0]) / (last - first)


def time_ratio(run: Run) -> float:
    """Return the time of a run with the handler, divided by that with an empty one."""

    def best(make: Callable[[], list[Any]]) -> float:
        times = []
        for _ in range(7):
            start = time.perf_counter()
            run(make(), STEPS, 1)
            times.append(time.perf_counter() - start)
        return min(times)

    return best(lambda: [RepeatGuardCallbackHandler()]) / best(lambda: [EmptyHandler()])


def main() -> int:
    """Print the figures; return 1 if one of them passes its limit."""
    failed = False
    for name, run in (("sync", run_sync), ("async", run_async)):
        run([RepeatGuardCallbackHandler()], 2, 1)
        bare = calls_of(run, list, STEPS, 1) / STEPS
        empty = calls_of(run, lambda: [EmptyHandler()], STEPS, 1) / STEPS
        print(f"{name}: bare agent {bare:.0f} calls a step, empty handler +{empty - bare:.0f}")
        for shape, parallel in SHAPES.items():
            added = added_calls(run, 0, STEPS, parallel)
            failed |= parallel == 1 and added > MAX_CALLS_PER_STEP
            print(f"  {shape}: +{added:.0f} above the empty handler")
        early, late = added_calls(run, *EARLY, 1), added_calls(run, *LATE, 1)
        failed |= late / early > MAX_GROWTH
        print(f"  steps {EARLY}: +{early:.1f}, steps {LATE}: +{late:.1f}")
        print(f"  time beside the empty handler: x{time_ratio(run):.2f}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
