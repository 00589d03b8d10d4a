"""Streaming changes nothing, also where nobody reads to the end."""

import asyncio
from typing import Any

import pytest
from helpers.models import ScriptedModel, repeats, says
from helpers.tools import grep
from helpers.watching import counts, watched, watcher
from langchain.agents import create_agent

GREP = {"pattern": "x"}
PROMPT = {"messages": [("user", "hi")]}
MODES = ["values", "updates", "messages", "custom", "debug"]


def agent(times: int) -> Any:
    return create_agent(ScriptedModel(script=[*repeats(times, "grep", GREP), says("done")]), [grep])


@pytest.mark.parametrize("mode", MODES)
def test_a_stream_counts(mode: str) -> None:
    """Every mode of `stream` counts as `invoke` does."""
    handler = watcher()
    for _ in agent(3).stream(PROMPT, watched(handler), stream_mode=mode):
        pass
    assert (counts(handler), handler.live_runs) == ([("grep", 2), ("grep", 3)], 0)


@pytest.mark.parametrize("mode", MODES)
def test_an_async_stream_counts(mode: str) -> None:
    """Every mode of `astream` counts as `ainvoke` does."""
    handler = watcher()

    async def read() -> None:
        async for _ in agent(3).astream(PROMPT, watched(handler), stream_mode=mode):
            pass

    asyncio.run(read())
    assert (counts(handler), handler.live_runs) == ([("grep", 2), ("grep", 3)], 0)


def test_a_stream_that_nobody_reads_to_the_end_leaves_nothing() -> None:
    """Closing the stream ends the run."""
    handler = watcher()
    stream = agent(3).stream(PROMPT, watched(handler), stream_mode="updates")
    next(stream)
    stream.close()
    assert handler.live_runs == 0


def test_an_async_stream_that_nobody_reads_to_the_end_leaves_nothing() -> None:
    """Closing the stream ends the run."""
    handler = watcher()

    async def read() -> None:
        stream = agent(3).astream(PROMPT, watched(handler), stream_mode="updates")
        await anext(stream)
        await stream.aclose()

    asyncio.run(read())
    assert handler.live_runs == 0
