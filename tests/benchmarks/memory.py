"""What the guard keeps in memory and in checkpoints, per agent at work and per agent at rest.

Run it: python tests/benchmarks/memory.py. Exits with 1 where a limit is passed. Allocations are
counted by tracemalloc, as the difference to the same agents with an empty handler or middleware.
"""

import asyncio
import gc
import json
import sys
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from empty import EmptyBeforeModel, EmptyHandler, EmptyWrapModelCall
from helpers.models import ScriptedModel, asks, call, says
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.prebuilt import ToolNode
from langgraph.types import interrupt

from langchain_repeat_guard import (
    RepeatGuardCallbackHandler,
    RepeatGuardMiddleware,
    RepeatGuardNode,
    RepeatReminderNode,
    TransientRepeatGuardMiddleware,
)

AGENTS = 50
OBJECTS = 500
STEPS = 8
MAX_BYTES = {"attached": 8_000, "at work": 16_000, "interrupted": 8_000}
MAX_CHANNEL_BYTES = 600


INNER = ToolNode([])


@dataclass
class Held:
    """Bytes that are allocated while all agents are at work, and once they have stopped."""

    at_work: int
    after: int


def turn(messages: list[BaseMessage]) -> AIMessage:
    """Make distinct calls, then one that holds, then answer."""
    step = sum(isinstance(message, AIMessage) for message in messages)
    if step > STEPS:
        return says("done", id=f"a{step}")
    name = "search" if step < STEPS else "hold"
    arguments = {"query": f"distinct {step}"} if step < STEPS else {}
    return asks(call(name, arguments, f"call_{step}"), id=f"a{step}")


@tool
async def search(query: str) -> str:
    """Search."""
    return f"nothing about {query}"


async def hold_all(middleware: list[Any], handlers: list[Any], *, interrupts: bool) -> Held:
    """Run many agents at once, and measure while each of them is in its last tool."""
    gate, all_arrived = asyncio.Event(), asyncio.Event()
    arrived = 0

    @tool
    async def hold() -> str:
        """Wait for the others."""
        nonlocal arrived
        arrived += 1
        if arrived == AGENTS:
            all_arrived.set()
        await gate.wait()
        return str(interrupt("go on?")) if interrupts else "went on"

    model = ScriptedModel(script=turn)
    saver = InMemorySaver() if interrupts else None
    agent: Any = create_agent(model, [search, hold], middleware=middleware, checkpointer=saver)

    async def start(number: int) -> None:
        config = {"callbacks": handlers, "configurable": {"thread_id": str(number)}}
        await agent.ainvoke({"messages": "go"}, config)

    tasks = [asyncio.create_task(start(number)) for number in range(AGENTS)]
    await all_arrived.wait()
    at_work = allocated()
    gate.set()
    await asyncio.gather(*tasks)
    del tasks
    return Held(at_work, allocated())


def measured(middleware: list[Any], handlers: list[Any], *, interrupts: bool = False) -> Held:
    """Return what is held, once a first run has filled the caches of everything that is loaded."""

    def once() -> Held:
        tracemalloc.start()
        held = asyncio.run(hold_all(middleware, handlers, interrupts=interrupts))
        tracemalloc.stop()
        return held

    once()
    return once()


def allocated() -> int:
    """Return how many bytes are allocated."""
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def bytes_of(make: Callable[[], object]) -> float:
    """Return the bytes of one of the objects that `make` returns."""
    make()
    tracemalloc.start()
    before = allocated()
    objects = [make() for _ in range(OBJECTS)]
    after = allocated()
    tracemalloc.stop()
    return (after - before) / len(objects)


def channel_bytes(guard: Any) -> int:
    """Return the size of the state's channel as JSON, after a run of distinct calls."""
    saver = InMemorySaver()
    script = [asks(call("search", {"query": str(n)})) for n in range(20)]
    agent: Any = create_agent(
        ScriptedModel(script=[*script, says("done")]),
        [search],
        middleware=[guard],
        checkpointer=saver,
    )
    config: Any = {"configurable": {"thread_id": "1"}, "recursion_limit": 100}
    asyncio.run(agent.ainvoke({"messages": "go"}, config))
    return len(json.dumps(agent.get_state(config).values["repeat_guard"]))


def main() -> int:
    """Print the table; return the exit code."""
    print(f"bytes per agent ({AGENTS} agents, {STEPS} distinct calls each, in one process)")
    failed = False

    def row(name: str, kind: str, value: float) -> None:
        nonlocal failed
        limit = MAX_BYTES[kind]
        failed |= value > limit
        print(f"{name + ', ' + kind:<48}{value:>8,.0f}   at most {limit:,}")

    for make in (
        RepeatGuardMiddleware,
        TransientRepeatGuardMiddleware,
        lambda: RepeatGuardNode(INNER),
        RepeatReminderNode,
        RepeatGuardCallbackHandler,
    ):
        row(type(make()).__name__, "attached", bytes_of(make))
    pairs: list[tuple[Any, Any]] = [
        (RepeatGuardMiddleware, EmptyBeforeModel),
        (TransientRepeatGuardMiddleware, EmptyWrapModelCall),
    ]
    for guard, empty in pairs:
        ours, theirs = measured([guard()], []), measured([empty()], [])
        row(guard.__name__, "at work", (ours.at_work - theirs.at_work) / AGENTS)
    ours = measured([], [RepeatGuardCallbackHandler()])
    theirs = measured([], [EmptyHandler()])
    row("RepeatGuardCallbackHandler", "at work", (ours.at_work - theirs.at_work) / AGENTS)
    ours = measured([], [RepeatGuardCallbackHandler()], interrupts=True)
    theirs = measured([], [EmptyHandler()], interrupts=True)
    row("RepeatGuardCallbackHandler", "interrupted", (ours.after - theirs.after) / AGENTS)
    for guard, _ in pairs:
        size = channel_bytes(guard())
        failed |= size > MAX_CHANNEL_BYTES
        print(f"{guard.__name__ + ', in a checkpoint':<48}{size:>8,}   at most {MAX_CHANNEL_BYTES}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
