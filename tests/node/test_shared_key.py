"""`RepeatGuardState` in a graph and in its subgraphs, which share their state keys."""

from itertools import pairwise
from typing import Any

import pytest
from helpers.graphs import ChannelState
from helpers.models import ScriptedModel, asks, call, repeats, says
from helpers.modes import Run
from helpers.tools import grep, read
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from langchain_repeat_guard import RepeatGuardNode, RepeatReminderNode, is_reminder
from langchain_repeat_guard.history.visits import part_of, with_part

GREP = {"pattern": "x"}


def agent(model: ScriptedModel, place: str, state: Any = ChannelState) -> Any:
    """Return an agent that keeps its chain under the shared key."""
    graph = StateGraph(state)
    graph.add_node("model", lambda value: {"messages": [model.invoke(value["messages"])]})
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    if place == "around-tools":
        graph.add_node("tools", RepeatGuardNode(ToolNode([grep, read])))
        graph.add_edge("tools", "model")
    else:
        graph.add_node("tools", ToolNode([grep, read]))
        graph.add_node("remind", RepeatReminderNode())
        graph.add_edge("tools", "remind")
        graph.add_edge("remind", "model")
    return graph.compile()


def reminded(model: ScriptedModel) -> list[bool]:
    """Tell for each request whether it ends in a reminder."""
    return [is_reminder(request[-1]) for request in model.requests]


@pytest.mark.parametrize("place", ["around-tools", "before-model"])
@pytest.mark.parametrize("state", [MessagesState, ChannelState], ids=["messages", "with-channel"])
def test_visits_share_no_chain(place: str, state: Any, run: Run) -> None:
    """Whether or not the parent has the key, too."""
    script = [turn for calls in (2, 1, 3) for turn in (*repeats(calls, "grep", GREP), says("ok"))]
    model = ScriptedModel(script=script)
    graph = StateGraph(state)
    names = [START, "a", "b", "c"]
    for name in names[1:]:
        graph.add_node(name, agent(model, place))
    for one, following in pairwise(names):
        graph.add_edge(one, following)
    run(graph.compile(), {"messages": "go"})
    assert reminded(model) == [False] * 8 + [True]


@pytest.mark.parametrize("place", ["around-tools", "before-model"])
def test_the_parent_keeps_its_chain_over_a_visit(place: str, run: Run) -> None:
    """A visit without calls changes nothing for the parent, and has a chain of its own."""
    inner = ScriptedModel(script=[says("nothing to do")])
    outer = ScriptedModel(
        script=[*repeats(2, "grep", GREP), says("visit"), *repeats(1, "grep", GREP), says("done")]
    )
    graph = StateGraph(ChannelState)
    graph.add_node("model", lambda value: {"messages": [outer.invoke(value["messages"])]})
    graph.add_node("tools", RepeatGuardNode(ToolNode([grep])))
    graph.add_node("visit", agent(inner, place))
    graph.add_edge(START, "model")
    graph.add_edge("tools", "model")
    graph.add_edge("visit", "model")

    def route(value: Any) -> str:
        last = value["messages"][-1]
        return "tools" if last.tool_calls else "visit" if last.content == "visit" else END

    graph.add_conditional_edges("model", route)
    run(graph.compile(), {"messages": "go"})
    assert reminded(outer) == [False, False, False, False, True]


def test_a_visit_does_not_go_on_with_the_chain_of_its_parent(run: Run) -> None:
    """Two calls of the parent and one of the visit are a chain of two and one of one."""
    inner = ScriptedModel(script=[*repeats(1, "grep", GREP), says("done")])
    graph = StateGraph(ChannelState)
    outer = ScriptedModel(script=[*repeats(2, "grep", GREP), asks(call("read", {"path": "a"}))])
    graph.add_node("parent", lambda value: {"messages": [outer.invoke(value["messages"])]})
    graph.add_node("tools", RepeatGuardNode(ToolNode([grep, read]), exclude=("read",)))
    graph.add_node("visit", agent(inner, "around-tools"))
    graph.add_edge(START, "parent")
    graph.add_edge("parent", "tools")

    def route(value: Any) -> str:
        return "visit" if value["messages"][-1].name == "read" else "parent"

    graph.add_conditional_edges("tools", route, ["parent", "visit"])
    run(graph.compile(), {"messages": "go"})
    assert (len(outer.requests), reminded(inner)) == (3, [False, False])


def test_parts_of_one_key() -> None:
    """Each visit reads its own part, the outermost graph what is no visit's."""
    own, other = {"chain": 1}, {"chain": 2}
    stored = with_part(own, "a:1", other)
    parts = [part_of(stored, graph) for graph in ("", "a:1", "a:2")]
    assert parts == [own, other, None]
    assert with_part(stored, "", other) == other


def test_what_goes_on_is_kept() -> None:
    """The graphs around a visit, and subgraphs with a memory; no checkpoint grows by more."""
    stored: dict[str, Any] = {"chain": 0}
    graphs = ["a:1", "a:1|b", *(f"a:1|c:{number}" for number in range(9))]
    for number, graph in enumerate(graphs):
        stored = with_part(stored, graph, {"chain": number})
    kept = {graph: part_of(stored, graph) for graph in ("", *graphs)}
    assert {graph: part["chain"] for graph, part in kept.items() if part} == {
        "": 0,
        "a:1": 0,
        "a:1|c:8": 10,
    }
    stored = with_part(with_part({"chain": 0}, "memory", {"chain": 1}), "", {"chain": 2})
    assert (part_of(stored, ""), part_of(stored, "memory")) == ({"chain": 2}, {"chain": 1})


@pytest.mark.parametrize("stored", ["text", {"visits": "text"}, {"visits": {"v1": 1}}, None])
def test_what_is_not_ours_is_handed_on_for_the_check(stored: Any) -> None:
    """And is replaced in the end."""
    assert part_of(stored, "a:1") in ("text", None)
    assert part_of(with_part(stored, "a:1", {"chain": 1}), "a:1") == {"chain": 1}
