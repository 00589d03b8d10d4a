"""`repeat-guard demo --model` compares a live model without and with the guard."""

import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from helpers.command import repeat_guard
from helpers.openai_server import ChatServer, Message, calls, chat_server, says

from langchain_repeat_guard.cli.live import TASK, UNHELPFUL_RESULT
from langchain_repeat_guard.core.texts import FIRST_TEXT

MODEL = ["demo", "--model", "openai:test-model"]


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def loops_until_reminded(messages: list[Message]) -> Message:
    """Play a model that heeds a reminder, and would call the same tool for ever without one."""
    if messages[-1]["content"] == FIRST_TEXT:
        return says("The order database is busy; I could not find out.")
    return calls("lookup_order", order_id="4711")


def compare(server: ChatServer, *flags: str) -> dict[str, Any]:
    result = repeat_guard(*MODEL, "--base-url", server.url, "--json", *flags)
    assert result.exit_code == 0, result.stderr
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def outcome(run: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in run.items() if name != "steps"}


def test_guard_off_runs_into_the_bound_and_guard_on_ends(stack: ExitStack) -> None:
    """The two runs differ by the guard alone: a model that heeds reminders ends by itself."""
    server = stack.enter_context(chat_server(loops_until_reminded))
    found = compare(server, "--max-steps", "6")
    assert outcome(found["guard_off"]) == {
        "model_calls": 6,
        "calls": 6,
        "longest_repeat": 6,
        "reminders": 0,
        "ended_by_itself": False,
        "final_answer": "",
    }
    assert outcome(found["guard_on"]) == {
        "model_calls": 4,
        "calls": 3,
        "longest_repeat": 3,
        "reminders": 1,
        "ended_by_itself": True,
        "final_answer": "The order database is busy; I could not find out.",
    }
    assert len(server.requests) == 6 + 4


def test_model_reads_the_reminder_behind_the_tool_result(stack: ExitStack) -> None:
    """What goes over the wire: the same result each time, then the reminder as a user message."""
    server = stack.enter_context(chat_server(loops_until_reminded))
    compare(server, "--max-steps", "4")
    last = server.requests[-1]
    assert [message["role"] for message in last] == [
        "user",
        *(["assistant", "tool"] * 3),
        "user",
    ]
    assert last[0]["content"] == TASK
    assert {message["content"] for message in last if message["role"] == "tool"} == {
        UNHELPFUL_RESULT
    }
    assert last[-1]["content"] == FIRST_TEXT


def test_settings_reach_the_live_guard(stack: ExitStack) -> None:
    """The flags of the guard hold for live runs too."""
    server = stack.enter_context(chat_server(loops_until_reminded))
    found = compare(server, "--thresholds", "2")
    assert found["config"]["thresholds"] == [2]
    assert found["guard_on"]["calls"] == 2


def test_bound_is_twelve_model_calls_by_default(stack: ExitStack) -> None:
    """A model that never ends costs a known number of requests."""
    server = stack.enter_context(chat_server(lambda _: calls("lookup_order", order_id="4711")))
    found = compare(server)
    assert found["max_steps"] == 12
    assert len(server.requests) == 24
    assert [step["reminder"] is not None for step in found["guard_on"]["steps"]] == [
        number in {3, 5, 8} for number in range(1, 13)
    ]


def test_parallel_and_unknown_calls_count(stack: ExitStack) -> None:
    """Models call several tools at once, and tools that do not exist."""
    server = stack.enter_context(chat_server(lambda _: calls("no_such_tool", times=2)))
    found = compare(server, "--max-steps", "3")
    assert outcome(found["guard_on"]) == {
        "model_calls": 3,
        "calls": 6,
        "longest_repeat": 6,
        "reminders": 1,
        "ended_by_itself": False,
        "final_answer": "",
    }


def test_reminder_that_no_call_follows_was_not_received(stack: ExitStack) -> None:
    """Where the bound comes first, the last reminder was written but never read."""
    server = stack.enter_context(chat_server(loops_until_reminded))
    found = compare(server, "--max-steps", "3")["guard_on"]
    assert (found["calls"], found["reminders"], found["ended_by_itself"]) == (3, 0, False)
    assert [step["reminder"] for step in found["steps"]] == [None, None, None]


def test_comparison_reads_as_a_table(stack: ExitStack) -> None:
    """What people see: the two runs side by side."""
    server = stack.enter_context(chat_server(loops_until_reminded))
    result = repeat_guard(*MODEL, "--base-url", server.url, "--max-steps", "6")
    assert result.exit_code == 0, result.stderr
    lines = [line.rstrip() for line in result.stdout.splitlines()]
    assert lines == [
        "Model: openai:test-model",
        f"Task: {TASK}",
        "Its only tool always returns the same unhelpful result.",
        "",
        "                     guard off                         guard on",
        "─" * 100,
        "tool calls           6                                 3",
        "identical in a row   6                                 3",
        "reminders read       0                                 1",
        "ended by itself      no, stopped after 6 model calls   yes",
        f"final answer         none{' ' * 30}The order database is busy; I could not find",
        "                                                       out.",
        "",
        "One run of each: models vary, so repeat it before you conclude.",
    ]


def test_terminal_obeys_nothing_that_a_model_says(stack: ExitStack) -> None:
    """Control sequences in an answer are shown, not sent to the terminal."""
    server = stack.enter_context(chat_server(lambda _: says("\x1b[2Jgone[bold]\x07")))
    result = repeat_guard(*MODEL, "--base-url", server.url)
    assert "\\x1b[2Jgone[bold]\\x07" in result.stdout
    assert "\x1b" not in result.stdout


def test_long_answer_is_cut(stack: ExitStack) -> None:
    """A model that writes an essay does not push the comparison off the screen."""
    server = stack.enter_context(chat_server(lambda _: says("x" * 601)))
    result = repeat_guard(*MODEL, "--base-url", server.url)
    assert result.stdout.count("x") == 2 * 600
    assert result.stdout.count("…") == 2


def test_refused_request_ends_the_command_with_exit_code_1(stack: ExitStack) -> None:
    """An error of the provider is told in one line; nothing is printed as a result."""
    refusal = {"error": {"message": "no such model", "type": "invalid_request_error"}}
    server = stack.enter_context(chat_server(lambda _: refusal))
    result = repeat_guard(*MODEL, "--base-url", server.url, "--json")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("repeat-guard: the run failed: ")
    assert "no such model" in result.stderr
    assert result.stderr.count("\n") == 1


def test_missing_key_is_wrong_usage(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a key nothing is run, and the message names the variable that is missing."""
    monkeypatch.delenv("OPENAI_API_KEY")
    result = repeat_guard(*MODEL)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("repeat-guard: cannot use openai:test-model: ")
    assert "OPENAI_API_KEY" in result.stderr
    assert result.stderr.count("\n") == 1


def test_missing_provider_package_is_wrong_usage(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says which package to install."""
    monkeypatch.setitem(sys.modules, "langchain_groq", None)
    result = repeat_guard("demo", "--model", "groq:any")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "langchain-groq" in result.stderr
    assert result.stderr.count("\n") == 1


def test_unknown_provider_is_wrong_usage() -> None:
    """The message names what was asked for, in one line of readable length."""
    result = repeat_guard("demo", "--model", "nobody:any")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("repeat-guard: cannot use nobody:any: ")
    assert result.stderr.count("\n") == 1
