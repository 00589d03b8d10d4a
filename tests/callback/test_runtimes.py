"""In every runtime, each call that a model issues counts once, for the agent that issued it."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from deepagents import create_deep_agent
from helpers.models import ScriptedModel, asks, call, repeats, says
from helpers.modes import Run
from helpers.tools import grep, read
from helpers.watching import counts, counts_by_agent, watched, watcher
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.tools import BaseTool, tool
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, create_react_agent, tools_condition

Script = Sequence[AIMessage]
MakeAgent = Callable[[Script], Runnable[Any, Any]]

GREP = {"pattern": "x"}
TOOLS: list[BaseTool] = [grep, read]


def agent_of_langchain(script: Script) -> Runnable[Any, Any]:
    return create_agent(ScriptedModel(script=script), TOOLS)


def react_agent(version: Any) -> MakeAgent:
    def make(script: Script) -> Runnable[Any, Any]:
        return create_react_agent(ScriptedModel(script=script), TOOLS, version=version)

    return make


def model_node(script: Script) -> Any:
    model = ScriptedModel(script=script)

    def think(state: MessagesState) -> dict[str, Any]:
        return {"messages": [model.invoke(state["messages"])]}

    return think


def state_graph(script: Script, tools_node: Any = None) -> Runnable[Any, Any]:
    graph = StateGraph(MessagesState)
    graph.add_node("think", model_node(script))
    graph.add_node("act", tools_node or ToolNode(TOOLS))
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", tools_condition, {"tools": "act", END: END})
    graph.add_edge("act", "think")
    return graph.compile()


def tool_node_inside_a_node(script: Script) -> Runnable[Any, Any]:
    tool_node = ToolNode(TOOLS)

    def act(state: MessagesState) -> Any:
        return tool_node.invoke(state)

    return state_graph(script, act)


def tool_node_inside_a_lambda(script: Script) -> Runnable[Any, Any]:
    return state_graph(script, RunnableLambda(lambda state: state) | ToolNode(TOOLS))


def agent_as_node(script: Script) -> Runnable[Any, Any]:
    graph = StateGraph(MessagesState)
    graph.add_node("agent", agent_of_langchain(script))
    graph.add_edge(START, "agent")
    return graph.compile()


def agent_inside_a_tool(script: Script) -> Runnable[Any, Any]:
    inner = agent_of_langchain(script)

    @tool
    def delegate(order: str) -> str:
        """Have another agent do it."""
        return str(inner.invoke({"messages": [("user", order)]})["messages"][-1].content)

    outer = ScriptedModel(script=[asks(call("delegate", {"order": "search"})), says("done")])
    return create_agent(outer, [delegate])


def subagent_of_deepagents(script: Script) -> Runnable[Any, Any]:
    order = {"description": "search", "subagent_type": "searcher"}
    return create_deep_agent(
        ScriptedModel(script=[asks(call("task", order)), says("done")]),
        subagents=[
            {
                "name": "searcher",
                "description": "Searches.",
                "system_prompt": "Search.",
                "tools": TOOLS,
                "model": ScriptedModel(script=script),
            }
        ],
    )


def tools_by_name(issued: AIMessage) -> list[ToolMessage]:
    known = {one.name: one for one in TOOLS}
    return [known[one["name"]].invoke(one) for one in issued.tool_calls]


def functional_workflow(script: Script) -> Runnable[Any, Any]:
    model = ScriptedModel(script=script)

    @task
    def think(messages: list[BaseMessage]) -> AIMessage:
        return model.invoke(messages)

    @task
    def act(one: Any) -> ToolMessage:
        result: ToolMessage = {tool.name: tool for tool in TOOLS}[one["name"]].invoke(one)
        return result

    @entrypoint()
    def agent(state: dict[str, Any]) -> dict[str, Any]:
        messages: list[BaseMessage] = [HumanMessage("hi")]
        answer = think(messages).result()
        while answer.tool_calls:
            results = [act(one) for one in answer.tool_calls]
            messages = [*messages, answer, *[result.result() for result in results]]
            answer = think(messages).result()
        return {"messages": [*messages, answer]}

    return agent


def loop_inside_a_node(script: Script) -> Runnable[Any, Any]:
    graph = StateGraph(MessagesState)
    model = ScriptedModel(script=script)
    graph.add_node("agent", lambda state: {"messages": loop(model, state["messages"])})
    graph.add_edge(START, "agent")
    return graph.compile()


def loop(model: Runnable[Any, Any], messages: list[Any]) -> list[Any]:
    written: list[Any] = []
    while not written or written[-1].type == "tool":
        answer = model.invoke([*messages, *written])
        written = [*written, answer, *tools_by_name(answer)]
    return written


def plain_loop(script: Script) -> Runnable[Any, Any]:
    model = ScriptedModel(script=script)
    return RunnableLambda(lambda state: {"messages": loop(model, [HumanMessage("hi")])})


def plain_loop_with_a_prompt(script: Script) -> Runnable[Any, Any]:
    prompt = ChatPromptTemplate([("system", "Help."), ("placeholder", "{messages}")])
    chain = prompt | ScriptedModel(script=script)
    model: Runnable[Any, Any] = RunnableLambda(lambda messages: {"messages": messages}) | chain
    return RunnableLambda(lambda state: {"messages": loop(model, [HumanMessage("hi")])})


RUNTIMES = [
    pytest.param(agent_of_langchain, id="create_agent"),
    pytest.param(react_agent("v1"), id="react-v1"),
    pytest.param(react_agent("v2"), id="react-v2"),
    pytest.param(state_graph, id="state-graph"),
    pytest.param(tool_node_inside_a_node, id="tool-node-inside-a-node"),
    pytest.param(tool_node_inside_a_lambda, id="tool-node-behind-a-lambda"),
    pytest.param(agent_as_node, id="agent-as-node"),
    pytest.param(agent_inside_a_tool, id="agent-inside-a-tool"),
    pytest.param(subagent_of_deepagents, id="deepagents-subagent"),
    pytest.param(functional_workflow, id="functional"),
    pytest.param(loop_inside_a_node, id="loop-inside-a-node"),
    pytest.param(plain_loop, id="plain-loop"),
    pytest.param(plain_loop_with_a_prompt, id="plain-loop-with-a-prompt"),
]
PROMPT = {"messages": [("user", "hi")]}


@pytest.mark.filterwarnings("ignore:create_react_agent has been moved")
@pytest.mark.parametrize("make", RUNTIMES)
def test_identical_calls_count_up(make: MakeAgent, run: Run) -> None:
    """Each identical call makes the chain one longer."""
    handler = watcher()
    run(make([*repeats(3, "grep", GREP), says("done")]), PROMPT, watched(handler))
    assert counts(handler) == [("grep", 2), ("grep", 3)]


@pytest.mark.filterwarnings("ignore:create_react_agent has been moved")
@pytest.mark.parametrize("make", RUNTIMES)
def test_parallel_calls_count_in_issue_order(make: MakeAgent, run: Run) -> None:
    """The calls of one message count in the order of the message, whichever start first."""
    a, b = {"path": "a"}, {"path": "b"}
    step = [call("read", a), call("read", b), call("read", b), call("read", a)]
    script = [asks(*step), asks(call("read", a)), asks(call("read", b)), says("done")]
    handler = watcher()
    run(make(script), PROMPT, watched(handler))
    assert counts(handler) == [("read", 2), ("read", 2)]


@pytest.mark.filterwarnings("ignore:create_react_agent has been moved")
@pytest.mark.parametrize("make", RUNTIMES)
def test_nothing_is_held_after_the_run(make: MakeAgent, run: Run) -> None:
    """A finished run leaves nothing in memory."""
    handler = watcher()
    run(make([*repeats(2, "grep", GREP), says("done")]), PROMPT, watched(handler))
    assert handler.live_runs == 0


@pytest.mark.filterwarnings("ignore:create_react_agent has been moved")
@pytest.mark.parametrize("make", RUNTIMES)
def test_a_second_prompt_starts_a_new_chain(make: MakeAgent, run: Run) -> None:
    """Each run is a new prompt to a new agent."""
    handler = watcher()
    for _ in range(2):
        run(make([*repeats(2, "grep", GREP), says("done")]), PROMPT, watched(handler))
    assert list(counts_by_agent(handler).values()) == [[("grep", 2)], [("grep", 2)]]


def test_a_tool_inside_a_tool_is_not_the_agents_call(run: Run) -> None:
    """What a tool calls is the tool's business."""

    @tool
    def search_all(pattern: str) -> str:
        """Search everywhere."""
        grep.invoke({"pattern": pattern})
        return str(grep.invoke({"pattern": pattern}))

    script = [*repeats(2, "search_all", GREP), says("done")]
    handler = watcher()
    run(create_agent(ScriptedModel(script=script), [search_all]), PROMPT, watched(handler))
    assert counts(handler) == [("search_all", 2)]


def test_a_model_inside_a_tool_is_not_the_agents(run: Run) -> None:
    """What a model answers to a tool is issued by nobody."""
    helper = ScriptedModel(script=lambda _: asks(call("grep", GREP)))

    @tool
    def advise(topic: str) -> str:
        """Ask another model."""
        return str(helper.invoke(topic).content)

    advice = {"topic": "x"}
    script = [*repeats(2, "advise", advice), asks(call("grep", GREP)), says("done")]
    handler = watcher()
    run(create_agent(ScriptedModel(script=script), [advise, grep]), PROMPT, watched(handler))
    assert counts(handler) == [("advise", 2)]


def test_a_subagent_and_its_parent_have_chains_of_their_own(run: Run) -> None:
    """An agent inside a tool counts for itself, and each visit is a new agent."""

    @tool
    def delegate(order: str) -> str:
        """Have another agent do it."""
        inner = agent_of_langchain([*repeats(2, "grep", GREP), says("found nothing")])
        return str(inner.invoke({"messages": [("user", order)]})["messages"][-1].content)

    script = [*repeats(2, "delegate", {"order": "x"}), says("done")]
    handler = watcher()
    run(create_agent(ScriptedModel(script=script), [delegate]), PROMPT, watched(handler))
    assert list(counts_by_agent(handler).values()) == [
        [("grep", 2)],
        [("grep", 2)],
        [("delegate", 2)],
    ]


def test_plain_code_that_calls_tools_is_an_agent(run: Run) -> None:
    """Tools called by code under a chain count for that chain, without any message."""
    agent: Runnable[Any, Any] = RunnableLambda(lambda _: [grep.invoke(GREP) for _ in range(3)])
    handler = watcher()
    run(agent, "go", watched(handler))
    assert counts(handler) == [("grep", 2), ("grep", 3)]


@pytest.mark.parametrize("value", ["text", GREP], ids=["text", "dict"])
def test_a_tool_without_any_run_above_is_ignored(value: Any) -> None:
    """There is no model to remind."""

    @tool
    def echo(text: str) -> str:
        """Say it again."""
        return text

    handler = watcher()
    for _ in range(3):
        (grep if isinstance(value, dict) else echo).invoke(value, watched(handler))
    assert (counts(handler), handler.live_runs) == ([], 0)


def test_a_handler_that_sees_only_tools_stays_silent(run: Run) -> None:
    """Attached to a tool it sees no agent."""
    handler = watcher()
    own = grep.model_copy(update={"callbacks": [handler]})
    run(create_agent(ScriptedModel(script=[*repeats(3, "grep", GREP), says()]), [own]), PROMPT)
    assert (counts(handler), handler.live_runs) == ([], 0)


def test_a_model_that_no_callback_sees(run: Run) -> None:
    """A node may call any client: its messages announce the calls."""
    turns = iter([*repeats(3, "grep", GREP), says("done")])

    graph = StateGraph(MessagesState)
    graph.add_node("think", lambda _: {"messages": [next(turns)]})
    graph.add_node("act", ToolNode(TOOLS))
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", tools_condition, {"tools": "act", END: END})
    graph.add_edge("act", "think")
    handler = watcher()
    run(graph.compile(), PROMPT, watched(handler))
    assert counts(handler) == [("grep", 2), ("grep", 3)]


def test_a_graph_that_calls_tools_from_text(run: Run) -> None:
    """A node may read the call from a text; then the tools' own runs are the calls."""
    left = iter(range(3))

    graph = StateGraph(MessagesState)
    graph.add_node("think", lambda state: {})
    graph.add_node("act", lambda state: {"messages": [("ai", grep.invoke(GREP))]})
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", lambda _: "act" if next(left, None) is not None else END)
    graph.add_edge("act", "think")
    handler = watcher()
    run(graph.compile(), PROMPT, watched(handler))
    assert counts(handler) == [("grep", 2), ("grep", 3)]


@pytest.mark.parametrize("is_graph", [True, False], ids=["graph", "plain-code"])
def test_a_chat_model_that_writes_its_calls_as_text(is_graph: bool, run: Run) -> None:
    """Its whole story may be one prompt; the tools' own runs are the calls."""
    model = ScriptedModel(script=lambda _: says("grep x"))

    def work(state: Any) -> dict[str, Any]:
        story = "find it"
        for _ in range(4):
            story += model.invoke([("user", story)]).text + grep.invoke(GREP)
        return {"messages": [("ai", story)]}

    handler = watcher()
    if is_graph:
        graph = StateGraph(MessagesState)
        graph.add_node("work", work)
        graph.add_edge(START, "work")
        run(graph.compile(), PROMPT, watched(handler))
    else:
        run(RunnableLambda(work), PROMPT, watched(handler))
    assert counts(handler) == [("grep", 2), ("grep", 3)]
