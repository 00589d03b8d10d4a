"""Subgraphs, hand-offs and visits: who is the agent where graphs call graphs."""

from typing import Annotated, Any

import pytest
from deepagents import create_deep_agent
from helpers.models import ScriptedModel, asks, call, repeats, says
from helpers.modes import Run
from helpers.tools import ask_human, grep
from helpers.versions import needs
from helpers.watching import counts, counts_by_agent, watched, watcher
from langchain.agents import create_agent
from langchain.agents.middleware import ToolCallLimitMiddleware
from langchain_core.messages import ToolMessage
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command

GREP = {"pattern": "x"}
ASK = {"question": "x"}
PROMPT = {"messages": [("user", "hi")]}


@pytest.mark.parametrize("checkpointer", [None, True], ids=["stateless", "stateful"])
def test_two_visits_of_one_subgraph_never_share(checkpointer: Any, run: Run) -> None:
    """Each visit is an agent of its own, also where the subgraph remembers its messages."""
    model = ScriptedModel(script=[*repeats(2, "grep", GREP), says("found")] * 2)
    inner: Any = create_agent(model, [grep], checkpointer=checkpointer)
    graph = StateGraph(MessagesState)

    def again(state: MessagesState) -> dict[str, Any]:
        return {"messages": [("user", "again")]}

    graph.add_node("first", inner)
    graph.add_node("again", again)
    graph.add_node("second", inner)
    graph.add_edge(START, "first")
    graph.add_edge("first", "again")
    graph.add_edge("again", "second")
    handler = watcher()
    agent = graph.compile(checkpointer=InMemorySaver())
    run(agent, PROMPT, watched(handler, "t"))
    assert list(counts_by_agent(handler).values()) == [[("grep", 2)], [("grep", 2)]]


def test_what_a_subgraph_returns_is_not_issued_again(run: Run) -> None:
    """A subgraph hands its whole history to its parent, whose own chain it leaves alone."""
    inner_script = [*repeats(2, "grep", GREP), says("found")]
    outer = ScriptedModel(script=[*repeats(1, "grep", GREP), says("ok")] * 2)
    graph = StateGraph(MessagesState)
    graph.add_node("inner", create_agent(ScriptedModel(script=inner_script), [grep]))

    def think(state: MessagesState) -> dict[str, Any]:
        issued = outer.invoke(state["messages"])
        return {"messages": [issued]}

    def act(state: MessagesState) -> dict[str, Any]:
        [one] = state["messages"][-1].tool_calls  # type: ignore[union-attr]
        return {"messages": [ToolMessage("found", tool_call_id=one["id"])]}

    names = ["think", "act", "inner", "think again"]
    for name, node in zip(names, [think, act, None, think], strict=True):
        if node:
            graph.add_node(name, node)
    for name, following in zip([START, *names[:-1]], names, strict=True):
        graph.add_edge(name, following)
    handler = watcher()
    run(graph.compile(), PROMPT, watched(handler))
    assert list(counts_by_agent(handler).values()) == [[("grep", 2)]]


def test_a_hand_off_to_the_parent_is_not_reported(run: Run) -> None:
    """Behind a call that leaves the agent, its model is not asked again."""

    @tool
    def hand_off(reason: str, call_id: Annotated[str, InjectedToolCallId]) -> Command[Any]:
        """Hand over to another agent."""
        answer = ToolMessage("handed over", tool_call_id=call_id)
        return Command(graph=Command.PARENT, goto="other", update={"messages": [answer]})

    reason = {"reason": "x"}
    script = [asks(call("grep", GREP), call("grep", GREP), call("hand_off", reason))]
    graph = StateGraph(MessagesState)
    graph.add_node("one", create_agent(ScriptedModel(script=script), [grep, hand_off]))
    graph.add_node("other", create_agent(ScriptedModel(script=[says("done")]), [grep]))
    graph.add_edge(START, "one")
    handler = watcher()
    result = run(graph.compile(), PROMPT, watched(handler))
    assert (result["messages"][-1].content, counts(handler), handler.live_runs) == ("done", [], 0)


def test_a_limit_that_ends_the_run_is_followed_by_no_model(run: Run) -> None:
    """Where another middleware ends the run, nothing is due any more."""
    limit: Any = ToolCallLimitMiddleware(run_limit=1, exit_behavior="end")
    handler = watcher()
    script = [*repeats(3, "grep", GREP), says("done")]
    run(
        create_agent(ScriptedModel(script=script), [grep], middleware=[limit]),
        PROMPT,
        watched(handler),
    )
    assert counts(handler) == []


def test_parallel_subagents_that_both_pause(run: Run) -> None:
    """Each of two subagents of one step goes on with its own chain."""

    def turn(messages: list[Any]) -> Any:
        asked = sum(message.type == "ai" for message in messages)
        wanted = int(messages[0].text)
        return says("found") if asked == wanted else asks(call("ask_human", ASK))

    inner: Any = create_agent(ScriptedModel(script=turn), [ask_human])

    @tool
    def delegate(times: str) -> str:
        """Have another agent do it."""
        return str(inner.invoke({"messages": [("user", times)]})["messages"][-1].content)

    step = asks(call("delegate", {"times": "2"}), call("delegate", {"times": "3"}))
    agent = create_agent(
        ScriptedModel(script=[step, says("done")]), [delegate], checkpointer=InMemorySaver()
    )
    handler = watcher()
    config = watched(handler, "t")
    run(agent, PROMPT, config)
    while pauses := agent.get_state(config).interrupts:
        run(agent, Command(resume={pause.id: "yes" for pause in pauses}), config)
    assert sorted(counts_by_agent(handler).values()) == [
        [("ask_human", 2)],
        [("ask_human", 2)],
        [("ask_human", 3)],
    ]


@needs("deepagents", "0.3.7", "names of subagents")
def test_parallel_subagents_of_deepagents(run: Run) -> None:
    """Two `task` calls of one message are two agents."""

    def turn(messages: list[Any]) -> Any:
        asked = sum(message.type == "ai" for message in messages)
        return says("found") if asked == 2 else asks(call("grep", GREP))

    order = {"description": "search", "subagent_type": "searcher"}
    agent = create_deep_agent(
        ScriptedModel(script=[asks(call("task", order), call("task", order)), says("done")]),
        subagents=[
            {
                "name": "searcher",
                "description": "Searches.",
                "system_prompt": "Search.",
                "tools": [grep],
                "model": ScriptedModel(script=turn),
            }
        ],
    )
    handler = watcher()
    run(agent, PROMPT, watched(handler))
    assert sorted((one.tool, one.count, one.agent_name) for one in handler.reminders) == [
        ("grep", 2, "searcher"),
        ("grep", 2, "searcher"),
        ("task", 2, None),
    ]


def test_a_subagent_under_a_thread_of_its_own(run: Run) -> None:
    """It starts at the root namespace of that thread, and yet is not its parent."""
    saver = InMemorySaver()
    inner_model = ScriptedModel(script=[*repeats(2, "ask_human", ASK), says("found")] * 2)
    inner: Any = create_agent(inner_model, [ask_human], checkpointer=saver)

    @tool
    def delegate(order: str) -> str:
        """Have another agent do it."""
        own: Any = {"configurable": {"thread_id": "inner"}}
        inner.invoke({"messages": [("user", order)]}, own)
        while inner.get_state(own).next:
            inner.invoke(Command(resume="yes"), own)
        return "found"

    outer = ScriptedModel(script=[*repeats(2, "delegate", {"order": "x"}), says("done")])
    agent = create_agent(outer, [delegate], checkpointer=saver)
    handler = watcher()
    run(agent, PROMPT, watched(handler, "t"))
    assert counts(handler) == [("ask_human", 2), ("ask_human", 2), ("delegate", 2)]
