"""Whatever goes wrong inside the guard, the agent runs as it does without it."""

import datetime as dt
import logging
from types import FunctionType
from typing import Any

import pytest
from helpers.attachments import ATTACHMENTS, BARE, Build, Host, bare_graph
from helpers.faults import broken, called_by, functions_of
from helpers.models import ScriptedModel, asks, call, malformed, says
from helpers.stage import prompt
from helpers.tools import grep, ping
from langchain_core.messages import BaseMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

from langchain_repeat_guard import RepeatGuardCallbackHandler, is_reminder
from langchain_repeat_guard.history.guard import HistoryGuard

SECRET = "hunter2"  # noqa: S105  what no log may show
CONFIG: Any = {"configurable": {"thread_id": "1"}}

PACKAGES = ("callback", "core", "history", "middleware", "node")
ENTRIES = {
    "callback.handler.RepeatGuardCallbackHandler._tell",  # raises on purpose, at a limit
    "core.failsafe.FailOpen.run",
    "middleware.listening.ModelInputs.on_chat_model_start",
    "middleware.stored.RepeatGuardMiddleware.before_model",
    "middleware.transient.TransientRepeatGuardMiddleware.wrap_model_call",
    "node.reminder_node.RepeatReminderNode.__call__",
    "node.state._newest",
    "node.reminder_node.RepeatReminderNode.invoke",
    "node.wrapper.RepeatGuardNode.invoke",
}
"""What the host itself calls, and the net: no code of the guard stands above them."""

ON_EVENT = "callback.handler.RepeatGuardCallbackHandler.on_"
"""LangChain calls these, and shields the run from them."""

FOR_ANY_OBJECT = ("core.canonical.", "core.scalars.")
"""Looks at whatever stands among arguments: what raises there is taken to equal nothing."""

Outcome = list[tuple[str, str, Any]]


def script() -> list[Any]:
    """Return loops of plain, of rare and of malformed arguments, and an answer."""
    rare = {"pattern": SECRET, "n": 1e-9, "on": dt.date(2026, 1, 1)}
    plain = {"pattern": SECRET}
    return [
        asks(call("ping", {}, "p"), malformed("grep", "{bad", "m"), id="a0"),
        *(asks(call("grep", rare, f"r{turn}"), id=f"b{turn}") for turn in range(3)),
        *(asks(call("grep", plain, f"c{turn}"), id=f"c{turn}") for turn in range(4)),
        says("no", id="z"),
    ]


class Run:
    """One run of the script, under one attachment."""

    def __init__(self, build: Build, **options: Any) -> None:
        self.model = ScriptedModel(script=script())
        host = Host(self.model, [grep, ping], InMemorySaver())
        self.agent = build(host, **options)

    def play(self) -> Any:
        """Return what the state holds at the end."""
        return self.agent.invoke(prompt("go"), CONFIG)["messages"]


def outcome_of(messages: list[BaseMessage]) -> Outcome:
    """Return what stands in the messages, reminders left out."""
    return [_seen(message) for message in messages if not is_reminder(message)]


def _seen(message: BaseMessage) -> tuple[str, str, Any]:
    text = message.text.partition("\n\n")[0] if isinstance(message, ToolMessage) else message.text
    return message.type, text, getattr(message, "tool_calls", None)


def with_handler(host: Host, *, delivery: str, **options: Any) -> Any:
    """Attach the callback handler, which delivers nothing."""
    return bare_graph(host).with_config(callbacks=[RepeatGuardCallbackHandler(**options)])


GUARDED = {**ATTACHMENTS, "callback": with_handler}
UNGUARDED = {**BARE, "callback": bare_graph}
each_way = pytest.mark.parametrize("attachment", list(GUARDED))


def guarded(attachment: str, delivery: str) -> Run:
    options = {"thresholds": (2, 3), "redact_arguments": ("pass*",), "delivery": delivery}
    return Run(GUARDED[attachment], **options)


def internal_functions(attachment: str) -> dict[str, tuple[FunctionType, str]]:
    """Return what guarded runs call, below what the host itself calls, and with which delivery."""
    functions = functions_of(*PACKAGES)
    found: dict[str, tuple[FunctionType, str]] = {}
    for delivery in ("human_message", "tool_message"):
        called = called_by(guarded(attachment, delivery).play, functions)
        found = {name: (function, delivery) for name, function in called.items()} | found
    return {
        name: found[name]
        for name in sorted(found)
        if name not in ENTRIES and not name.startswith(ON_EVENT)
    }


@each_way
def test_every_internal_function_may_raise(
    attachment: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Each in turn raises under a running agent: it ends as without the guard, one line is logged.

    The line does not quote the error, whose text may hold arguments.
    """
    unguarded = outcome_of(Run(UNGUARDED[attachment]).play())
    functions = internal_functions(attachment)
    assert len(functions) > 50
    misbehaving = {}
    for name, (function, delivery) in functions.items():
        run = guarded(attachment, delivery)
        caplog.clear()
        with caplog.at_level(logging.DEBUG), broken(function, SECRET) as calls:
            end = _play_to_the_end(run)
        own = [line for line in caplog.messages if "skipped a check after FaultError" in line]
        is_quiet = len(own) == (0 if name.startswith(FOR_ANY_OBJECT) and not own else 1)
        is_same = isinstance(end, list) and outcome_of(end) == unguarded
        if not (calls and is_same and is_quiet and SECRET not in caplog.text):
            misbehaving[name] = (len(calls), is_same or end, caplog.messages)
    assert misbehaving == {}


def _play_to_the_end(run: Run) -> object:
    try:
        return run.play()
    except Exception as error:  # noqa: BLE001  the failing test shows which
        return error


class _BrokenHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        raise RuntimeError(record.getMessage())


def test_a_log_handler_may_raise(attachment: str) -> None:
    """The warning about a fault is lost where a host's log handler raises; the run is not."""
    function = functions_of("history")[HistoryGuard.judge.__code__][1]
    logger = logging.getLogger("langchain_repeat_guard")
    handler = _BrokenHandler()
    logger.addHandler(handler)
    try:
        with broken(function, SECRET) as calls:
            end = guarded(attachment, "human_message").play()
    finally:
        logger.removeHandler(handler)
    assert calls
    assert outcome_of(end) == outcome_of(Run(UNGUARDED[attachment]).play())
