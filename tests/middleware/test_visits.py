"""Agents as nodes of a graph, on the messages of earlier visits and of other agents."""

from collections.abc import Callable
from itertools import pairwise
from typing import Annotated, Any

import pytest
from helpers.graphs import react_agent
from helpers.models import ScriptedModel, asks, call, repeats, says
from helpers.modes import Run
from helpers.tools import finish, grep, read
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import BaseMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedState
from langgraph.types import Command
from pydantic import BaseModel

from langchain_repeat_guard import (
    RepeatGuardMiddleware,
    RepeatReminderNode,
    TransientRepeatGuardMiddleware,
    is_reminder,
)

GREP = {"pattern": "x"}


@tool
def ask(tool_call_id: Annotated[str, InjectedToolCallId]) -> Command[Any]:
    """Let a person say something."""
    done = ToolMessage("asked", tool_call_id=tool_call_id)
    return Command(update={"messages": [done, HumanMessage("and now?")]})


Build = Callable[..., Any]

BUILDS: dict[str, Build] = {
    "stored": lambda model, **options: create_agent(
        model, [grep, ask], middleware=[RepeatGuardMiddleware()], **options
    ),
    "transient": lambda model, **options: create_agent(
        model, [grep, ask], middleware=[TransientRepeatGuardMiddleware()], **options
    ),
    "hook": lambda model, **options: react_agent(
        model, [grep, ask], pre_model_hook=RepeatReminderNode(), **options
    ),
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


class Report(BaseModel):
    """A structured answer."""

    lines: int


MIDDLEWARES = [RepeatGuardMiddleware, TransientRepeatGuardMiddleware]
each_middleware = pytest.mark.parametrize("guard", MIDDLEWARES)


def one_after_another(*agents: Any, **options: Any) -> Any:
    """Return a graph in which each agent works on the messages of those before it."""
    graph = StateGraph(MessagesState)
    names = [f"agent-{number}" for number in range(len(agents))]
    for name, agent in zip(names, agents, strict=True):
        graph.add_node(name, agent)
    for one, following in pairwise([START, *names]):
        graph.add_edge(one, following)
    return graph.compile(**options)


def reminded(model: ScriptedModel) -> bool:
    """Tell whether the model was told anything."""
    return any(map(is_reminder, (message for seen in model.requests for message in seen)))


@each_middleware
def test_a_visit_that_ends_in_a_structured_answer_is_over(guard: Any, run: Run) -> None:
    """Its last message is a tool's: the next visit finds a step that is none of its own."""
    script = [asks(call("Report", {"lines": 1})) for _ in range(4)]
    model = ScriptedModel(script=script)
    agent = create_agent(model, [grep], middleware=[guard()], response_format=ToolStrategy(Report))
    run(one_after_another(*[agent] * 4), {"messages": "go"})
    assert (len(model.requests), reminded(model)) == (4, False)


@each_middleware
def test_calls_in_front_of_a_structured_answer_stay_with_their_visit(guard: Any, run: Run) -> None:
    """Also where the answer's own tool is not tracked, so that it breaks no chain."""
    turns = [call("grep", GREP), call("Report", {"lines": 1})] * 4
    model = ScriptedModel(script=[asks(one) for one in turns])
    agent = create_agent(
        model,
        [grep],
        middleware=[guard(exclude=("Report",))],
        response_format=ToolStrategy(Report),
    )
    run(one_after_another(*[agent] * 4), {"messages": "go"})
    assert (len(model.requests), reminded(model)) == (8, False)


@tool
def transfer(
    state: Annotated[Any, InjectedState], tool_call_id: Annotated[str, InjectedToolCallId]
) -> Command[Any]:
    """Hand the task to another agent."""
    done = ToolMessage("ok", tool_call_id=tool_call_id)
    update = {"messages": [*state["messages"], done]}
    return Command(goto="other", graph=Command.PARENT, update=update)


@each_middleware
def test_an_agent_does_not_go_on_with_the_calls_of_one_that_hands_over(
    guard: Any, run: Run
) -> None:
    """No answer closes what the first agent has done, and the hand-off is not tracked."""
    first = ScriptedModel(script=[*repeats(2, "grep", GREP), asks(call("transfer"))])
    second = ScriptedModel(script=[*repeats(3, "grep", GREP), says("done")])
    graph = StateGraph(MessagesState)
    for name, model, tools in (("one", first, [grep, transfer]), ("other", second, [grep])):
        agent = create_agent(model, tools, middleware=[guard(exclude=("transfer",))])
        graph.add_node(name, agent)
    graph.add_edge(START, "one")
    run(graph.compile(), {"messages": "go"})
    told = [is_reminder(request[-1]) for request in second.requests]
    assert told == [False, False, False, True]


@each_middleware
def test_a_limit_is_not_reached_by_the_calls_of_others(guard: Any, run: Run) -> None:
    """The agent's model is asked, and its answer ends the run."""
    unguarded = ScriptedModel(script=[asks(*[call("finish", {"answer": "a"}) for _ in range(3)])])
    guarded = ScriptedModel(script=[says("my own answer")])
    graph = one_after_another(
        create_agent(unguarded, [finish]),
        create_agent(guarded, [grep], middleware=[guard(limit=3)]),
    )
    messages = run(graph, {"messages": "go"})["messages"]
    assert messages[-1].content == "my own answer"


@each_middleware
def test_an_agent_in_another_graph_counts_on_after_its_first_step(guard: Any, run: Run) -> None:
    """What it finds is another's, what it adds is its own, whatever has ids."""
    before = [*repeats(2, "grep", GREP)]
    found = [one for turn in before for one in (turn, answer_to(turn))]
    model = ScriptedModel(script=[*repeats(5, "grep", GREP), says("done")])
    graph = one_after_another(create_agent(model, [grep], middleware=[guard()]))
    run(graph, {"messages": [("user", "go"), *found]})
    told = [is_reminder(request[-1]) for request in model.requests]
    assert told == [False, False, False, True, False, True]


@pytest.mark.parametrize("build", BUILDS.values(), ids=BUILDS)
def test_a_prompt_within_a_visit_starts_anew(build: Build, run: Run) -> None:
    """What the agent does afterwards is its own, from the first call on."""
    script = [*repeats(2, "grep", GREP), asks(call("ask")), *repeats(5, "grep", GREP), says("done")]
    model = ScriptedModel(script=script)
    run(one_after_another(build(model)), {"messages": "go"})
    told = [is_reminder(request[-1]) for request in model.requests]
    assert told == [*[False] * 6, True, False, True]


@pytest.mark.parametrize("build", BUILDS.values(), ids=BUILDS)
def test_an_agent_with_a_memory_counts_its_own_calls_in_each_turn(build: Build, run: Run) -> None:
    """A prompt starts anew, and what another agent has closed before it is not its own."""
    other = ScriptedModel(script=[says("hi"), *repeats(2, "grep", GREP), says("hi")])
    model = ScriptedModel(script=[says("hi"), *repeats(4, "grep", GREP), says("done")])
    agent = build(model, checkpointer=True)
    app = one_after_another(create_agent(other, [grep]), agent, checkpointer=InMemorySaver())
    for _ in range(2):
        run(app, {"messages": "go"}, {"configurable": {"thread_id": "1"}})
    told = [is_reminder(request[-1]) for request in model.requests]
    assert told == [False, False, False, False, True, False]


class TakesBack(AgentMiddleware[Any, Any, Any]):
    """Removes what the agent did in its first step."""

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Remove the step, once."""
        last = state["messages"][-2:]
        if last[-1].type != "tool" or last[0].id != "first":
            return None
        return {"messages": [RemoveMessage(one.id) for one in last]}


@each_middleware
def test_a_step_that_is_taken_back_leaves_the_others_where_they_are(guard: Any, run: Run) -> None:
    """Counting since a new call reads the messages anew, and still not those of others."""
    found = [one for turn in repeats(2, "grep", GREP) for one in (turn, answer_to(turn))]
    first = asks(call("read", {"path": "a"}), id="first")
    model = ScriptedModel(script=[first, *repeats(3, "grep", GREP), says("done")])
    middleware = [TakesBack(), guard(counting="since_new_call")]
    agent = create_agent(model, [grep, read], middleware=middleware)
    run(one_after_another(agent), {"messages": [("user", "go"), *found]})
    told = [is_reminder(request[-1]) for request in model.requests]
    assert told == [False, False, False, False, True]


def answer_to(turn: Any) -> ToolMessage:
    """Return the result of a message's only call."""
    return ToolMessage("nothing", tool_call_id=turn.tool_calls[0]["id"])
