"""A stored reminder shows once in every stream; a transient one in none."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from helpers.agents import MakeGuard, make_scene
from helpers.models import repeats, says
from helpers.modes import Run
from langchain_core.messages import AIMessage, BaseMessage

from langchain_repeat_guard import RepeatGuardMiddleware, is_reminder

MODES = ["values", "updates", "messages", "custom", "checkpoints", "tasks", "debug"]


def stream_of(scene: Any, mode: str, run: Any) -> list[Any]:
    """Return all that one streamed run yields."""
    value = {"messages": [("user", "go")]}
    if run.__name__ == "run_sync":
        return list(scene.agent.stream(value, scene.config, stream_mode=mode))

    async def collect() -> list[Any]:
        parts = scene.agent.astream(value, scene.config, stream_mode=mode)
        return [part async for part in parts]

    return asyncio.run(collect())


def reminders_anywhere(part: Any) -> Iterator[BaseMessage]:
    """Yield each reminder in a nested value."""
    if isinstance(part, BaseMessage):
        if is_reminder(part):
            yield part
    elif isinstance(part, dict):
        for value in part.values():
            yield from reminders_anywhere(value)
    elif isinstance(part, list | tuple):
        for value in part:
            yield from reminders_anywhere(value)


@pytest.mark.parametrize("mode", MODES)
def test_one_reminder_in_every_mode(guard: MakeGuard, run: Run, mode: str) -> None:
    """What a stream shows of a stored reminder is one message with one id; of a transient none."""
    scene = make_scene(guard(), run, [*repeats(3, "grep"), says("done")])
    ids = [message.id for message in reminders_anywhere(stream_of(scene, mode, run))]
    shows = guard is RepeatGuardMiddleware and mode != "custom"
    assert len(set(ids)) == shows
    if mode in ("messages", "updates"):
        assert len(ids) == shows


def test_events_show_it_once(guard: MakeGuard, run: Run) -> None:
    """Among all messages that `astream_events` shows the graph add, one is the reminder."""
    scene = make_scene(guard(), run, [*repeats(3, "grep"), says("done")])

    async def collect() -> list[Any]:
        events = scene.agent.astream_events(
            {"messages": [("user", "go")]}, scene.config, version="v2"
        )
        return [event async for event in events]

    events = asyncio.run(collect())
    chunks = [
        e["data"] for e in events if e["event"] == "on_chain_stream" and e["name"] == "LangGraph"
    ]
    found = list(reminders_anywhere(chunks))
    assert len(found) == (guard is RepeatGuardMiddleware)


def test_tokens_of_the_model_are_untouched(guard: MakeGuard, run: Run) -> None:
    """Streaming tokens goes on through the guard: the answer arrives as the model's chunks."""
    scene = make_scene(guard(), run, [*repeats(3, "grep"), says("done")])
    parts = stream_of(scene, "messages", run)
    texts = [part.content for part, _ in parts if isinstance(part, AIMessage) and part.content]
    assert texts == ["done"]
