"""What the middlewares cost per agent step, as counted function calls.

Run it: python tests/benchmarks/middleware.py. Exits with 1 where a limit is passed. Counts are
Python and C function calls on all threads, so that a noisy machine does not matter.
"""

import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from counting import count_calls
from empty import EmptyBeforeModel, EmptyWrapModelCall
from helpers.models import ScriptedModel, asks, call, says
from langchain.agents import create_agent
from langchain_core.messages import AnyMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from langchain_repeat_guard import (
    RepeatGuardMiddleware,
    TransientRepeatGuardMiddleware,
)

STEPS = 30
MAX_ADDED_CALLS = 180
MAX_GROWTH = 1.05
LATE = 950
WINDOW = 50


KINDS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "before_model": (EmptyBeforeModel, RepeatGuardMiddleware),
    "wrap_model_call": (EmptyWrapModelCall, TransientRepeatGuardMiddleware),
}


@tool
def search(query: str) -> str:
    """Search."""
    return "nothing"


def past(steps: int) -> list[AnyMessage]:
    """Return the messages of `steps` distinct steps of one run."""
    messages: list[AnyMessage] = [HumanMessage("find it", id="h")]
    for number in range(steps):
        one = call("search", {"query": f"old {number}"}, f"old_{number}")
        messages.append(asks(one, id=f"a_{number}"))
        messages.append(ToolMessage("nothing", id=f"t_{number}", tool_call_id=f"old_{number}"))
    return messages


def prepare(
    middleware: Sequence[Any], *, steps: int, before: int, has_saver: bool
) -> Callable[[], object]:
    """Return a run of `steps` distinct steps on top of a history of `before` steps."""
    script = [asks(call("search", {"query": str(number)})) for number in range(steps)]
    model = ScriptedModel(script=[*script, says("done")])
    saver = InMemorySaver() if has_saver else None
    agent: Any = create_agent(model, [search], middleware=middleware, checkpointer=saver)
    history = past(before)
    return lambda: agent.invoke({"messages": history}, {"configurable": {"thread_id": "1"}})


def per_step(
    middleware: Sequence[Any], *, steps: int = STEPS, before: int = 0, has_saver: bool
) -> float:
    """Return the calls of one step, once every lazy import and cache is warm.

    The median of some runs, as threads may have to wait for each other.
    """
    prepare(middleware, steps=2, before=0, has_saver=has_saver)()
    runs = [prepare(middleware, steps=steps, before=before, has_saver=has_saver) for _ in range(5)]
    return statistics.median(map(count_calls, runs)) / steps


def seconds(middleware: Sequence[Any]) -> float:
    """Return the seconds of the fastest of five runs."""

    def once() -> float:
        run = prepare(middleware, steps=STEPS, before=0, has_saver=False)
        start = time.perf_counter()
        run()
        return time.perf_counter() - start

    return min(once() for _ in range(5))


def compare(kind: str, *, has_saver: bool) -> float:
    """Print one row; return how many calls a step costs above the empty hook."""
    empty, guard = KINDS[kind]
    bare = per_step([], has_saver=has_saver)
    hooked = per_step([empty()], has_saver=has_saver)
    guarded = per_step([guard()], has_saver=has_saver)
    ratio = seconds([guard()]) / seconds([empty()])
    name = f"{kind}{', InMemorySaver' if has_saver else ''}"
    print(f"{name:34}{bare:>9.0f}{hooked - bare:>14.0f}{guarded - hooked:>13.0f}{ratio:>12.2f}")
    return guarded - hooked


def growth(kind: str, *, has_saver: bool) -> float:
    """Print one row; return added calls late in a long history, relative to early ones."""
    empty, guard = KINDS[kind]

    def added(before: int) -> float:
        options: dict[str, Any] = {"steps": WINDOW, "before": before, "has_saver": has_saver}
        return per_step([guard()], **options) - per_step([empty()], **options)

    early, late = added(0), added(LATE)
    name = f"{kind}{', InMemorySaver' if has_saver else ''}"
    print(f"{name:34}{early:>9.0f}{late:>14.0f}{late / early:>13.3f}")
    return late / early


def main() -> int:
    """Print the tables; return the exit code."""
    cases = [(kind, has_saver) for kind in KINDS for has_saver in (False, True)]
    print(f"{'calls per step':34}{'bare':>9}{'empty hook':>14}{'our part':>13}{'time ratio':>12}")
    added = [compare(kind, has_saver=has_saver) for kind, has_saver in cases]
    print(f"\n{'our part':34}{'1..50':>9}{'951..1000':>14}{'growth':>13}")
    grown = [growth(kind, has_saver=has_saver) for kind, has_saver in cases]
    return int(max(added) > MAX_ADDED_CALLS or max(grown) > MAX_GROWTH)


if __name__ == "__main__":
    sys.exit(main())
