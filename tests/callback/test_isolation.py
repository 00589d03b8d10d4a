"""Agents never mix, however many share a handler, and none leaves anything behind."""

import asyncio
import gc
from concurrent.futures import ThreadPoolExecutor
from threading import Thread
from typing import Any
from uuid import uuid4

import pytest
from helpers.models import ScriptedModel, asks, call, repeats, says
from helpers.modes import Run
from helpers.tools import ask_human, grep
from helpers.watching import counts, counts_by_agent, watched, watcher
from langchain.agents import create_agent
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphInterrupt
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, Send

from langchain_repeat_guard import RepeatGuardCallbackHandler

GREP = {"pattern": "x"}
PROMPT = {"messages": [("user", "hi")]}
RUNS = 160


def turn(messages: list[BaseMessage]) -> Any:
    """Repeat one call as often as the prompt says: a model that many agents can share."""
    asked = sum(message.type == "ai" for message in messages)
    wanted = int(messages[0].text)
    return asks(call("grep", {"pattern": str(wanted)})) if asked < wanted else says("done")


def prompt(number: int) -> dict[str, Any]:
    return {"messages": [("user", str(2 + number % 4))]}


EXPECTED = sorted([("grep", count) for count in range(2, 3 + number % 4)] for number in range(RUNS))


def reported(handler: RepeatGuardCallbackHandler) -> list[list[tuple[str, int]]]:
    return sorted(counts_by_agent(handler).values())


def test_runs_in_many_threads() -> None:
    """160 runs from 16 threads, one handler."""
    handler = watcher(keep_reminders=1000)
    agent: Any = create_agent(ScriptedModel(script=turn), [grep])
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda n: agent.invoke(prompt(n), watched(handler)), range(RUNS)))
    assert (reported(handler), handler.live_runs) == (EXPECTED, 0)


def test_runs_in_one_event_loop() -> None:
    """160 runs at once in one loop, one handler."""
    handler = watcher(keep_reminders=1000)
    agent: Any = create_agent(ScriptedModel(script=turn), [grep])

    async def all_at_once() -> None:
        await asyncio.gather(*[agent.ainvoke(prompt(n), watched(handler)) for n in range(RUNS)])

    asyncio.run(all_at_once())
    assert (reported(handler), handler.live_runs) == (EXPECTED, 0)


def test_parallel_subagents_of_one_step(run: Run) -> None:
    """Subagents that one message starts at once have a chain each."""
    agent: Any = create_agent(ScriptedModel(script=turn), [grep])

    @tool
    def delegate(times: str) -> str:
        """Have another agent do it."""
        return str(agent.invoke({"messages": [("user", times)]})["messages"][-1].content)

    step = asks(*[call("delegate", {"times": str(times)}) for times in (2, 3, 4)])
    handler = watcher()
    parent = create_agent(ScriptedModel(script=[step, says("done")]), [delegate])
    run(parent, PROMPT, watched(handler))
    assert reported(handler) == [
        [("grep", 2)],
        [("grep", 2), ("grep", 3)],
        [("grep", 2), ("grep", 3), ("grep", 4)],
    ]


def test_parallel_visits_of_one_subgraph(run: Run) -> None:
    """Every `Send` to an agent is a visit of its own."""
    graph = StateGraph(MessagesState)
    graph.add_node("agent", create_agent(ScriptedModel(script=turn), [grep]))
    graph.add_conditional_edges(START, lambda _: [Send("agent", prompt(n)) for n in range(2)])
    handler = watcher()
    run(graph.compile(), PROMPT, watched(handler))
    assert reported(handler) == [[("grep", 2)], [("grep", 2), ("grep", 3)]]


@pytest.mark.parametrize("attach", ["twice", "graph-and-run", "tool-too"])
def test_a_handler_that_is_attached_twice_counts_once(attach: str, run: Run) -> None:
    """However often one handler is attached, each call counts once."""
    handler = watcher()
    own = grep.model_copy(update={"callbacks": [handler]}) if attach == "tool-too" else grep
    agent: Any = create_agent(ScriptedModel(script=[*repeats(3, "grep", GREP), says()]), [own])
    if attach == "graph-and-run":
        agent = agent.with_config(callbacks=[handler])
    run(agent, PROMPT, {"callbacks": [handler, handler]})
    assert counts(handler) == [("grep", 2), ("grep", 3)]


def test_an_event_that_comes_twice_counts_once() -> None:
    """The same start and end of one run, delivered again, are no second call."""
    handler = watcher()
    agent, parent = uuid4(), None
    handler.on_chain_start({}, {}, run_id=agent, parent_run_id=parent)
    for _ in range(2):
        run_id = uuid4()
        for _ in range(2):
            handler.on_tool_start(
                {"name": "grep"}, "{}", run_id=run_id, parent_run_id=agent, inputs=GREP
            )
        for _ in range(2):
            handler.on_tool_end("", run_id=run_id)
    assert counts(handler) == [("grep", 2)]


def test_finished_runs_leave_nothing() -> None:
    """After 100,000 runs the handler holds nothing of them, whatever way they ended."""
    handler = watcher(thresholds=(3,))
    before = len(gc.get_objects())
    for number in range(100_000):
        agent, tool_run = uuid4(), uuid4()
        metadata = {"thread_id": str(number)}
        handler.on_chain_start({}, {}, run_id=agent, metadata=metadata)
        handler.on_tool_start(
            {"name": "grep"}, "", run_id=tool_run, parent_run_id=agent, inputs=GREP
        )
        if number % 4 == 0:
            handler.on_tool_error(ValueError(), run_id=tool_run)
            handler.on_chain_error(ValueError(), run_id=agent)
        elif number % 4 == 1:
            handler.on_chain_end({}, run_id=agent)  # its tool never ends
        else:
            handler.on_tool_end("", run_id=tool_run)
            handler.on_chain_end({}, run_id=agent)
    gc.collect()
    assert (handler.live_runs, len(gc.get_objects()) - before < 100) == (0, True)


def test_finished_threads_of_graphs_leave_nothing() -> None:
    """A thread that has ended by itself is not kept for a resume."""
    handler = watcher()
    agent: Any = create_agent(ScriptedModel(script=turn), [grep], checkpointer=InMemorySaver())
    for number in range(30):
        agent.invoke(prompt(number), watched(handler, str(number)))
    assert handler.live_runs == 0


def test_runs_that_never_end_are_capped() -> None:
    """The oldest are given up, whole."""
    handler = watcher(max_runs=20)
    runs = []
    for _ in range(50):
        agent, tool_run = uuid4(), uuid4()
        runs.append((agent, tool_run))
        handler.on_chain_start({}, {}, run_id=agent)
        handler.on_tool_start({"name": "g"}, "", run_id=tool_run, parent_run_id=agent, inputs=GREP)
    held = handler.live_runs
    for agent, tool_run in runs:
        handler.on_tool_end("", run_id=tool_run)
        handler.on_chain_end({}, run_id=agent)
    assert (held, handler.live_runs) == (20, 0)


def test_a_reused_thread_whose_memory_was_given_up_starts_from_nothing() -> None:
    """Eviction leaves no half of a chain behind."""
    handler = watcher(thresholds=(3,), max_runs=2)
    first = uuid4()

    def calls(agent: Any, times: int) -> None:
        for _ in range(times):
            run_id = uuid4()
            handler.on_tool_start({"name": "g"}, "", run_id=run_id, parent_run_id=agent, inputs={})
            handler.on_tool_end("", run_id=run_id)

    handler.on_chain_start({}, {}, run_id=first)
    calls(first, 4)
    for _ in range(3):
        handler.on_chain_start({}, {}, run_id=uuid4())
    again = uuid4()
    handler.on_chain_start({}, {}, run_id=again)
    calls(again, 1)
    assert (counts(handler), handler.live_runs) == ([("g", 3)], 1)


def test_the_newest_interrupted_threads_are_kept() -> None:
    """Of 1,010 interrupted threads the oldest ten are forgotten."""
    handler = watcher()
    for number in range(1010):
        graph, node = uuid4(), uuid4()
        thread = {"thread_id": str(number)}
        place = {**thread, "langgraph_step": 1, "langgraph_checkpoint_ns": "tools:1"}
        handler.on_chain_start({}, {}, run_id=graph, metadata=thread)
        handler.on_chain_start(
            {}, {}, run_id=node, parent_run_id=graph, tags=["graph:step:1"], metadata=place
        )
        handler.on_chain_error(GraphInterrupt(), run_id=node)
        handler.on_chain_end({}, run_id=graph)
    assert handler.live_runs == 1000


def test_no_argument_is_kept() -> None:
    """Neither a finished nor an interrupted run leaves a call's arguments in memory."""
    secret = {"question": "s3cret-argument"}
    handler = watcher(thresholds=(2,))
    script = repeats(4, "ask_human", secret)
    agent: Any = create_agent(
        ScriptedModel(script=script), [ask_human], checkpointer=InMemorySaver()
    )
    resume: Any
    for resume in (PROMPT, Command(resume=""), Command(resume="")):
        agent.invoke(resume, watched(handler, "t"))
    assert (counts(handler), handler.live_runs) == ([("ask_human", 2)], 1)
    assert [held for held in everything_held(handler) if "s3cret" in held] == []


def test_no_argument_is_held_while_the_tools_run(run: Run) -> None:
    """They are held no longer than the model's node runs, which may change them."""
    handler = watcher(thresholds=(2,))
    held: list[list[str]] = []

    @tool
    def look(text: str) -> str:
        """Look at what the handler holds."""
        held.append([found for found in everything_held(handler) if "s3cret" in found])
        return ""

    script = [*repeats(2, "look", {"text": "s3cret-argument"}), says("done")]
    run(create_agent(ScriptedModel(script=script), [look]), PROMPT, watched(handler))
    assert (counts(handler), held) == ([("look", 2)], [[], []])


def everything_held(root: object) -> list[str]:
    """Return all strings that can be reached from an object through its attributes."""
    strings, seen, todo = [], set(), [root]
    while todo:
        one = todo.pop()
        if id(one) in seen or isinstance(one, type) or callable(one):
            continue
        seen.add(id(one))
        if isinstance(one, str):
            strings.append(one)
        todo += gc.get_referents(one)
    return strings


@pytest.mark.parametrize("kind", ["sync-tool", "async-tool"])
def test_a_cancelled_run_leaves_nothing(kind: str) -> None:
    """Cancelled in the middle of a call, the step never completes and nothing is held."""
    handler = watcher()

    async def cancelled() -> None:
        started, release = asyncio.Event(), asyncio.Event()

        @tool
        async def wait(times: int) -> str:
            """Wait."""
            started.set()
            await release.wait()
            return ""

        @tool
        def block(times: int) -> str:
            """Block a worker thread until the run is gone."""
            loop.call_soon_threadsafe(started.set)
            asyncio.run_coroutine_threadsafe(release.wait(), loop).result()
            return ""

        loop = asyncio.get_running_loop()
        own = wait if kind == "async-tool" else block
        step = asks(*[call(own.name, {"times": 1})] * 2)
        agent: Any = create_agent(ScriptedModel(script=[step]), [own])
        running = asyncio.create_task(agent.ainvoke(PROMPT, watched(handler)))
        await started.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        release.set()

    asyncio.run(cancelled())
    assert (counts(handler), handler.live_runs) == ([], 0)


def test_code_in_a_bare_thread_is_not_seen() -> None:
    """A thread without the run's context has no agent, and raises nothing."""

    def work(_: Any) -> str:
        thread = Thread(target=lambda: [grep.invoke(GREP) for _ in range(3)])
        thread.start()
        thread.join()
        return "done"

    handler = watcher()
    RunnableLambda(work).invoke("go", watched(handler))
    assert (counts(handler), handler.live_runs) == ([], 0)
