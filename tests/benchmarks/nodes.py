"""What the graph nodes cost, as counted function calls and as ratios within one run.

Run it: python tests/benchmarks/nodes.py. Exits with 1 where a limit is passed.
"""

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from counting import count_calls
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

from langchain_repeat_guard import RepeatGuardNode, RepeatGuardState

MAX_CALLS_WITHOUT_CHANNEL = 150
MAX_CALLS_WITH_CHANNEL = 250
MAX_TIME_RATIO = 1.5
LENGTHS = (20, 2000)


class ChannelState(MessagesState, RepeatGuardState):
    """A state that carries the chain."""


@tool
def search(query: str) -> str:
    """Search."""
    return f"nothing about {query}"


def history(length: int, *, repeats: bool) -> list[AnyMessage]:
    """Return `length` messages of one run that end with an unanswered tool call."""
    messages: list[AnyMessage] = [HumanMessage("find it", id="h")]
    for number in range(length // 2):
        query = "same" if repeats else f"query {number}"
        call = {"name": "search", "args": {"query": query}, "id": f"call_{number}"}
        messages.append(AIMessage("", id=f"ai_{number}", tool_calls=[call]))
        messages.append(ToolMessage("nothing", id=f"t_{number}", tool_call_id=f"call_{number}"))
    return messages[:-1]


def graph(node: Any, state: type[Any] = MessagesState) -> Any:
    """Return a graph of that one node."""
    builder = StateGraph(state)
    builder.add_node("tools", node)
    builder.add_edge(START, "tools")
    return builder.compile()


def added_calls(run: Callable[[], object], bare: Callable[[], object]) -> int:
    """Return how many more function calls `run` makes: the median, as threads may wait."""
    run(), bare()  # lazy imports and caches
    return int(statistics.median(count_calls(run) - count_calls(bare) for _ in range(9)))


def time_ratio(run: Callable[[], object], bare: Callable[[], object], rounds: int = 40) -> float:
    """Return the time of `run` over that of `bare`, the median of `rounds` taken in turns."""

    def once(function: Callable[[], object]) -> float:
        start = time.perf_counter()
        function()
        return time.perf_counter() - start

    times = [(once(run), once(bare)) for _ in range(rounds)]
    return statistics.median(ours / theirs for ours, theirs in times)


def measure(state: type[Any], *, repeats: bool) -> list[tuple[int, float]]:
    """Return added calls and the time ratio of a step, for each history length."""
    results = []
    for length in LENGTHS:
        messages = history(length, repeats=repeats)
        value = {"messages": messages}
        bare = graph(ToolNode([search]), state)
        guarded = graph(RepeatGuardNode(ToolNode([search])), state)
        added = added_calls(lambda: guarded.invoke(value), lambda: bare.invoke(value))
        ratio = time_ratio(lambda: guarded.invoke(value), lambda: bare.invoke(value))
        results.append((added, ratio))
    return results


def supersteps_and_checkpoints(node: Any) -> tuple[int, int]:
    """Return how many supersteps and checkpoints a run takes."""
    builder = StateGraph(MessagesState)
    builder.add_node("tools", node)
    builder.add_edge(START, "tools")
    app = builder.compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    steps = len(list(app.stream({"messages": history(20, repeats=True)}, config)))
    return steps, len(list(app.get_state_history(config)))


def main() -> int:
    """Print the table; return the exit code."""
    failures = 0
    print(f"{'':32}" + "".join(f"calls at {n:>5}  time ratio  " for n in LENGTHS))
    for name, state, limit in (
        ("without the channel", MessagesState, MAX_CALLS_WITHOUT_CHANNEL),
        ("with the channel", ChannelState, MAX_CALLS_WITH_CHANNEL),
    ):
        for repeats in (False, True):
            results = measure(state, repeats=repeats)
            kind = "identical calls" if repeats else "distinct calls"
            cells = "".join(f"{calls:>14}  {ratio:>10.2f}  " for calls, ratio in results)
            print(f"{name + ', ' + kind:<40}{cells}")
            failures += any(calls > limit or ratio > MAX_TIME_RATIO for calls, ratio in results)
            failures += len({calls for calls, _ in results}) > 1
    bare = supersteps_and_checkpoints(ToolNode([search]))
    guarded = supersteps_and_checkpoints(RepeatGuardNode(ToolNode([search])))
    print(f"supersteps and checkpoints: bare {bare}, guarded {guarded}")
    failures += bare != guarded
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
