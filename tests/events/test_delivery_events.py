"""Listeners of a run hear of each delivered reminder once, whatever delivers it."""

import asyncio
from typing import Any

import pytest
from helpers.attachments import ATTACHMENTS, Build, Host
from helpers.models import ScriptedModel, repeats, says
from helpers.tools import grep
from langchain.agents import create_agent
from langchain.agents.middleware import ModelRetryMiddleware

from langchain_repeat_guard import (
    REMINDER_EVENT,
    RepeatGuardCallbackHandler,
    RepeatGuardMiddleware,
    TransientRepeatGuardMiddleware,
)
from langchain_repeat_guard.history import events

GREP = {"pattern": "x"}
PROMPT = {"messages": [("user", "hi")]}
SUMMARIES = [f"grep × {count}" for count in (3, 5, 8)]


def host() -> Host:
    """Return an agent that makes one call nine times."""
    return Host(ScriptedModel(script=[*repeats(9, "grep", GREP), says("done")]), [grep])


def config(*callbacks: Any) -> Any:
    return {"recursion_limit": 99, "callbacks": list(callbacks)}


def custom_stream(agent: Any, *callbacks: Any) -> list[Any]:
    """Return what `stream_mode="custom"` yields."""
    return list(agent.stream(PROMPT, config(*callbacks), stream_mode="custom"))


def async_custom_stream(agent: Any, *callbacks: Any) -> list[Any]:
    """Return what it yields asynchronously."""

    async def shown() -> list[Any]:
        stream = agent.astream(PROMPT, config(*callbacks), stream_mode="custom")
        return [event async for event in stream]

    return asyncio.run(shown())


def event_stream(agent: Any, *callbacks: Any) -> list[Any]:
    """Return the payloads of the custom events that `astream_events` yields."""

    async def shown() -> list[Any]:
        stream = agent.astream_events(PROMPT, config(*callbacks), version="v2")
        return [
            part["data"]
            async for part in stream
            if part["event"] == "on_custom_event" and part["name"] == REMINDER_EVENT
        ]

    return asyncio.run(shown())


LISTENERS = {
    "custom-stream": custom_stream,
    "async-custom-stream": async_custom_stream,
    "event-stream": event_stream,
}
EACH_LISTENER = pytest.mark.parametrize("listen", LISTENERS.values(), ids=LISTENERS.keys())
EACH_WAY = pytest.mark.parametrize("build", ATTACHMENTS.values(), ids=ATTACHMENTS.keys())


def summaries(shown: list[Any]) -> list[str]:
    return [one["summary"] for event in shown for one in event["reminders"]]


@EACH_LISTENER
@EACH_WAY
def test_each_reminder_is_one_event(build: Build, listen: Any) -> None:
    """The payload names itself, the reminder's id, and the calls without arguments."""
    shown = listen(build(host()))
    assert [event["type"] for event in shown] == [REMINDER_EVENT] * 3
    assert summaries(shown) == SUMMARIES
    assert len({event["reminder_id"] for event in shown}) == 3
    assert "pattern" not in str(shown)


@EACH_LISTENER
@EACH_WAY
def test_a_handler_beside_it_sends_no_second_event(build: Build, listen: Any) -> None:
    """The event comes from the one that delivers; the handler only reports."""
    handler = RepeatGuardCallbackHandler()
    shown = listen(build(host()), handler)
    assert summaries(shown) == SUMMARIES
    assert [record.summary for record in handler.reminders] == SUMMARIES
    assert [record.reminder_id for record in handler.reminders] == [
        event["reminder_id"] for event in shown
    ]


@EACH_WAY
def test_without_listeners_nothing_is_dispatched(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plain run pays nothing for events."""

    def unwanted(*_: Any, **__: Any) -> None:
        pytest.fail("an event was dispatched")

    monkeypatch.setattr(events, "dispatch_custom_event", unwanted)
    result = build(host()).invoke(PROMPT, {"recursion_limit": 99})
    assert result["messages"][-1].content == "done"


@EACH_WAY
def test_a_listener_that_raises_breaks_nothing(build: Build, caplog: Any) -> None:
    """Whatever a stream writer does, the agent goes on."""

    def broken(*_: Any) -> None:
        msg = "no"
        raise RuntimeError(msg)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(events, "get_stream_writer", lambda: broken)
        result = build(host()).invoke(PROMPT, {"recursion_limit": 99})
    assert result["messages"][-1].content == "done"
    assert len(caplog.records) == 1


@pytest.mark.parametrize("listen", LISTENERS.values(), ids=LISTENERS.keys())
@pytest.mark.parametrize("guard", [RepeatGuardMiddleware, TransientRepeatGuardMiddleware])
@pytest.mark.parametrize("is_outside", [True, False], ids=["retry-outside", "retry-inside"])
def test_a_retried_request_is_no_second_event(guard: Any, listen: Any, *, is_outside: bool) -> None:
    """The same reminder in the same request tells listeners nothing new."""

    def fails(_: Any) -> Any:
        raise ConnectionError

    turns: list[Any] = [*repeats(3, "grep", GREP), fails, fails, says("done")]
    retry = ModelRetryMiddleware(max_retries=3, initial_delay=0)
    middleware = [retry, guard()] if is_outside else [guard(), retry]
    agent = create_agent(ScriptedModel(script=turns), [grep], middleware=middleware)
    assert summaries(listen(agent)) == ["grep × 3"]
