"""`limit`: how a run ends, and what is left of it."""

import asyncio
from typing import Any

import pytest
from helpers.guarded import ALL, MIDDLEWARES, NODES, MakeGuarded
from helpers.laws import check_order, payload
from helpers.models import ScriptedModel, asks, call, repeats, says
from helpers.modes import Run
from helpers.pictures import picture
from helpers.tools import ask_human, grep
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from langchain_repeat_guard import (
    RepeatGuardCallbackHandler,
    RepeatGuardConfig,
    RepeatGuardMiddleware,
    RepeatGuardNode,
    RepeatGuardSetupError,
    RepeatLimitError,
    RepeatReminderNode,
    TransientRepeatGuardMiddleware,
)

GREP = {"pattern": "s3cret"}
CONFIG: RunnableConfig = {"configurable": {"thread_id": "t"}}
LAST = "Stopped: the tool grep was called 4 times with the same arguments, which is the limit."
GUARDS = [RepeatGuardMiddleware, TransientRepeatGuardMiddleware]


def every(makes: dict[str, MakeGuarded]) -> pytest.MarkDecorator:
    """Parametrise a test with all of them."""
    return pytest.mark.parametrize("make", makes.values(), ids=makes.keys())


def prompt(text: str = "go") -> dict[str, Any]:
    return {"messages": [("user", text)]}


def check_whole(messages: list[BaseMessage]) -> None:
    """Check that any provider takes `messages`: in order, and each call answered."""
    check_order(messages)
    asked = [one["id"] for m in messages if isinstance(m, AIMessage) for one in m.tool_calls]
    assert asked == [m.tool_call_id for m in messages if isinstance(m, ToolMessage)]


def without_stored(drawn: str, make: MakeGuarded) -> str:
    return drawn.replace("R3", "") if make is MIDDLEWARES["transient"] else drawn


@every(MIDDLEWARES)
def test_the_run_ends_with_a_message_that_says_so(make: MakeGuarded, run: Run) -> None:
    """The fourth result is followed by a final answer; the model is not asked again."""
    model = ScriptedModel(script=[*repeats(9, "grep", GREP)])
    output = run(make(model, limit=4), prompt(), CONFIG)
    last = output["messages"][-1]
    assert (type(last), last.content, last.tool_calls) == (AIMessage, LAST, [])
    assert last.additional_kwargs == {"lc_source": "repeat_guard"}
    assert picture(output["messages"]) == without_stored("hatatatR3ata", make)
    assert len(model.requests) == 4
    check_whole(output["messages"])


@every(MIDDLEWARES)
def test_nothing_is_left_to_do(make: MakeGuarded, run: Run) -> None:
    """The thread is at rest: no task waits, and going on changes nothing."""
    model = ScriptedModel(script=[*repeats(9, "grep", GREP)])
    agent = make(model, limit=4)
    before = run(agent, prompt(), CONFIG)
    assert agent.get_state(CONFIG).next == ()
    assert payload(run(agent, None, CONFIG)["messages"]) == payload(before["messages"])


@every(MIDDLEWARES)
def test_a_new_prompt_goes_on(make: MakeGuarded, run: Run) -> None:
    """The model reads a whole history, and its chain starts anew."""
    turns = repeats(4, "grep", GREP)
    model = ScriptedModel(script=[*turns, *repeats(3, "grep", GREP), says("done")])
    agent = make(model, limit=4)
    run(agent, prompt(), CONFIG)
    output = run(agent, prompt("again"), CONFIG)
    assert picture(output["messages"]) == without_stored("hatatatR3atahatatatR3a", make)
    assert [str(m.content) for m in model.requests[4]][-2:] == [LAST, "again"]
    check_whole(output["messages"])


@every(MIDDLEWARES)
@pytest.mark.parametrize("mode", ["updates", "messages", "values"])
def test_streams_show_the_last_message(make: MakeGuarded, run: Run, mode: Any) -> None:
    """In each mode the message arrives, and the stream ends."""
    model = ScriptedModel(script=[*repeats(9, "grep", GREP)])
    parts = streamed(make(model, limit=4), mode, run)
    assert [*texts_of(parts[-1])][-1] == LAST


def streamed(agent: Any, mode: Any, run: Run) -> list[Any]:
    """Return all that one streamed run yields."""
    if run.__name__ == "run_sync":
        return [*agent.stream(prompt(), CONFIG, stream_mode=mode)]

    async def collect() -> list[Any]:
        return [one async for one in agent.astream(prompt(), CONFIG, stream_mode=mode)]

    return asyncio.run(collect())


def texts_of(part: Any) -> list[str]:
    """Return the texts of a model's messages in a nested value, in order."""
    if isinstance(part, AIMessage | AIMessageChunk):
        return [str(part.content)]
    members = part.values() if isinstance(part, dict) else part
    return (
        [t for m in members for t in texts_of(m)] if isinstance(part, dict | list | tuple) else []
    )


@every(MIDDLEWARES)
def test_parallel_calls_are_all_answered_first(make: MakeGuarded, run: Run) -> None:
    """The limit is reached by the second of three calls: the step is finished, then it ends."""
    same = call("grep", GREP), call("grep", GREP), call("read", {"path": "p"})
    model = ScriptedModel(script=[*repeats(2, "grep", GREP), asks(*same), says("unread")])
    output = run(make(model, limit=4, thresholds=(9,)), prompt(), CONFIG)
    assert picture(output["messages"]) == "hatatattta"
    assert output["messages"][-1].content == LAST
    check_whole(output["messages"])


@pytest.mark.parametrize("guard", GUARDS)
def test_a_run_that_was_interrupted_ends_too(guard: Any, run: Run) -> None:
    """Calls in front of an interrupt and behind it are one chain."""
    question = {"question": "?"}
    model = ScriptedModel(script=repeats(4, "ask_human", question))
    middleware = [guard(limit=3, thresholds=(9,))]
    agent: Any = create_agent(
        model, [ask_human], middleware=middleware, checkpointer=InMemorySaver()
    )
    run(agent, prompt(), CONFIG)
    output: dict[str, Any] = {}
    for _ in range(3):
        output = run(agent, Command(resume="yes"), CONFIG)
    assert picture(output["messages"]) == "hatatata"
    assert (agent.get_state(CONFIG).next, len(model.requests)) == ((), 3)


class Ends(AgentMiddleware[Any, Any]):
    """Notes that the run has ended through its normal path."""

    def __init__(self) -> None:
        super().__init__()
        self.ends: list[str] = []

    def after_agent(self, state: Any, runtime: Any) -> None:
        self.ends.append(str(state["messages"][-1].content))


@pytest.mark.parametrize("guard", GUARDS)
@pytest.mark.parametrize("is_first", [True, False], ids=["guard-first", "guard-last"])
def test_hooks_behind_the_run_see_it(guard: Any, is_first: bool, run: Run) -> None:
    """`after_agent` of other middlewares runs as ever, wherever the guard stands."""
    ends = Ends()
    both = [guard(limit=4), ends] if is_first else [ends, guard(limit=4)]
    model = ScriptedModel(script=repeats(9, "grep", GREP))
    run(create_agent(model, [grep], middleware=both), prompt())
    assert ends.ends == [LAST]


class Loud(RepeatGuardMiddleware):
    """A subclass of a user."""

    seen = 0

    def before_model(self, state: Any, runtime: Any) -> Any:
        self.seen += 1
        return super().before_model(state, runtime)


def test_a_subclass_ends_runs_too() -> None:
    """Its own hook is called, and its jump to the end is followed."""
    guard = Loud(limit=4)
    model = ScriptedModel(script=repeats(9, "grep", GREP))
    agent: Any = create_agent(model, [grep], middleware=[guard])
    output = agent.invoke(prompt())
    assert (output["messages"][-1].content, guard.seen, type(guard).__name__) == (LAST, 5, "Loud")


@every(ALL)
def test_an_error_leaves_the_run(make: MakeGuarded, run: Run) -> None:
    """It says which tool, how often and what the limit is; no argument is in it."""
    model = ScriptedModel(script=repeats(9, "grep", GREP))
    with pytest.raises(RepeatLimitError) as caught:
        run(make(model, limit=4, exit_behavior="error"), prompt(), CONFIG)
    error = caught.value
    assert (error.tool, error.count, error.limit, len(model.requests)) == ("grep", 4, 4, 4)
    assert "s3cret" not in str(error)


# A node that wraps the tools fails with their results: it is one task with them.
LEFT = {
    "around-tools": "hatatatR3a",
    "around-tools-with-channel": "hatatatR3a",
    "node": "hatatatR3at",
    "pre-model-hook": "hatatatR3at",
    "stored": "hatatatR3at",
    "transient": "hatatatat",
}


@pytest.mark.parametrize("name", ALL)
def test_what_an_error_leaves_in_the_checkpoint(name: str, run: Run) -> None:
    """All but what the failing task would have written; whoever goes on meets the limit again."""
    model = ScriptedModel(script=repeats(9, "grep", GREP))
    agent = ALL[name](model, limit=4, exit_behavior="error")
    for value in (prompt(), None):
        with pytest.raises(RepeatLimitError):
            run(agent, value, CONFIG)
        assert picture(agent.get_state(CONFIG).values["messages"]) == LEFT[name]
    assert len(model.requests) == 4


@pytest.mark.parametrize("name", [name for name in ALL if not name.startswith("around")])
def test_after_an_error_a_new_prompt_goes_on(name: str, run: Run) -> None:
    """The step is whole in the checkpoint, so that a provider takes what comes behind."""
    model = ScriptedModel(script=[*repeats(4, "grep", GREP), says("done")])
    agent = ALL[name](model, limit=4, exit_behavior="error")
    with pytest.raises(RepeatLimitError):
        run(agent, prompt(), CONFIG)
    check_whole(run(agent, prompt("again"), CONFIG)["messages"])


@every(ALL)
def test_below_the_limit_nothing_happens(make: MakeGuarded, run: Run) -> None:
    """Three calls, another one, three again: no chain of four."""
    other = repeats(1, "read", {"path": "p"})
    turns = [*repeats(3, "grep", GREP), *other, *repeats(3, "grep", GREP)]
    model = ScriptedModel(script=[*turns, says("done")])
    output = run(make(model, limit=4, exit_behavior="error"), prompt(), CONFIG)
    assert output["messages"][-1].content == "done"


@every(ALL)
def test_a_cycle_reaches_the_limit_since_a_new_call(make: MakeGuarded, run: Run) -> None:
    """With `since_new_call`, each call of a cycle has its own count."""
    pair = [*repeats(1, "grep", GREP), *repeats(1, "read", {"path": "p"})]
    model = ScriptedModel(script=pair * 9)
    options = {"limit": 4, "exit_behavior": "error", "counting": "since_new_call"}
    with pytest.raises(RepeatLimitError) as caught:
        run(make(model, **options), prompt(), CONFIG)
    assert (caught.value.tool, caught.value.count, len(model.requests)) == ("read", 4, 8)


WITHOUT_AN_END = [
    pytest.param(
        lambda **options: RepeatGuardNode(lambda state: {}, **options),
        "RepeatGuardNode",
        id="wrapper",
    ),
    pytest.param(RepeatReminderNode, "RepeatReminderNode", id="node"),
    pytest.param(RepeatGuardCallbackHandler, "RepeatGuardCallbackHandler", id="handler"),
]


@pytest.mark.parametrize(
    "options",
    [
        {"limit": 4, "exit_behavior": "end"},
        {"exit_behavior": "end"},
        {"config": RepeatGuardConfig(limit=4)},
    ],
    ids=["options", "option-without-limit", "config"],
)
@pytest.mark.parametrize(("make", "name"), WITHOUT_AN_END)
def test_only_middlewares_can_end_a_run(make: Any, name: str, options: dict[str, Any]) -> None:
    """`exit_behavior="end"` is refused at construction, by all others in the same words."""
    with pytest.raises(RepeatGuardSetupError) as caught:
        make(**options)
    assert str(caught.value) == (
        f"A {name} cannot end a run by exit_behavior='end': only the middlewares can. "
        "Use exit_behavior='error', which raises RepeatLimitError."
    )


@pytest.mark.parametrize(("make", "name"), WITHOUT_AN_END[:2])
def test_a_limit_alone_asks_a_node_to_end_the_run(make: Any, name: str) -> None:
    """`"end"` is the default of `exit_behavior`: who wants the error says so."""
    with pytest.raises(RepeatGuardSetupError, match=f"A {name} cannot end a run"):
        make(limit=4)


@every(NODES)
def test_nodes_take_a_config_without_limit(make: MakeGuarded) -> None:
    """Its `exit_behavior` says nothing then."""
    make(ScriptedModel(script=[]), config=RepeatGuardConfig(exit_behavior="end"))


@pytest.mark.parametrize("guard", GUARDS)
def test_the_jump_costs_only_where_it_is_asked_for(guard: Any) -> None:
    """Without a limit, or with an error at it, the graph has no edge to the end for it."""

    def edges(**options: Any) -> set[tuple[str, str]]:
        agent: Any = create_agent(ScriptedModel(), [grep], middleware=[guard(**options)])
        return {(edge.source, edge.target) for edge in agent.get_graph().edges}

    assert edges() == edges(limit=4, exit_behavior="error")
    has_jump = ("RepeatGuardMiddleware.before_model", "__end__") in edges(limit=4)
    assert has_jump == (guard is RepeatGuardMiddleware)
