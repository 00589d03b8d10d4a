"""Calls count once under limits, retries, fallbacks and caches."""

from typing import Any

import pytest
from helpers.agents import MakeGuard, make_scene
from helpers.models import ScriptedModel, asks, call, repeats, says
from helpers.modes import Run
from helpers.pictures import growing
from helpers.tools import broken
from helpers.versions import needs
from langchain.agents import create_agent
from langchain.agents.middleware import (
    ModelFallbackMiddleware,
    ModelRetryMiddleware,
    ToolCallLimitMiddleware,
    ToolRetryMiddleware,
)
from langchain.agents.middleware.tool_call_limit import ToolCallLimitExceededError
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.tools import tool
from langgraph.cache.memory import InMemoryCache
from langgraph.types import CachePolicy, RetryPolicy

FOUR = growing("hatatatR3at")


def refuse(_: list[BaseMessage]) -> AIMessage:
    """Be a provider that fails."""
    message = "try later"
    raise ConnectionError(message)


def script_of_four() -> list[Any]:
    """Return four identical calls, then an answer."""
    return [*repeats(4, "grep", {"pattern": "x"}), says("done")]


def test_calls_past_a_limit_count_like_others(guard: MakeGuard, run: Run) -> None:
    """A call that ToolCallLimit blocks is answered by an error, and counts."""
    limit = ToolCallLimitMiddleware(run_limit=1, exit_behavior="continue")
    scene = make_scene(guard(), run, script_of_four(), arrange=lambda one: [limit, one])
    scene.prompt()
    assert scene.seen == FOUR


def test_a_limit_that_ends_the_run(guard: MakeGuard, run: Run) -> None:
    """Where ToolCallLimit ends the run, no model reads on: no reminder, and nothing broken."""
    limit = ToolCallLimitMiddleware(run_limit=2, exit_behavior="end")
    scene = make_scene(guard(), run, script_of_four(), arrange=lambda one: [one, limit])
    scene.prompt()
    assert scene.seen == growing("hatat")
    assert scene.stored == "hatatata"


def test_a_limit_that_raises(guard: MakeGuard, run: Run) -> None:
    """Where ToolCallLimit raises, its error arrives; the checkpoint ends with whole steps."""
    limit = ToolCallLimitMiddleware(run_limit=2, exit_behavior="error")
    scene = make_scene(guard(), run, script_of_four(), arrange=lambda one: [one, limit])
    with pytest.raises(ToolCallLimitExceededError):
        scene.prompt()
    assert scene.seen == growing("hatat")


def test_retries_of_a_tool_are_one_call(guard: MakeGuard, run: Run) -> None:
    """ToolRetry runs a failing tool three times for one call of the model."""
    retry = ToolRetryMiddleware(max_retries=2, initial_delay=0, jitter=False)
    script = [*repeats(3, "broken", {"reason": "r"}), says("done")]
    scene = make_scene(guard(), run, script, tools=[broken], arrange=lambda one: [retry, one])
    scene.prompt()
    assert scene.seen == growing("hatatatR3")


@pytest.mark.parametrize("is_first", [True, False], ids=["guard-outside", "guard-inside"])
def test_a_retried_model_gets_the_reminder_again(
    guard: MakeGuard, run: Run, is_first: bool
) -> None:
    """Each attempt at one request is the same request."""
    retry = ModelRetryMiddleware(max_retries=2, initial_delay=0, jitter=False)
    script = [*repeats(3, "grep"), refuse, refuse, *repeats(1, "grep"), refuse, says("done")]
    scene = make_scene(
        guard(), run, script, arrange=lambda one: [one, retry] if is_first else [retry, one]
    )
    scene.prompt()
    reminded, last = "hatatatR3", "hatatatR3at"
    assert scene.seen == ["h", "hat", "hatat", *[reminded] * 3, last, last]
    assert scene.stored == scene.as_stored("hatatatR3ata")


@pytest.mark.parametrize("is_first", [True, False], ids=["guard-outside", "guard-inside"])
def test_a_fallback_model_gets_the_reminder_too(guard: MakeGuard, run: Run, is_first: bool) -> None:
    """The model that stands in sees what the first one saw."""
    second = ScriptedModel(script=[*repeats(1, "grep"), says("done")])
    fallback = ModelFallbackMiddleware(second)
    script = [*repeats(3, "grep"), refuse, refuse]
    scene = make_scene(
        guard(), run, script, arrange=lambda one: [one, fallback] if is_first else [fallback, one]
    )
    scene.prompt()
    stand_in = make_scene(guard(), run, [])
    stand_in.model.requests += second.requests
    assert scene.seen == ["h", "hat", "hatat", "hatatatR3", "hatatatR3at"]
    assert stand_in.seen == ["hatatatR3", "hatatatR3at"]


def test_a_retry_policy_reruns_the_node_with_the_same_request(guard: MakeGuard, run: Run) -> None:
    """LangGraph's own retry runs the whole model node again: one reminder, counted once."""
    script = [*repeats(3, "grep"), refuse, *repeats(1, "grep"), says("done")]
    scene = make_scene(guard(), run, script)
    scene.agent.retry_policy = [RetryPolicy(initial_interval=0, jitter=False, max_attempts=2)]
    scene.prompt()
    assert scene.seen == ["h", "hat", "hatat", "hatatatR3", "hatatatR3", "hatatatR3at"]


def test_a_run_that_raised_goes_on_where_it_broke_off(guard: MakeGuard, run: Run) -> None:
    """The failed request is sent again with its reminder; the channel was not written twice."""
    script = [*repeats(3, "grep"), refuse, *repeats(2, "grep"), says("done")]
    scene = make_scene(guard(), run, script)
    with pytest.raises(ConnectionError):
        scene.prompt()
    scene.go_on()
    assert scene.seen == ["h", "hat", "hatat", *["hatatatR3"] * 2, "hatatatR3at", "hatatatR3atatR5"]


@needs("langchain", "1.2.16", "a cache key without the messages")
def test_results_from_a_cache_count(guard: MakeGuard, run: Run) -> None:
    """A tools node that answers from its cache runs no tool; the calls count all the same."""
    runs = []

    @tool
    def look(at: str) -> str:
        """Look."""
        runs.append(at)
        return "seen"

    script = [*(asks(call("look", {"at": "x"}, f"id{n}")) for n in range(4)), says("done")]
    scene = make_scene(guard(), run, [*script, *script], tools=[look], cache=InMemoryCache())
    scene.agent.nodes["tools"].cache_policy = CachePolicy()
    scene.prompt()
    scene.config = {"configurable": {"thread_id": "2"}}
    scene.prompt()
    assert scene.seen == FOUR * 2
    assert runs == ["x"] * 4


def test_without_saver_and_thread(guard: MakeGuard, run: Run) -> None:
    """Fifty runs of one agent without a thread share nothing."""
    model = ScriptedModel(script=[*repeats(2, "grep"), says("done")] * 50)
    agent: Any = create_agent(model, [call_tool()], middleware=[guard()])
    for _ in range(50):
        run(agent, {"messages": [("user", "go")]})
    stand_in = make_scene(guard(), run, [])
    stand_in.model.requests += model.requests
    assert stand_in.seen == growing("hatat") * 50


def call_tool() -> Any:
    """Return a tool called grep that takes nothing."""

    @tool
    def grep() -> str:
        """Search."""
        return "nothing"

    return grep
