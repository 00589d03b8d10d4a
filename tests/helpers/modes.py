"""Sync and async runs behind one signature."""

import asyncio
from collections.abc import Callable
from typing import Any

Run = Callable[..., dict[str, Any]]
"""`run(agent, input, config)`: the final state of a run, an interrupted one included."""


def run_sync(agent: Any, value: Any, config: Any = None) -> dict[str, Any]:
    """Run the agent with `invoke`."""
    result: dict[str, Any] = agent.invoke(value, config)
    return result


def run_async(agent: Any, value: Any, config: Any = None) -> dict[str, Any]:
    """Run the agent with `ainvoke`, on an event loop of its own."""
    result: dict[str, Any] = asyncio.run(agent.ainvoke(value, config))
    return result
