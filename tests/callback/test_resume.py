"""A run that resumes an interrupted one in the same process goes on with its chain."""

from typing import Any

import pytest
from helpers.models import ScriptedModel, asks, call, repeats, says
from helpers.modes import Run
from helpers.tools import ask_human, grep, ping
from helpers.versions import needs
from helpers.watching import counts, counts_by_agent, watched, watcher
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, create_react_agent, tools_condition
from langgraph.types import Command, RetryPolicy, interrupt

from langchain_repeat_guard import RepeatReminderNode

GREP = {"pattern": "x"}
ASK = {"question": "x"}
PROMPT = {"messages": [("user", "hi")]}
GO_ON: Command[Any] = Command(resume="yes")
NEXT_PAUSE = needs("langgraph", "1.2.13", "a state that shows the second pause of one task")


def agent(script: list[AIMessage], *tools: Any, **options: Any) -> Any:
    model = ScriptedModel(script=script)
    return create_agent(model, list(tools), checkpointer=InMemorySaver(), **options)


def run_to_the_end(run: Run, guarded: Any, config: Any, resume: Any = GO_ON) -> int:
    """Run until nothing is left to resume; return how often the run was resumed."""
    run(guarded, PROMPT, config)
    resumed = 0
    while guarded.get_state(config).next:
        resumed += 1
        run(guarded, resume, config)
    return resumed


def test_a_tool_that_pauses_counts_once(run: Run) -> None:
    """A tool that is started again on resume is still one call."""
    handler = watcher()
    guarded = agent([*repeats(3, "ask_human", ASK), says()], ask_human)
    resumed = run_to_the_end(run, guarded, watched(handler, "t"))
    assert (resumed, counts(handler)) == (3, [("ask_human", 2), ("ask_human", 3)])


def test_nothing_is_held_once_the_thread_has_ended(run: Run) -> None:
    """An interrupted thread is held, a finished one is not."""
    handler = watcher()
    guarded = agent([*repeats(1, "ask_human", ASK), says()], ask_human)
    config = watched(handler, "t")
    run(guarded, PROMPT, config)
    held = handler.live_runs
    run(guarded, GO_ON, config)
    assert (held, handler.live_runs) == (1, 0)


@pytest.mark.parametrize("version", ["v1", "v2"])
@pytest.mark.filterwarnings("ignore:create_react_agent has been moved")
def test_a_pause_in_one_of_several_parallel_calls(version: Any, run: Run) -> None:
    """Siblings that have ended, and may be started again, count once and in their place."""
    step = [call("grep", GREP), call("ask_human", ASK), call("grep", GREP), call("grep", GREP)]
    script = [asks(*step), asks(call("grep", GREP)), says()]
    guarded = create_react_agent(
        ScriptedModel(script=script),
        [grep, ask_human],
        version=version,
        checkpointer=InMemorySaver(),
    )
    handler = watcher()
    run_to_the_end(run, guarded, watched(handler, "t"))
    assert counts(handler) == [("grep", 2), ("grep", 3)]


def test_a_pause_inside_a_subagents_tool(run: Run) -> None:
    """The subagent and its parent both go on with their own chains."""
    inner_model = ScriptedModel(script=[*repeats(2, "ask_human", ASK), says("found")] * 2)
    inner: Any = create_agent(inner_model, [ask_human], name="asker")

    @tool
    def delegate(order: str) -> str:
        """Have another agent do it."""
        return str(inner.invoke({"messages": [("user", order)]})["messages"][-1].content)

    guarded = agent([*repeats(2, "delegate", {"order": "x"}), says()], delegate)
    handler = watcher()
    resumed = run_to_the_end(run, guarded, watched(handler, "t"))
    assert (resumed, counts(handler)) == (
        4,
        [("ask_human", 2), ("ask_human", 2), ("delegate", 2)],
    )


@pytest.mark.parametrize("breakpoint", ["interrupt_before", "interrupt_after"])
@pytest.mark.parametrize("node", ["model", "tools"])
def test_breakpoints(breakpoint: str, node: str, run: Run) -> None:  # noqa: A002
    """A breakpoint between any two nodes changes nothing."""
    handler = watcher()
    guarded = agent([*repeats(3, "grep", GREP), says()], grep, **{breakpoint: [node]})
    run_to_the_end(run, guarded, watched(handler, "t"), resume=None)
    assert counts(handler) == [("grep", 2), ("grep", 3)]


@pytest.mark.parametrize(
    "decision",
    [
        {"type": "approve"},
        {"type": "edit", "edited_action": {"name": "grep", "args": {"pattern": "y"}}},
        {"type": "reject", "message": "no"},
    ],
    ids=lambda decision: decision["type"],
)
def test_calls_that_a_human_decides_on(decision: Any, run: Run) -> None:
    """Whatever the human decides, what the model issued counts."""
    handler = watcher()
    approval: Any = HumanInTheLoopMiddleware(interrupt_on={"grep": True})
    guarded = agent([*repeats(3, "grep", GREP), says()], grep, middleware=[approval])
    resume: Command[Any] = Command(resume={"decisions": [decision]})
    resumed = run_to_the_end(run, guarded, watched(handler, "t"), resume)
    assert (resumed, counts(handler)) == (3, [("grep", 2), ("grep", 3)])


def test_a_rejected_call_among_parallel_ones_keeps_its_place(run: Run) -> None:
    """A rejected call is answered first, and yet counts in its place."""
    approval: Any = HumanInTheLoopMiddleware(interrupt_on={"grep": True})
    step = [call("ping"), call("grep", GREP), call("ping")]
    guarded = agent([asks(*step), asks(call("ping")), says()], grep, ping, middleware=[approval])
    handler = watcher()
    rejected: Command[Any] = Command(resume={"decisions": [{"type": "reject"}]})
    run_to_the_end(run, guarded, watched(handler, "t"), rejected)
    assert counts(handler) == [("ping", 2)]


def test_a_new_prompt_to_a_paused_thread_starts_a_new_chain(run: Run) -> None:
    """The step that the prompt overtakes is dropped."""
    handler = watcher()
    script = [*repeats(2, "grep", GREP), *repeats(1, "ask_human", ASK), *repeats(2, "grep", GREP)]
    guarded = agent([*script, says()], grep, ask_human)
    config = watched(handler, "t")
    run(guarded, PROMPT, config)
    run(guarded, PROMPT, config)
    assert list(counts_by_agent(handler).values()) == [[("grep", 2)], [("grep", 2)]]


def test_a_prompt_that_comes_with_the_resume_starts_a_new_chain(run: Run) -> None:
    """A resume may carry a message of the user."""
    handler = watcher()
    guarded = agent([*repeats(3, "grep", GREP), says()], grep, interrupt_before=["model"])
    config = watched(handler, "t")
    run(guarded, PROMPT, config)
    run(guarded, None, config)
    run(guarded, None, config)
    said = {"messages": [HumanMessage("try harder")]}
    guarded.update_state(config, said, as_node="tools")
    run(guarded, None, config)
    run(guarded, None, config)
    assert counts(handler) == []


def test_a_call_that_is_answered_from_outside_counts(run: Run) -> None:
    """A state edit may answer the paused call instead of the tool."""
    handler = watcher()
    guarded = agent([*repeats(2, "grep", GREP), says()], grep, interrupt_before=["tools"])
    config = watched(handler, "t")
    run(guarded, PROMPT, config)
    run(guarded, None, config)
    issued = guarded.get_state(config).values["messages"][-1]
    answer = ToolMessage("by hand", tool_call_id=issued.tool_calls[0]["id"])
    guarded.update_state(config, {"messages": [answer]}, as_node="tools")
    run(guarded, None, config)
    assert counts(handler) == [("grep", 2)]


def edit_last_call(guarded: Any, config: Any, **change: Any) -> None:
    """Change the first call of the last message, and drop the others, while the agent is paused."""
    last = guarded.get_state(config).values["messages"][-1]
    calls = [{**last.tool_calls[0], **change}]
    guarded.update_state(config, {"messages": [last.model_copy(update={"tool_calls": calls})]})


def with_reminder_node(model: ScriptedModel, handler: Any, **options: Any) -> Any:
    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("tools", ToolNode([grep]))
    graph.add_node("remind", RepeatReminderNode(handler=handler))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "remind")
    graph.add_edge("remind", "model")
    return graph.compile(checkpointer=InMemorySaver(), **options)


@pytest.mark.parametrize("delivers", [False, True], ids=["reports", "delivers"])
@pytest.mark.parametrize(
    ("issued", "ran", "expected"),
    [("abc", "xxx", [2, 3]), ("xxx", "abc", []), ("xxx", "axx", [2])],
    ids=["made-the-same", "made-different", "one-made-different"],
)
def test_arguments_that_are_edited_in_the_pause(
    issued: str, ran: str, expected: list[int], delivers: bool, run: Run
) -> None:
    """What the tools were called with counts."""
    handler = watcher()
    script = [*(asks(call("grep", {"pattern": text})) for text in issued), says()]
    model = ScriptedModel(script=script)
    options: Any = {"interrupt_before": ["tools"]}
    if delivers:
        guarded = with_reminder_node(model, handler, **options)
    else:
        guarded = create_agent(model, [grep], checkpointer=InMemorySaver(), **options)
    config = watched(handler, "t")
    run(guarded, PROMPT, config)
    for text in ran:
        edit_last_call(guarded, config, args={"pattern": text})
        run(guarded, None, config)
    assert counts(handler) == [("grep", length) for length in expected]


def test_calls_that_are_dropped_in_the_pause(run: Run) -> None:
    """What is left of the message counts."""
    handler = watcher()
    script = [*(asks(*[call("grep", GREP)] * 3) for _ in range(2)), says()]
    guarded = agent(script, grep, interrupt_before=["tools"])
    config = watched(handler, "t")
    run(guarded, PROMPT, config)
    for _ in range(2):
        edit_last_call(guarded, config)
        run(guarded, None, config)
    assert counts(handler) == [("grep", 2)]


def test_a_call_that_is_edited_in_the_pause_does_not_reach_the_limit(run: Run) -> None:
    """The limit, too, goes by what the tools were called with."""
    handler = watcher(limit=2, thresholds=(2,))
    guarded = agent([*repeats(2, "grep", GREP), says("done")], grep, interrupt_before=["tools"])
    config = watched(handler, "t")
    run(guarded, PROMPT, config)
    run(guarded, None, config)
    edit_last_call(guarded, config, args={"pattern": "y"})
    assert run(guarded, None, config)["messages"][-1].content == "done"


def test_a_reminder_that_was_delivered_before_the_pause_is_not_due_again(run: Run) -> None:
    """The step before the pause is looked at once more, and found unchanged."""
    handler = watcher()
    model = ScriptedModel(script=[*repeats(3, "grep", GREP), says()])
    guarded = with_reminder_node(model, handler, interrupt_before=["model"])
    run_to_the_end(run, guarded, watched(handler, "t"), resume=None)
    assert counts(handler) == [("grep", 2), ("grep", 3)]


def title_graph(checkpointer: Any = None) -> Any:
    """Return a graph of another kind, as applications run beside an agent for a chat's title."""
    graph = StateGraph(MessagesState)
    graph.add_node("title", lambda _: {"messages": [AIMessage("A chat")]})
    graph.add_edge(START, "title")
    return graph.compile(checkpointer=checkpointer)


def other_agent() -> Any:
    """Return an agent whose nodes have the same names as those of the paused one."""
    model = ScriptedModel(script=lambda _: says("fine"))
    return create_agent(model, [grep], name="other", checkpointer=InMemorySaver())


@pytest.mark.parametrize("runs", [1, 4], ids=["one-run", "more-runs"])
@pytest.mark.parametrize(
    "make",
    [title_graph, lambda: title_graph(InMemorySaver()), other_agent],
    ids=["without-checkpoints", "with-checkpoints", "agent"],
)
def test_another_graph_of_the_thread_leaves_a_pause_alone(make: Any, runs: int, run: Run) -> None:
    """It may run in the thread while the agent is paused, as often as it likes."""
    handler = watcher()
    guarded, other = agent([*repeats(3, "ask_human", ASK), says()], ask_human), make()
    config = watched(handler, "t")
    run(guarded, PROMPT, config)
    for _ in range(3):
        for _ in range(runs):
            run(other, PROMPT, config)
        run(guarded, GO_ON, config)
    assert (counts(handler), handler.live_runs) == ([("ask_human", 2), ("ask_human", 3)], 0)


def test_another_graph_of_the_thread_does_not_take_up_the_chain(run: Run) -> None:
    """It starts with a prompt of its own."""
    handler = watcher()
    config = watched(handler, "t")
    guarded = agent([*repeats(2, "grep", GREP), *repeats(1, "ask_human", ASK)], grep, ask_human)
    run(guarded, PROMPT, config)
    other = create_agent(ScriptedModel(script=[*repeats(2, "grep", GREP), says()]), [grep])
    run(other, PROMPT, config)
    assert list(counts_by_agent(handler).values()) == [[("grep", 2)], [("grep", 2)]]


def test_a_chain_without_input_that_runs_another_graph_resumes_nothing(run: Run) -> None:
    """What counts is what the graph itself is started with."""
    handler = watcher()
    config = watched(handler, "t")
    guarded, other = agent([*repeats(2, "ask_human", ASK), says()], ask_human), title_graph()
    run(guarded, PROMPT, config)
    run(RunnableLambda(lambda _, config: other.invoke(PROMPT, config)), None, config)
    run(guarded, GO_ON, config)
    run(guarded, GO_ON, config)
    assert counts(handler) == [("ask_human", 2)]


@pytest.mark.parametrize("steps", [0, 2], ids=["paused-at-once", "paused-later"])
def test_a_pause_that_a_new_prompt_overtakes_is_not_held(steps: int, run: Run) -> None:
    """Nothing can resume it any more."""
    handler = watcher()
    script = [*repeats(steps, "grep", GREP), *repeats(1, "ask_human", ASK), says("done")]
    guarded = agent(script, grep, ask_human)
    config = watched(handler, "t")
    run(guarded, PROMPT, config)
    held = handler.live_runs
    run(guarded, PROMPT, config)
    assert (held, handler.live_runs) == (1, 0)


def test_threads_that_pause_at_once_keep_their_own_chains(run: Run) -> None:
    """What one thread has left is not taken up by another."""
    handler = watcher()
    script = lambda messages: asks(call("ask_human", ASK))  # noqa: E731
    guarded = create_agent(ScriptedModel(script=script), [ask_human], checkpointer=InMemorySaver())
    for thread_id in ("a", "b", "a", "b", "c"):
        config = watched(handler, thread_id)
        run(guarded, GO_ON if guarded.get_state(config).next else PROMPT, config)
    run(guarded, GO_ON, watched(handler, "b"))
    assert [(one.thread_id, one.count) for one in handler.reminders] == [("b", 2)]


def test_without_a_thread_there_is_nothing_to_resume(run: Run) -> None:
    """A pause without a thread leaves nothing in memory."""
    handler = watcher()
    guarded = create_agent(ScriptedModel(script=repeats(1, "ask_human", ASK)), [ask_human])
    run(guarded, PROMPT, watched(handler))
    assert handler.live_runs == 0


def test_a_replay_of_an_older_checkpoint_does_not_take_up_the_chain(run: Run) -> None:
    """A paused thread that goes back in time starts from what it does there."""
    handler = watcher()
    script = lambda messages: asks(  # noqa: E731
        call("ask_human", ASK) if len(messages) % 4 == 3 else call("grep", GREP)
    )
    guarded = create_agent(
        ScriptedModel(script=script), [grep, ask_human], checkpointer=InMemorySaver()
    )
    config = watched(handler, "t")
    run(guarded, PROMPT, config)
    first = list(guarded.get_state_history(config))[-2]
    run(guarded, None, {**first.config, "callbacks": [handler]})
    assert counts(handler) == []


def test_a_functional_workflow_goes_on(run: Run) -> None:
    """Tasks that are kept fire no events on resume, and yet count once."""
    model = ScriptedModel(script=[*repeats(3, "ask_human", ASK), says()])

    @task
    def think(messages: list[Any]) -> AIMessage:
        return model.invoke(messages)

    @task
    def act(one: Any) -> Any:
        return ask_human.invoke(one)

    @entrypoint(checkpointer=InMemorySaver())
    def guarded(state: Any) -> Any:
        messages: list[Any] = [HumanMessage("hi")]
        while (answer := think(messages).result()).tool_calls:
            messages += [answer, *[act(one).result() for one in answer.tool_calls]]
        return {"messages": messages}

    handler = watcher()
    resumed = run_to_the_end(run, guarded, watched(handler, "t"))
    assert (resumed, counts(handler)) == (3, [("ask_human", 2), ("ask_human", 3)])


@NEXT_PAUSE
def test_a_functional_workflow_without_tasks_counts_its_last_attempt(run: Run) -> None:
    """What is done again on resume counts once."""
    model = ScriptedModel(
        script=lambda messages: says() if len(messages) > 6 else asks(call("ask_human", ASK))
    )

    @entrypoint(checkpointer=InMemorySaver())
    def guarded(state: Any) -> Any:
        messages: list[Any] = [HumanMessage("hi")]
        while (answer := model.invoke(messages)).tool_calls:
            messages += [answer, *[ask_human.invoke(one) for one in answer.tool_calls]]
        return {"messages": messages}

    handler = watcher()
    resumed = run_to_the_end(run, guarded, watched(handler, "t"))
    assert (resumed, counts(handler)) == (3, [("ask_human", 2), ("ask_human", 2), ("ask_human", 3)])


def test_a_user_who_answers_a_functional_workflow_starts_a_new_chain(run: Run) -> None:
    """What an interrupt returns may be the next prompt."""
    model = ScriptedModel(script=[*repeats(2, "grep", GREP), says("ok?")] * 2)

    @task
    def think(messages: list[Any]) -> AIMessage:
        return model.invoke(messages)

    @task
    def act(one: Any) -> Any:
        return grep.invoke(one)

    @entrypoint(checkpointer=InMemorySaver())
    def guarded(state: Any) -> Any:
        messages: list[Any] = [HumanMessage("hi")]
        for turn in range(2):
            while (answer := think(messages).result()).tool_calls:
                messages += [answer, *[act(one).result() for one in answer.tool_calls]]
            messages += [answer, *([HumanMessage(interrupt("more?"))] if turn == 0 else [])]
        return {"messages": messages}

    handler = watcher()
    resumed = run_to_the_end(run, guarded, watched(handler, "t"))
    assert (resumed, counts(handler)) == (1, [("grep", 2), ("grep", 2)])


@pytest.mark.parametrize("checkpointer", [None, InMemorySaver()], ids=["bare", "saved"])
def test_a_subgraph_that_is_run_again_starts_a_new_chain(checkpointer: Any, run: Run) -> None:
    """A node's retry starts the agent inside it over: a new visit."""

    def fails(_: Any) -> AIMessage:
        raise ConnectionError

    script = [*repeats(2, "grep", GREP), fails, *repeats(1, "grep", GREP), says()]
    graph = StateGraph(MessagesState)
    policy = RetryPolicy(max_attempts=2, initial_interval=0.0001, jitter=False)
    inner = create_agent(ScriptedModel(script=script), [grep])
    graph.add_node("agent", inner, retry_policy=policy)
    graph.add_edge(START, "agent")
    handler = watcher()
    run(graph.compile(checkpointer=checkpointer), PROMPT, watched(handler, "t"))
    assert counts(handler) == [("grep", 2)]


@NEXT_PAUSE
def test_a_pause_of_a_tool_that_code_calls(run: Run) -> None:
    """A call that paused is done again on resume, and counts once."""

    def work(state: MessagesState) -> dict[str, Any]:
        for _ in range(2):
            ask_human.invoke(ASK)
        return {}

    graph = StateGraph(MessagesState)
    graph.add_node("work", work)
    graph.add_edge(START, "work")
    handler = watcher()
    guarded = graph.compile(checkpointer=InMemorySaver())
    resumed = run_to_the_end(run, guarded, watched(handler, "t"))
    assert (resumed, counts(handler)) == (2, [("ask_human", 2)])


def test_a_human_who_rewrites_the_call(run: Run) -> None:
    """Where a node rewrites the model's message under its own id, what stands there counts."""

    def rewrite(state: MessagesState) -> dict[str, Any]:
        last = state["messages"][-1]
        if not isinstance(last, AIMessage) or not last.tool_calls:
            return {}
        [one] = last.tool_calls
        changed = last.model_copy(update={"tool_calls": [{**one, "args": {"pattern": "same"}}]})
        return {"messages": [changed]}

    script = [*(asks(call("grep", {"pattern": text})) for text in "abc"), says()]
    model = ScriptedModel(script=script)
    graph = StateGraph(MessagesState)
    graph.add_node("think", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("rewrite", rewrite)
    graph.add_node("act", ToolNode([grep]))
    graph.add_edge(START, "think")
    graph.add_edge("think", "rewrite")
    graph.add_conditional_edges("rewrite", tools_condition, {"tools": "act", END: END})
    graph.add_edge("act", "think")
    handler = watcher()
    run(graph.compile(), PROMPT, watched(handler))
    assert counts(handler) == [("grep", 2), ("grep", 3)]
