"""`limit`: the one way in which a callback ends a run."""

import pickle
from typing import Any

import pytest
from helpers.models import ScriptedModel, repeats, says
from helpers.modes import Run
from helpers.tools import grep, ping
from helpers.watching import counts, watched
from langchain.agents import create_agent
from langchain.agents.middleware import ModelRetryMiddleware
from langchain_classic.agents import AgentExecutor, create_tool_calling_agent
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from pydantic import ValidationError

from langchain_repeat_guard import (
    RepeatGuardCallbackHandler,
    RepeatGuardConfig,
    RepeatGuardError,
    RepeatGuardSetupError,
    RepeatLimitError,
)

GREP = {"pattern": "s3cret"}
PROMPT = {"messages": [("user", "hi")], "input": "hi"}


def executor(times: int) -> Any:
    prompt = ChatPromptTemplate([("human", "{input}"), ("placeholder", "{agent_scratchpad}")])
    model = ScriptedModel(script=[*repeats(times, "grep", GREP), says("done")])
    planner = create_tool_calling_agent(model, [grep], prompt)
    return AgentExecutor(agent=planner, tools=[grep])


def graph_without_a_model(times: int) -> Any:
    turns = iter([*repeats(times, "grep", GREP), says("done")])
    graph = StateGraph(MessagesState)
    graph.add_node("think", lambda _: {"messages": [next(turns)]})
    graph.add_node("act", ToolNode([grep]))
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", tools_condition, {"tools": "act", END: END})
    graph.add_edge("act", "think")
    return graph.compile()


def agent(times: int, **options: Any) -> Any:
    script = [*repeats(times, "grep", GREP), says("done")]
    return create_agent(ScriptedModel(script=script), [grep, ping], **options)


AGENTS = [
    pytest.param(agent, id="create_agent"),
    pytest.param(executor, id="executor"),
    pytest.param(graph_without_a_model, id="unseen-model"),
    pytest.param(
        lambda times: RunnableLambda(lambda _: [grep.invoke(GREP) for _ in range(times)]),
        id="plain-code",
    ),
]


@pytest.mark.parametrize("make", AGENTS)
def test_the_run_ends_at_the_limit(make: Any, run: Run) -> None:
    """The error says what happened and what to do, and quotes no argument."""
    handler = RepeatGuardCallbackHandler(limit=4)
    with pytest.raises(RepeatLimitError) as caught:
        run(make(9), PROMPT, watched(handler))
    error = caught.value
    assert (error.tool, error.count, error.limit, counts(handler), handler.live_runs) == (
        "grep",
        4,
        4,
        [("grep", 3)],
        0,
    )
    assert str(error) == (
        "'grep' was called 4 times with the same arguments (limit=4). Raise limit, "
        "exempt the tool with exclude=('grep',), or leave limit out to have the model reminded "
        "only."
    )


@pytest.mark.parametrize("make", AGENTS)
def test_below_the_limit_nothing_happens(make: Any, run: Run) -> None:
    """A run that stays below the limit ends as ever."""
    handler = RepeatGuardCallbackHandler(limit=10)
    run(make(9), PROMPT, watched(handler))
    assert counts(handler)[:2] == [("grep", 3), ("grep", 5)]


def test_a_retried_model_does_not_get_past_the_limit(run: Run) -> None:
    """Whoever tries again meets the limit again."""
    retry: Any = ModelRetryMiddleware(
        max_retries=2, initial_delay=0, jitter=False, on_failure="error"
    )
    handler = RepeatGuardCallbackHandler(limit=4)
    guarded = agent(9, middleware=[retry])
    with pytest.raises(RepeatLimitError):
        run(guarded, PROMPT, watched(handler))
    assert counts(handler) == [("grep", 3)]


def test_another_call_lifts_the_limit(run: Run) -> None:
    """Only an unbroken chain reaches it."""
    handler = RepeatGuardCallbackHandler(limit=3)
    script = [*repeats(2, "grep", GREP), *repeats(2, "ping"), *repeats(2, "grep", GREP), says()]
    run(create_agent(ScriptedModel(script=script), [grep, ping]), PROMPT, watched(handler))
    assert counts(handler) == []


def test_without_a_limit_nothing_is_raised(run: Run) -> None:
    """It is off by default."""
    handler = RepeatGuardCallbackHandler()
    run(agent(30), PROMPT, watched(handler))
    assert (handler.raise_error, counts(handler)) == (
        False,
        [("grep", 3), ("grep", 5), ("grep", 8)],
    )


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"limit": 4, "exit_behavior": "end"}, id="with-a-limit"),
        pytest.param({"exit_behavior": "end"}, id="without-a-limit"),
        pytest.param({"config": RepeatGuardConfig(limit=4)}, id="in-a-config"),
    ],
)
def test_other_exit_behaviour_is_refused(options: dict[str, Any]) -> None:
    """A callback cannot end a run through its normal path."""
    with pytest.raises(RepeatGuardSetupError) as caught:
        RepeatGuardCallbackHandler(**options)
    assert str(caught.value) == (
        "A RepeatGuardCallbackHandler cannot end a run by exit_behavior='end': only the "
        "middlewares can. Use exit_behavior='error', which raises RepeatLimitError."
    )


@pytest.mark.parametrize("exit_behavior", ["continue", "", None])
def test_unknown_exit_behaviours_are_refused(exit_behavior: Any) -> None:
    """As by any adapter."""
    with pytest.raises(ValidationError, match="Input should be 'end' or 'error'"):
        RepeatGuardCallbackHandler(limit=4, exit_behavior=exit_behavior)


def test_a_config_without_limit_is_fine() -> None:
    """Its exit behaviour says nothing then."""
    assert RepeatGuardCallbackHandler(config=RepeatGuardConfig()).raise_error is False


@pytest.mark.parametrize("option", ["keep_reminders", "max_runs"])
@pytest.mark.parametrize("value", [0, -1, 2.0, "3", True], ids=repr)
def test_wrong_numbers_are_refused(option: str, value: Any) -> None:
    """The message names the option, the rule and the value."""
    with pytest.raises(ValueError, match="whole number") as caught:
        RepeatGuardCallbackHandler(**{option: value})
    assert str(caught.value) == (f"{option} must be a whole number of at least 1, got {value!r}")


@pytest.mark.parametrize("value", ["no", 1, None], ids=repr)
def test_wrong_flags_are_refused(value: Any) -> None:
    """Nothing is taken for a yes by its truth."""
    with pytest.raises(TypeError) as caught:
        RepeatGuardCallbackHandler(include_arguments=value)
    assert str(caught.value) == f"include_arguments must be True or False, got {value!r}"


def test_options_are_those_of_the_configuration() -> None:
    """A misspelt option is refused."""
    with pytest.raises(ValueError, match="treshholds"):
        RepeatGuardCallbackHandler(treshholds=(3,))


def test_the_error_survives_pickling() -> None:
    """It may leave a worker process."""
    error = RepeatLimitError(tool="grep", count=4, limit=4)
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), vars(copy), str(copy), isinstance(copy, RepeatGuardError)) == (
        RepeatLimitError,
        vars(error),
        str(error),
        True,
    )
