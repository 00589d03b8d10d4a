"""What the nodes refuse, when they are built or when something misuses them."""

import functools
from typing import Any

import pytest
from helpers.graphs import Playback, react_agent, summaries
from helpers.models import ScriptedModel, repeats
from helpers.tools import grep
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langgraph.graph import MessagesState
from langgraph.prebuilt import ToolNode
from langgraph.runtime import Runtime, get_runtime
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore

from langchain_repeat_guard import (
    RepeatGuardNode,
    RepeatGuardSetupError,
    RepeatReminderNode,
)


def wants_runtime(state: Any, runtime: Runtime[Any]) -> Any:
    return state


def wants_store(state: Any, *, store: BaseStore) -> Any:
    return state


def wants_writer(state: Any, writer: Any = None) -> Any:
    return state


def wants_nothing() -> None:
    return


def wants_more(state: Any, limit: int) -> Any:
    return state


@pytest.mark.parametrize(
    ("tools_node", "message"),
    [
        pytest.param([grep], "RepeatGuardNode(ToolNode([...]))", id="list-of-tools"),
        pytest.param((grep,), "RepeatGuardNode(ToolNode([...]))", id="tuple-of-tools"),
        pytest.param(grep, "RepeatGuardNode(ToolNode([...]))", id="tool"),
        pytest.param(ToolNode, "Cannot wrap 'ToolNode'", id="class"),
        pytest.param("tools", "Cannot wrap 'str'", id="name-of-a-node"),
        pytest.param(None, "Cannot wrap 'NoneType'", id="none"),
        pytest.param(wants_runtime, "wants 'runtime'", id="runtime"),
        pytest.param(wants_store, "wants 'store'", id="store"),
        pytest.param(wants_writer, "wants 'writer'", id="writer"),
        pytest.param(wants_nothing, "takes nothing", id="no-state"),
        pytest.param(wants_more, "wants 'limit'", id="more-than-state"),
        pytest.param(RepeatGuardNode(ToolNode([grep])), "One guard per agent", id="guard"),
        pytest.param(RepeatReminderNode(), "One guard per agent", id="reminder-node"),
        pytest.param(
            RepeatGuardNode(ToolNode([grep])).with_config(tags=["x"]),
            "this RepeatGuardNode guards",
            id="guard-in-a-binding",
        ),
        pytest.param(
            RunnableLambda(lambda state: state) | RepeatGuardNode(ToolNode([grep])),
            "this RepeatGuardNode guards",
            id="guard-in-a-sequence",
        ),
        pytest.param(
            ToolNode([grep]).with_fallbacks([RepeatGuardNode(ToolNode([grep]))]),
            "this RepeatGuardNode guards",
            id="guard-as-a-fallback",
        ),
    ],
)
def test_what_cannot_work_is_refused(tools_node: Any, message: str) -> None:
    """The message says what it is, and what to do."""
    with pytest.raises(RepeatGuardSetupError) as refused:
        RepeatGuardNode(tools_node)
    assert message in str(refused.value)


def test_advice_for_functions_that_want_a_runtime_works() -> None:
    """`get_runtime()` inside of the function."""
    seen = []

    def tools(state: MessagesState) -> Any:
        seen.append(get_runtime())
        return ToolNode([grep]).invoke(state)

    messages = Playback("around-tools", tools).run(repeats(3, "grep", {"pattern": "a"}), "hi")
    assert [type(one) for one in seen] == [Runtime] * 3
    assert len(summaries(messages)) == 1


@pytest.mark.parametrize(
    "tools_node",
    [
        pytest.param(functools.partial(wants_store, store=InMemoryStore()), id="bound-beforehand"),
        pytest.param(lambda state, config: state, id="config"),
        pytest.param(lambda state, *args, **kwargs: state, id="anything"),
        pytest.param(lambda state, limit=1: state, id="default"),
        pytest.param(dict.copy, id="builtin"),
        pytest.param(vars, id="builtin-without-a-signature"),
        pytest.param(RunnableLambda(lambda state: state), id="runnable"),
        pytest.param(ToolNode([grep]).with_retry(), id="binding"),
    ],
)
def test_what_may_work_is_taken(tools_node: Any) -> None:
    """Only what is known to fail is refused."""
    assert RepeatGuardNode(tools_node).config.thresholds == (3, 5, 8)


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_guard_is_no_list_of_tools(version: str) -> None:
    """`create_react_agent` takes tools or a ToolNode; the message says what to pass instead."""
    node = RepeatGuardNode(ToolNode([grep]))
    with pytest.raises(RepeatGuardSetupError, match=r"pre_model_hook=RepeatReminderNode\(\)"):
        react_agent(ScriptedModel(), node, version=version)


def test_guard_is_no_list_of_tools_for_create_agent() -> None:
    """The message names the middleware."""
    agents = pytest.importorskip("langchain.agents")
    with pytest.raises(RepeatGuardSetupError, match=r"middleware=\[RepeatGuardMiddleware\(\)\]"):
        agents.create_agent(ScriptedModel(), RepeatGuardNode(ToolNode([grep])))


def test_config_reaches_a_function() -> None:
    """As LangGraph would hand it over."""
    threads = []

    def tools(state: MessagesState, config: RunnableConfig) -> Any:
        threads.append(config["configurable"]["thread_id"])
        return ToolNode([grep]).invoke(state, config)

    Playback("around-tools", tools).run(repeats(1, "grep", {"pattern": "a"}), "hi", thread="t7")
    assert threads == ["t7"]
