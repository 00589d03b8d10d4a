"""Handlers that report every repetition, and what they have reported."""

from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig

from langchain_repeat_guard import RepeatGuardCallbackHandler

EVERY_LENGTH = tuple(range(2, 40))


def watcher(**options: Any) -> RepeatGuardCallbackHandler:
    """Return a handler that reports each repetition, so that its counting can be seen."""
    return RepeatGuardCallbackHandler(**{"thresholds": EVERY_LENGTH, **options})


def watched(handler: RepeatGuardCallbackHandler, thread_id: str | None = None) -> RunnableConfig:
    """Return a run's config with the handler, in a thread if one is named."""
    config: RunnableConfig = {"callbacks": [handler]}
    if thread_id:
        config["configurable"] = {"thread_id": thread_id}
    return config


def counts(handler: RepeatGuardCallbackHandler) -> list[tuple[str, int]]:
    """Return the tool and the length of the chain for each report, in order."""
    return [(record.tool, record.count) for record in handler.reminders]


def counts_by_agent(handler: RepeatGuardCallbackHandler) -> dict[Any, list[tuple[str, int]]]:
    """Return the same for each agent's run, in order of the first report."""
    found: dict[Any, list[tuple[str, int]]] = {}
    for record in handler.reminders:
        found.setdefault(record.agent_run_id, []).append((record.tool, record.count))
    return found


def lines_beside_reminders(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return what the guard has logged during a test, reports of reminders left out."""
    lines = [
        record.getMessage()
        for record in caplog.get_records("call")
        if record.name == "langchain_repeat_guard"
    ]
    return [line for line in lines if not line.startswith("reminder: ")]
