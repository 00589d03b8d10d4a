"""Calls count whatever becomes of them, also where no event of a tool is fired."""

from typing import Any

import pytest
from helpers.models import ScriptedModel, asks, call, malformed, repeats, says
from helpers.modes import Run
from helpers.tools import broken, finish, grep, ping, refusing
from helpers.versions import needs
from helpers.watching import counts, watched, watcher
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    LLMToolSelectorMiddleware,
    ModelFallbackMiddleware,
    ModelRetryMiddleware,
    SummarizationMiddleware,
    ToolCallLimitMiddleware,
    ToolRetryMiddleware,
)
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import StructuredTool
from langgraph.cache.memory import InMemoryCache
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import CachePolicy, RetryPolicy
from pydantic import BaseModel

GREP = {"pattern": "x"}
PROMPT = {"messages": [("user", "hi")]}
ANSWERS_MALFORMED_CALLS = needs("langchain", "1.4.3", "answers to malformed calls")


class ShortCircuit(AgentMiddleware[Any, Any]):
    """Answers every call itself."""

    def wrap_tool_call(self, request: Any, handler: Any) -> ToolMessage:
        return ToolMessage("cached", tool_call_id=request.tool_call["id"])

    async def awrap_tool_call(self, request: Any, handler: Any) -> ToolMessage:
        return self.wrap_tool_call(request, handler)


class OtherArguments(AgentMiddleware[Any, Any]):
    """Gives every call arguments of its own."""

    calls = 0

    def _changed(self, request: Any) -> Any:
        self.calls += 1
        changed = {**request.tool_call, "args": {"pattern": str(self.calls)}}
        return request.override(tool_call=changed)

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        return handler(self._changed(request))

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        return await handler(self._changed(request))


def unreliable() -> StructuredTool:
    """Return a tool whose second call fails."""
    calls: list[str] = []

    def search(pattern: str) -> str:
        calls.append(pattern)
        if len(calls) == 2:
            msg = "busy"
            raise ConnectionError(msg)
        return "nothing"

    return StructuredTool.from_function(search, description="Search.")


def agent(script: list[Any], *tools: Any, **options: Any) -> Any:
    return create_agent(ScriptedModel(script=script), list(tools), **options)


def test_unknown_tools_count(run: Run) -> None:
    """A tool that does not exist is called as often as the model says."""
    handler = watcher()
    run(agent([*repeats(3, "gerp", GREP), says()], grep), PROMPT, watched(handler))
    assert counts(handler) == [("gerp", 2), ("gerp", 3)]


def test_calls_with_invalid_arguments_count(run: Run) -> None:
    """Arguments that the tool refuses are compared as the model wrote them."""
    handler = watcher()
    run(agent([*repeats(2, "grep", {"patern": "x"}), says()], grep), PROMPT, watched(handler))
    assert counts(handler) == [("grep", 2)]


@pytest.mark.parametrize("blocked_by", ["limit", "short-circuit"])
def test_blocked_calls_count(blocked_by: str, run: Run) -> None:
    """A call that a middleware answers itself counts."""
    middleware: Any = {
        "limit": ToolCallLimitMiddleware(run_limit=1, exit_behavior="continue"),
        "short-circuit": ShortCircuit(),
    }[blocked_by]
    handler = watcher()
    script = [*repeats(3, "grep", GREP), says()]
    run(agent(script, grep, middleware=[middleware]), PROMPT, watched(handler))
    assert counts(handler) == [("grep", 2), ("grep", 3)]


def test_a_blocked_call_among_parallel_ones_keeps_its_place(run: Run) -> None:
    """Blocked and executed calls of one message count in the order of the message."""
    limit: Any = ToolCallLimitMiddleware(tool_name="ping", run_limit=1)
    step = [call("ping"), call("grep", GREP), call("ping"), call("ping")]
    handler = watcher()
    script = [asks(*step), asks(call("ping")), says()]
    run(agent(script, grep, ping, middleware=[limit]), PROMPT, watched(handler))
    assert counts(handler) == [("ping", 2), ("ping", 3)]


def test_changed_arguments_do_not_hide_a_repetition(run: Run) -> None:
    """What the model issued counts, not what a middleware makes of it."""
    changing: Any = OtherArguments()
    handler = watcher()
    script = [*repeats(2, "grep", GREP), says()]
    run(agent(script, grep, middleware=[changing]), PROMPT, watched(handler))
    assert counts(handler) == [("grep", 2)]


def test_cached_calls_count(run: Run) -> None:
    """A call that LangGraph answers from its cache starts no run at all."""
    graph = StateGraph(MessagesState)
    script = [*(asks(call("grep", GREP, "same")) for _ in range(3)), says()]
    model = ScriptedModel(script=[*script, *script])
    graph.add_node("think", lambda state: {"messages": [model.invoke(state["messages"])]})
    key = CachePolicy(key_func=lambda state: str(len(state["messages"])))
    graph.add_node("act", ToolNode([grep]), cache_policy=key)
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", tools_condition, {"tools": "act", END: END})
    graph.add_edge("act", "think")
    agent = graph.compile(cache=InMemoryCache())
    run(agent, PROMPT)
    handler = watcher()
    run(agent, PROMPT, watched(handler))
    assert counts(handler) == [("grep", 2), ("grep", 3)]


@ANSWERS_MALFORMED_CALLS
def test_malformed_calls_count(run: Run) -> None:
    """A call whose arguments are no JSON counts by its raw text."""
    raw = ["{", "{", "{ ", "{ "]
    script = [
        asks(call("ping"), malformed("grep", text, id=f"bad-{turn}"))
        for turn, text in enumerate(raw)
    ]
    handler = watcher(exclude=("ping",))
    run(agent([*script, says()], grep, ping), PROMPT, watched(handler))
    assert counts(handler) == [("grep", 2), ("grep", 2)]


@ANSWERS_MALFORMED_CALLS
def test_a_malformed_call_keeps_its_place(run: Run) -> None:
    """Its place among the others is where the provider's own form of the message has it."""

    def step(turn: int) -> AIMessage:
        ids = [f"{letter}-{turn}" for letter in "abc"]
        names, texts = ["ping", "grep", "ping"], ["{}", "{", "{}"]
        message = asks(
            call("ping", id=ids[0]), malformed("grep", "{", id=ids[1]), call("ping", id=ids[2])
        )
        message.additional_kwargs["tool_calls"] = [
            {"id": one, "type": "function", "function": {"name": name, "arguments": text}}
            for one, name, text in zip(ids, names, texts, strict=True)
        ]
        return message

    handler = watcher()
    run(agent([step(0), step(1), says()], grep, ping), PROMPT, watched(handler))
    assert counts(handler) == [("ping", 2)]


def test_failed_calls_count(run: Run) -> None:
    """An error that a tool reports to the model is an answer."""
    handler = watcher()
    script = [*repeats(3, "refusing", {"reason": "no"}), says()]
    run(agent(script, refusing), PROMPT, watched(handler))
    assert counts(handler) == [("refusing", 2), ("refusing", 3)]


def test_a_step_that_fails_the_run_does_not_count(run: Run) -> None:
    """An error that ends the run leaves the step incomplete."""
    handler = watcher()
    with pytest.raises(RuntimeError, match="no"):
        run(
            agent([*repeats(2, "broken", {"reason": "no"}), says()], broken),
            PROMPT,
            watched(handler),
        )
    assert (counts(handler), handler.live_runs) == ([], 0)


def test_the_attempts_of_one_call_are_one(run: Run) -> None:
    """Retries of a tool are not the model's."""
    retry: Any = ToolRetryMiddleware(max_retries=2, initial_delay=0, jitter=False)
    handler = watcher()
    script = [*repeats(2, "search", GREP), says()]
    run(agent(script, unreliable(), middleware=[retry]), PROMPT, watched(handler))
    assert counts(handler) == [("search", 2)]


@pytest.mark.parametrize("parallel", [1, 3])
def test_a_node_that_is_run_again_issues_nothing_again(parallel: int, run: Run) -> None:
    """A node's retry carries out the same calls again."""
    busy = unreliable()
    graph = StateGraph(MessagesState)
    step = [asks(*[call("search", GREP) for _ in range(parallel)]) for _ in range(2)]
    model = ScriptedModel(script=[*step, says()])
    graph.add_node("think", lambda state: {"messages": [model.invoke(state["messages"])]})
    policy = RetryPolicy(max_attempts=9, initial_interval=0.0001, jitter=False)
    graph.add_node("act", ToolNode([busy]), retry_policy=policy)
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", tools_condition, {"tools": "act", END: END})
    graph.add_edge("act", "think")
    handler = watcher()
    run(graph.compile(), PROMPT, watched(handler))
    assert counts(handler) == [("search", count) for count in range(2, 2 * parallel + 1)]


def test_a_loop_inside_a_node_that_is_run_again_starts_anew(run: Run) -> None:
    """A failed attempt of a node that loops itself takes its calls back."""
    attempts = iter([True, False])

    def work(state: Any) -> dict[str, Any]:
        for _ in range(3):
            grep.invoke(GREP)
        if next(attempts):
            raise ConnectionError
        return {}

    graph = StateGraph(MessagesState)
    policy = RetryPolicy(max_attempts=2, initial_interval=0.0001, jitter=False)
    graph.add_node("work", work, retry_policy=policy)
    graph.add_edge(START, "work")
    handler = watcher()
    run(graph.compile(), PROMPT, watched(handler))
    assert counts(handler) == [("grep", 2), ("grep", 3)]


def test_a_model_that_is_asked_again_issues_once(run: Run) -> None:
    """An answer that was never taken up counts for nothing."""

    def fails(_: Any) -> AIMessage:
        raise ConnectionError

    first = ScriptedModel(
        script=[*repeats(1, "grep", GREP), fails, *repeats(1, "grep", GREP), fails]
    )
    second = ScriptedModel(script=[*repeats(1, "grep", GREP), says()])
    fallback: Any = ModelFallbackMiddleware(second)
    handler = watcher()
    run(create_agent(first, [grep], middleware=[fallback]), PROMPT, watched(handler))
    assert counts(handler) == [("grep", 2), ("grep", 3)]


def test_no_report_where_no_model_reads_it(run: Run) -> None:
    """A tool that ends the run is followed by no model."""
    handler = watcher()
    script = [asks(call("finish", {"answer": "x"}), call("finish", {"answer": "x"}))]
    run(agent(script, finish), PROMPT, watched(handler))
    assert counts(handler) == []


class Answer(BaseModel):
    """The final answer."""

    text: str


def test_structured_answers_that_are_refused_count(run: Run) -> None:
    """An answer by tool is a call; a wrong one is answered and the model goes on."""
    wrong = {"texts": "x"}
    script = [*repeats(3, "Answer", wrong), asks(call("Answer", {"text": "x"}))]
    handler = watcher()
    run(agent(script, grep, response_format=ToolStrategy(Answer)), PROMPT, watched(handler))
    assert counts(handler) == [("Answer", 2), ("Answer", 3)]


def test_other_models_of_the_graph_neither_count_nor_reset(run: Run) -> None:
    """A model that chooses tools answers by a call that nobody carries out."""
    choice = {"tools": ["grep"]}
    chooser = ScriptedModel(
        script=lambda _: asks(call("ToolSelectionResponse", choice, "call-of-the-chooser"))
    )
    select: Any = LLMToolSelectorMiddleware(model=chooser, max_tools=1)
    handler = watcher()
    script = [*repeats(3, "grep", GREP), says()]
    run(agent(script, grep, ping, middleware=[select]), PROMPT, watched(handler))
    assert counts(handler) == [("grep", 2), ("grep", 3)]


@pytest.mark.parametrize("keep", [1, 2])
def test_a_summary_breaks_no_chain(keep: int, run: Run) -> None:
    """The chain does not depend on what the messages still hold."""
    summaries = ScriptedModel(script=lambda _: says("the story so far"))
    shorten: Any = SummarizationMiddleware(
        model=summaries, trigger=("messages", 4), keep=("messages", keep)
    )
    handler = watcher()
    script = [*repeats(5, "grep", GREP), says()]
    run(agent(script, grep, middleware=[shorten]), PROMPT, watched(handler))
    assert counts(handler) == [("grep", count) for count in range(2, 6)]


def test_a_prompt_from_a_node_starts_a_new_chain(run: Run) -> None:
    """A user may speak in the middle of a run."""
    said = iter([[], [HumanMessage("please go on")], []])

    def listen(state: MessagesState) -> dict[str, Any]:
        return {"messages": next(said)}

    graph = StateGraph(MessagesState)
    model = ScriptedModel(script=[*repeats(3, "grep", GREP), says()])
    graph.add_node("think", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("act", ToolNode([grep]))
    graph.add_node("listen", listen)
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", tools_condition, {"tools": "act", END: END})
    graph.add_edge("act", "listen")
    graph.add_edge("listen", "think")
    handler = watcher()
    run(graph.compile(), PROMPT, watched(handler))
    assert counts(handler) == []


def test_a_model_that_is_asked_again_over_one_step_is_reported_once(run: Run) -> None:
    """A retry of the model's request reports nothing again."""

    def fails(_: Any) -> AIMessage:
        raise ConnectionError

    retry: Any = ModelRetryMiddleware(max_retries=2, initial_delay=0, jitter=False)
    handler = watcher()
    script = [*repeats(2, "grep", GREP), fails, fails, says()]
    run(agent(script, grep, middleware=[retry]), PROMPT, watched(handler))
    assert counts(handler) == [("grep", 2)]
