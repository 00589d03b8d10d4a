"""What is reported about a reminder, by which ways, and that no way disturbs the run."""

import asyncio
import copy
import logging
import pickle
import threading
from typing import Any

import pytest
from helpers.models import ScriptedModel, asks, call, says
from helpers.modes import Run, run_async
from helpers.tools import grep
from helpers.watching import counts, watched, watcher
from langchain.agents import create_agent
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import Runnable, RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver

from langchain_repeat_guard import (
    REMINDER_EVENT,
    ReminderRecord,
    RepeatGuardCallbackHandler,
)
from langchain_repeat_guard.core.texts import FIRST_TEXT

GREP = {"pattern": "s3cret"}
PROMPT = {"messages": [("user", "hi")]}


def script(times: int) -> list[Any]:
    turns = [asks(call("grep", GREP, f"call-{n}"), id=f"answer-{n}") for n in range(1, times + 1)]
    return [*turns, says("done")]


def agent(times: int, **options: Any) -> Any:
    return create_agent(ScriptedModel(script=script(times)), [grep], **options)


def event(count: int) -> dict[str, Any]:
    """Return the payload for the reminder behind the answer with that number."""
    return {
        "type": "repeat_guard.reminder",
        "reminder_id": f"repeat_guard:answer-{count}",
        "reminders": [
            {
                "tool": "grep",
                "count": count,
                "threshold": count,
                "tool_call_id": f"call-{count}",
                "summary": f"grep \N{MULTIPLICATION SIGN} {count}",
            }
        ],
    }


def test_the_record_says_what_and_where(run: Run) -> None:
    """A record names the call, the reminder, the runs, the thread and the agent."""
    seen: list[ReminderRecord] = []
    runs = Runs()
    handler = RepeatGuardCallbackHandler(on_reminder=seen.append)
    guarded = agent(3, name="searcher", checkpointer=InMemorySaver())
    outer = RunnableLambda(guarded.invoke, afunc=guarded.ainvoke)
    config = {"callbacks": [handler, runs], "configurable": {"thread_id": "t"}}
    run(outer, PROMPT, config)
    expected = ReminderRecord(
        tool="grep",
        count=3,
        threshold=3,
        text=FIRST_TEXT,
        reminder_id="repeat_guard:answer-3",
        run_id=runs.by_name["root"],
        agent_run_id=runs.by_name["searcher"],
        thread_id="t",
        tool_call_id="call-3",
        agent_name="searcher",
        arguments=None,
    )
    assert (seen, handler.reminders) == ([expected], (expected,))


class Runs(BaseCallbackHandler):
    """Remembers which run has which name."""

    run_inline = True

    def __init__(self) -> None:
        self.by_name: dict[str, Any] = {}

    def on_chain_start(
        self, *_: Any, run_id: Any, parent_run_id: Any = None, **kwargs: Any
    ) -> None:
        name = kwargs["name"] if parent_run_id else "root"
        self.by_name.setdefault(name, run_id)


def test_arguments_only_if_asked_for(run: Run) -> None:
    """The record has the arguments as the model issued them if the handler was told so."""
    handler = RepeatGuardCallbackHandler(include_arguments=True)
    run(agent(3), PROMPT, watched(handler))
    assert [record.arguments for record in handler.reminders] == [GREP]


def test_no_arguments_in_the_record_but_in_its_text(run: Run) -> None:
    """The detailed text quotes the call, as the model would be told; `repr` shows neither."""
    handler = RepeatGuardCallbackHandler(thresholds=(2, 3))
    run(agent(3), PROMPT, watched(handler))
    last = handler.reminders[-1]
    assert (last.arguments, "s3cret" in last.text, "s3cret" in repr(last)) == (None, True, False)


def test_the_latest_records_are_kept(run: Run) -> None:
    """The list is bounded."""
    handler = watcher(keep_reminders=2)
    run(agent(5), PROMPT, watched(handler))
    assert counts(handler) == [("grep", 4), ("grep", 5)]


def test_one_log_line_per_reminder(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    """Level WARNING, logger of the package, no arguments."""
    handler = RepeatGuardCallbackHandler(thresholds=(2, 3))
    run(agent(3), PROMPT, watched(handler))
    lines = [
        (record.levelno, record.getMessage())
        for record in caplog.records
        if record.name == "langchain_repeat_guard"
    ]
    agent_run = handler.reminders[0].agent_run_id
    times = "\N{MULTIPLICATION SIGN}"
    assert lines == [
        (logging.WARNING, f"reminder: grep {times} {count}, agent run {agent_run}")
        for count in (2, 3)
    ]


def test_an_async_function_is_awaited(run: Run) -> None:
    """In an async run it runs on the run's own loop, in a sync run at once."""
    seen: list[tuple[str, bool]] = []

    async def on_reminder(record: ReminderRecord) -> None:
        await asyncio.sleep(0)
        in_run = asyncio.get_running_loop() is loops.get("run")
        seen.append((record.tool, in_run))

    loops: dict[str, Any] = {}

    def note(_: Any) -> dict[str, Any]:
        try:
            loops["run"] = asyncio.get_running_loop()
        except RuntimeError:
            loops["run"] = None
        return {}

    async def anote(state: Any) -> dict[str, Any]:
        return note(state)

    handler = RepeatGuardCallbackHandler(on_reminder=on_reminder)
    run(RunnableLambda(note, anote) | (lambda _: PROMPT) | agent(3), {}, watched(handler))
    assert seen == [("grep", run is run_async)]


@pytest.mark.faults_expected
@pytest.mark.parametrize("is_async", [False, True], ids=["function", "coroutine"])
def test_a_failing_function_does_not_reach_the_run(
    is_async: bool,
    run: Run,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It costs one line in the log, and nothing else."""

    def fails(_: ReminderRecord) -> None:
        raise ValueError(GREP)

    async def afails(record: ReminderRecord) -> None:
        fails(record)

    handler = RepeatGuardCallbackHandler(
        thresholds=(2, 3), on_reminder=afails if is_async else fails
    )
    result = run(agent(3), PROMPT, watched(handler))
    faults = [
        record.getMessage()
        for record in caplog.records
        if record.name == "langchain_repeat_guard" and "reminder: " not in record.getMessage()
    ]
    assert [counts(handler), result["messages"][-1].content, len(faults)] == [
        [("grep", 2), ("grep", 3)],
        "done",
        1,
    ]
    assert "s3cret" not in faults[0]


def test_the_custom_stream_shows_the_event() -> None:
    """`stream_mode="custom"` yields the payload."""
    handler = RepeatGuardCallbackHandler(thresholds=(2, 3))
    assert list(agent(3).stream(PROMPT, watched(handler), stream_mode="custom")) == [
        event(2),
        event(3),
    ]


def test_the_async_custom_stream_shows_the_event() -> None:
    """`astream(stream_mode="custom")` yields the payload."""
    handler = RepeatGuardCallbackHandler(thresholds=(2, 3))

    async def shown() -> list[Any]:
        stream = agent(3).astream(PROMPT, watched(handler), stream_mode="custom")
        return [part async for part in stream]

    assert asyncio.run(shown()) == [event(2), event(3)]


def test_the_event_stream_shows_the_event() -> None:
    """`astream_events` yields it as a custom event, below the run of the step that is due."""
    handler = RepeatGuardCallbackHandler(thresholds=(2, 3))

    async def shown() -> list[Any]:
        stream = agent(3).astream_events(PROMPT, watched(handler), version="v2")
        return [
            (part["name"], part["data"])
            async for part in stream
            if part["event"] == "on_custom_event"
        ]

    assert asyncio.run(shown()) == [(REMINDER_EVENT, event(2)), (REMINDER_EVENT, event(3))]


def test_other_handlers_are_sent_the_event(run: Run) -> None:
    """A handler with `on_custom_event` gets name and payload."""

    class Listener(BaseCallbackHandler):
        run_inline = True
        heard: list[Any] = []  # noqa: RUF012

        def on_custom_event(self, name: str, data: Any, **_: Any) -> None:
            self.heard.append((name, data))

    Listener.heard = []
    run(agent(3), PROMPT, {"callbacks": [RepeatGuardCallbackHandler(), Listener()]})
    assert Listener.heard == [(REMINDER_EVENT, event(3))]


def test_without_listeners_no_event_is_made(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """LangChain's dispatch is not entered where nobody listens."""
    from langchain_repeat_guard.history import events  # noqa: PLC0415

    def unwanted(*_: Any, **__: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(events, "dispatch_custom_event", unwanted)
    monkeypatch.setattr(events, "adispatch_custom_event", unwanted)
    handler = RepeatGuardCallbackHandler()
    run(agent(3), PROMPT, watched(handler))
    assert counts(handler) == [("grep", 3)]


def test_plain_code_has_an_event_stream_too() -> None:
    """Without a graph there is no custom stream, but the event is dispatched."""
    handler = RepeatGuardCallbackHandler()
    code: Runnable[Any, Any] = RunnableLambda(lambda _: [grep.invoke(GREP) for _ in range(3)])

    async def shown() -> list[Any]:
        stream = code.astream_events("go", watched(handler), version="v2")
        return [part["data"] async for part in stream if part["event"] == "on_custom_event"]

    [payload] = asyncio.run(shown())
    assert payload["reminders"] == [{**event(3)["reminders"][0], "tool_call_id": ""}]


def test_handlers_run_where_the_event_is() -> None:
    """The handler never leaves the run's thread, so that its events cannot overtake each other."""
    threads = set()
    handler = RepeatGuardCallbackHandler(
        on_reminder=lambda _: threads.add(threading.current_thread().name)
    )
    run_async(agent(3), PROMPT, watched(handler))
    assert threads == {threading.current_thread().name}


def test_debug_mode_of_asyncio_finds_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """No coroutine is left unawaited, and none blocks the loop."""
    handler = RepeatGuardCallbackHandler()
    asyncio.run(agent(3).ainvoke(PROMPT, watched(handler)), debug=True)
    assert counts(handler) == [("grep", 3)]


def test_the_name_of_an_unnamed_graph_is_none(run: Run) -> None:
    """LangGraph's default name says nothing."""
    handler = RepeatGuardCallbackHandler()
    run(agent(3), PROMPT, watched(handler))
    assert [record.agent_name for record in handler.reminders] == [None]


@pytest.mark.parametrize(
    "copied",
    [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))],
    ids=["copy", "deepcopy", "pickle"],
)
def test_a_copy_has_the_settings_and_watches_nothing_yet(copied: Any) -> None:
    """Hosts copy what they are configured with."""
    handler = RepeatGuardCallbackHandler(thresholds=(2,), keep_reminders=1)
    agent(3).invoke(PROMPT, watched(handler))
    twin = copied(handler)
    assert (twin.config, twin.reminders, twin.live_runs) == (handler.config, (), 0)
    agent(4).invoke(PROMPT, watched(twin))
    assert [record.count for record in twin.reminders] == [2]


@pytest.mark.parametrize("option", ["on_reminder", "is_user_prompt"])
def test_what_cannot_be_called_is_refused(option: str) -> None:
    """When the handler is built, not at the first reminder."""
    with pytest.raises(TypeError, match=f"^{option} must be a function, got 3$"):
        RepeatGuardCallbackHandler(**{option: 3})
