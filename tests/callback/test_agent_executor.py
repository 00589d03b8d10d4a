"""`AgentExecutor` announces its calls itself; its tools know no call ids."""

from typing import Any

from helpers.models import ScriptedModel, asks, call, repeats, says
from helpers.modes import Run
from helpers.tools import grep, ping, read
from helpers.watching import counts, counts_by_agent, watched, watcher
from langchain.agents import create_agent
from langchain_classic.agents import (
    AgentExecutor,
    BaseSingleActionAgent,
    create_react_agent,
    create_tool_calling_agent,
)
from langchain_core.agents import AgentAction, AgentFinish
from langchain_core.language_models import FakeListLLM
from langchain_core.prompts import ChatPromptTemplate, PromptTemplate
from langchain_core.tools import tool
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

GREP = {"pattern": "x"}


class Output(TypedDict, total=False):
    """A state without messages."""

    output: str


class Planner(BaseSingleActionAgent):
    """Looks at one place four times, then ends; asks no model."""

    @property
    def input_keys(self) -> list[str]:
        return ["input"]

    def plan(self, intermediate_steps: Any, callbacks: Any = None, **_: Any) -> Any:
        if len(intermediate_steps) < 4:
            return AgentAction("look", "a", "")
        return AgentFinish({"output": "done"}, "")

    async def aplan(self, intermediate_steps: Any, callbacks: Any = None, **_: Any) -> Any:
        return self.plan(intermediate_steps)


QUESTION = {"input": "hi"}
CALL = "Thought: look\nAction: {}\nAction Input: {}"
FINISH = "Thought: I know\nFinal Answer: done"


@tool
def look(place: str) -> str:
    """Look at a place."""
    return f"nothing at {place}"


def tool_calling(script: list[Any], *tools: Any) -> AgentExecutor:
    prompt = ChatPromptTemplate([("human", "{input}"), ("placeholder", "{agent_scratchpad}")])
    planner = create_tool_calling_agent(ScriptedModel(script=script), list(tools), prompt)
    return AgentExecutor(agent=planner, tools=list(tools))


def text_react(texts: list[str], *tools: Any) -> AgentExecutor:
    prompt = PromptTemplate.from_template("{tools} {tool_names} {input} {agent_scratchpad}")
    planner = create_react_agent(FakeListLLM(responses=texts), list(tools), prompt)
    return AgentExecutor(agent=planner, tools=list(tools), handle_parsing_errors=True)


def test_tool_calling_agents_count(run: Run) -> None:
    """Each announced call counts."""
    handler = watcher()
    executor = tool_calling([*repeats(3, "grep", GREP), says("done")], grep)
    run(executor, QUESTION, watched(handler))
    assert counts(handler) == [("grep", 2), ("grep", 3)]


def test_parallel_calls_count_in_issue_order(run: Run) -> None:
    """Calls of one plan count in the order in which they were announced."""
    a, b = {"path": "a"}, {"path": "b"}
    step = [call("read", a), call("read", b), call("read", b), call("read", a)]
    handler = watcher()
    executor = tool_calling([asks(*step), asks(call("read", a)), says("done")], read)
    run(executor, QUESTION, watched(handler))
    assert counts(handler) == [("read", 2), ("read", 2)]


def test_unknown_tools_count_under_their_own_names(run: Run) -> None:
    """The tool that tells the model so is not the one that it called."""
    handler = watcher()
    executor = tool_calling([*repeats(2, "gerp", GREP), says("done")], grep)
    run(executor, QUESTION, watched(handler))
    assert counts(handler) == [("gerp", 2)]


def test_text_agents_count(run: Run) -> None:
    """The input of a call that was read from a text is compared as it stands there."""
    texts = [CALL.format("look", place) for place in ("a", "a", "a ", "b", "b")]
    handler = watcher()
    run(text_react([*texts, FINISH], look), QUESTION, watched(handler))
    assert counts(handler) == [("look", 2), ("look", 3), ("look", 2)]


def test_text_that_is_no_call_is_none(run: Run) -> None:
    """An answer that the executor cannot read neither counts nor breaks a chain."""
    handler = watcher()
    texts = ["I wonder", "I wonder", CALL.format("look", "a"), "hm", CALL.format("look", "a")]
    run(text_react([*texts, FINISH], look), QUESTION, watched(handler))
    assert counts(handler) == [("look", 2)]


def test_the_call_id_is_reported_where_the_model_gave_one(run: Run) -> None:
    """The action of a tool-calling agent knows the id that the tool's run does not."""
    handler = watcher()
    script = [asks(call("ping", id="one")), asks(call("ping", id="two")), says("done")]
    run(tool_calling(script, ping), QUESTION, watched(handler))
    assert [record.tool_call_id for record in handler.reminders] == ["two"]


def test_a_call_that_no_plan_follows_is_not_reported(run: Run) -> None:
    """At its iteration limit the executor asks no model any more."""
    handler = watcher()
    executor = tool_calling(repeats(2, "grep", GREP), grep)
    executor.max_iterations = 2
    run(executor, QUESTION, watched(handler))
    assert (counts(handler), handler.live_runs) == ([], 0)


def test_executors_inside_a_graph_are_agents_of_their_own(run: Run) -> None:
    """A node's executor and the graph around it do not share a chain."""

    def work(state: Output) -> Output:
        executor = tool_calling([*repeats(2, "grep", GREP), says("done")], grep)
        return {"output": executor.invoke(QUESTION)["output"]}

    graph = StateGraph(Output)
    graph.add_node("first", work)
    graph.add_node("second", work)
    graph.add_edge(START, "first")
    graph.add_edge("first", "second")
    handler = watcher()
    run(graph.compile(), {}, watched(handler))
    assert list(counts_by_agent(handler).values()) == [[("grep", 2)], [("grep", 2)]]


def test_an_executor_inside_a_tool(run: Run) -> None:
    """It counts for itself, and the agent around it for itself."""

    @tool
    def delegate(order: str) -> str:
        """Have another agent do it."""
        executor = tool_calling([*repeats(2, "grep", GREP), says("done")], grep)
        return str(executor.invoke({"input": order})["output"])

    outer = ScriptedModel(script=[*repeats(2, "delegate", {"order": "x"}), says("done")])
    handler = watcher()
    prompt = {"messages": [("user", "hi")]}
    run(create_agent(outer, [delegate]), prompt, watched(handler))
    assert list(counts_by_agent(handler).values()) == [
        [("grep", 2)],
        [("grep", 2)],
        [("delegate", 2)],
    ]


def test_a_planner_without_runs_of_its_own(run: Run) -> None:
    """Where no plan is seen, a call that comes after all others have ended is a new step."""
    executor = AgentExecutor(agent=Planner(), tools=[look])
    handler = watcher()
    run(executor, QUESTION, watched(handler))
    assert counts(handler) == [("look", 2), ("look", 3)]
