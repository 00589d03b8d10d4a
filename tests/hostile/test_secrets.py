"""Argument text stands in the model's messages, in a quoted preview, and nowhere else."""

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from helpers.attachments import ATTACHMENTS, Host, bare_graph
from helpers.models import ScriptedModel, repeats, says
from helpers.stage import prompt
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from langchain_repeat_guard import RepeatGuardCallbackHandler, is_reminder
from langchain_repeat_guard.history.guard import HistoryGuard

SECRET = "hunter2-test"  # noqa: S105  what must not be found
CONFIG: Any = {"configurable": {"thread_id": "1"}}
LOGIN = {"user": "ann", "password": SECRET, "hosts": [{"db_password": SECRET}]}


@tool
def login(user: str, password: str, hosts: list[dict[str, str]]) -> str:
    """Log in."""
    return f"{user} is not known"


@pytest.fixture
def guards(monkeypatch: pytest.MonkeyPatch) -> list[HistoryGuard]:
    """Every guard that the test makes."""
    made: list[HistoryGuard] = []
    make = HistoryGuard.__init__

    def make_and_keep(self: HistoryGuard, *args: Any, **kwargs: Any) -> None:
        make(self, *args, **kwargs)
        made.append(self)

    monkeypatch.setattr(HistoryGuard, "__init__", make_and_keep)
    return made


def leaves_of(value: Any, seen: set[int] | None = None) -> Iterator[str]:
    """Yield the text of everything that hangs on `value`, the model's own messages left out."""
    seen = set() if seen is None else seen
    if id(value) in seen or isinstance(value, AIMessage | type | ScriptedModel):
        return
    seen.add(id(value))
    if isinstance(value, dict):
        inside = [*value, *value.values()]
    elif isinstance(value, list | tuple | set | frozenset):
        inside = [*value]
    elif hasattr(value, "__dict__"):
        inside = [vars(value)]
    elif hasattr(value, "__slots__"):
        inside = [getattr(value, name, None) for name in value.__slots__]
    else:
        yield str(value)
        return
    for one in inside:
        yield from leaves_of(one, seen)


def play(attachment: str, times: int, **options: Any) -> tuple[ScriptedModel, list[Any], Any]:
    """Run a loop of logins; return the model, all that was streamed, and the agent."""
    model = ScriptedModel(script=[*repeats(times, "login", LOGIN), says("no")])
    agent = ATTACHMENTS[attachment](Host(model, [login], InMemorySaver()), **options)
    modes = ["updates", "custom", "values"]
    return model, list(agent.stream(prompt("go"), CONFIG, stream_mode=modes)), agent


MASKED: dict[str, Any] = {"redact_arguments": ("*password*",)}


@pytest.mark.parametrize(
    ("times", "options"),
    [
        pytest.param(3, {}, id="r96-first-reminder"),
        pytest.param(9, MASKED, id="r96-later-reminders-masked"),
        pytest.param(9, {**MASKED, "delivery": "tool_message"}, id="in-the-tool-message"),
    ],
)
def test_no_secret_anywhere_else(
    attachment: str,
    times: int,
    options: dict[str, Any],
    guards: list[HistoryGuard],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Not in requests, streams, checkpoints, logs of any level, or what the guard keeps."""
    with caplog.at_level(logging.DEBUG, "langchain_repeat_guard"):
        model, streamed, agent = play(attachment, times, **options)
    history = [snapshot.values for snapshot in agent.get_state_history(CONFIG)]
    own_log = [
        record.getMessage() for record in caplog.records if record.name.startswith("langchain_r")
    ]
    everything = [model.requests, streamed, history, guards, own_log]
    assert [leaf for leaf in leaves_of(everything) if SECRET in leaf] == []
    assert [leaf for leaf in leaves_of(model.requests) if "exact same tool call" in leaf]
    assert len(guards) == 1


def test_the_search_finds_a_quoted_secret(attachment: str) -> None:
    """Without the option the detailed text quotes the arguments: the search above is not blind."""
    model, _, _ = play(attachment, 5)
    found = [leaf for leaf in leaves_of(model.requests) if SECRET in leaf]
    assert len(found) == 1


def test_channel_and_mark_hold_no_arguments(attachment: str) -> None:
    """What is stored of a call is a digest and its name, its id and its count."""
    agent = play(attachment, 5)[2]
    values = agent.get_state(CONFIG).values
    marks = [message.additional_kwargs for message in values["messages"] if is_reminder(message)]
    stored = [*leaves_of(values.get("repeat_guard")), *leaves_of(marks)]
    assert [leaf for leaf in stored if "ann" in leaf or SECRET in leaf] == []


def test_a_handler_logs_and_keeps_no_secret(caplog: pytest.LogCaptureFixture) -> None:
    """Its log lines and masked records hold none, and neither does what it keeps of runs."""
    handler = RepeatGuardCallbackHandler(**MASKED)
    model = ScriptedModel(script=[*repeats(9, "login", LOGIN), says("no")])
    with caplog.at_level(logging.DEBUG, "langchain_repeat_guard"):
        bare_graph(Host(model, [login])).invoke(prompt("go"), {"callbacks": [handler]})
    assert [record.count for record in handler.reminders] == [3, 5, 8]
    own = [
        record.getMessage() for record in caplog.records if record.name.startswith("langchain_r")
    ]
    assert len(own) == 3
    assert [leaf for leaf in leaves_of([handler, own]) if SECRET in leaf] == []
