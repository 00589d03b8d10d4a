"""Agents as nodes of a graph, on the messages of earlier visits and of other agents."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from helpers.graphs import react_agent
from helpers.models import ScriptedModel, repeats, says
from helpers.modes import Run
from helpers.tools import grep
from langchain.agents import create_agent
from langchain_core.messages import BaseMessage
from langgraph.graph import START, MessagesState, StateGraph

from langchain_repeat_guard import (
    RepeatGuardMiddleware,
    RepeatReminderNode,
    TransientRepeatGuardMiddleware,
    is_reminder,
)

GREP = {"pattern": "x"}
Build = Callable[[ScriptedModel], Any]

BUILDS: dict[str, Build] = {
    "stored": lambda model: create_agent(model, [grep], middleware=[RepeatGuardMiddleware()]),
    "transient": lambda model: create_agent(
        model, [grep], middleware=[TransientRepeatGuardMiddleware()]
    ),
    "hook": lambda model: react_agent(model, [grep], pre_model_hook=RepeatReminderNode()),
}


def requests(build: Build, run: Run, *calls_of_visits: int) -> list[list[BaseMessage]]:
    """Let one agent be visited without a prompt between; each visit makes so many calls."""
    script = [
        turn for calls in calls_of_visits for turn in (*repeats(calls, "grep", GREP), says("done"))
    ]
    model = ScriptedModel(script=script)
    agent = build(model)
    graph = StateGraph(MessagesState)
    names = [f"visit-{number}" for number in range(len(calls_of_visits))]
    for name in names:
        graph.add_node(name, agent)
    graph.add_edge(START, names[0])
    for one, following in pairwise(names):
        graph.add_edge(one, following)
    run(graph.compile(), {"messages": [("user", "go")]}, {})
    return model.requests


@pytest.mark.parametrize("build", BUILDS.values(), ids=BUILDS)
def test_a_visit_does_not_go_on_with_the_calls_of_another(build: Build, run: Run) -> None:
    """Two calls in each visit are a chain of two, whatever the shared messages hold."""
    assert not any(map(is_reminder, requests(build, run, 2, 2, 2)[-1]))


@pytest.mark.parametrize("build", BUILDS.values(), ids=BUILDS)
def test_each_visit_is_reminded_of_its_own_calls(build: Build, run: Run) -> None:
    """At the third call of the visit, no earlier and no later."""
    seen = requests(build, run, 1, 4)
    assert [is_reminder(request[-1]) for request in seen] == [False] * 5 + [True, False]
