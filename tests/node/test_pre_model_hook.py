"""RepeatReminderNode as the pre_model_hook of create_react_agent, alone and with another hook."""

from dataclasses import dataclass
from typing import Any

import pytest
from helpers.laws import check_append_only, check_order
from helpers.models import ScriptedModel, asks, call, repeats, says
from helpers.modes import Run, run_sync
from helpers.pictures import growing, pictures, reminder_counts
from helpers.tools import grep
from langchain_core.messages import (
    AnyMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    trim_messages,
)
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.prebuilt import create_react_agent
from langgraph.prebuilt.chat_agent_executor import AgentState
from langgraph.runtime import Runtime
from langgraph.types import Command, Overwrite
from typing_extensions import TypedDict

from langchain_repeat_guard import (
    RepeatGuardSetupError,
    RepeatReminderNode,
    is_reminder,
)

pytestmark = pytest.mark.filterwarnings("ignore:create_react_agent has been moved")

NINE = "hatatatR3atatR5atatatR8at"


@pytest.fixture(params=["v1", "v2"])
def version(request: pytest.FixtureRequest) -> str:
    """Return a version of the agent: one task for all calls of a step, or a task for each."""
    value: str = request.param
    return value


def requests_of(
    node: RepeatReminderNode, version: str, run: Run, **options: Any
) -> list[list[AnyMessage]]:
    """Run nine identical calls; return what the model was asked, in valid order each time."""
    model = ScriptedModel(script=[*repeats(9, "grep", {"pattern": "x"}), says("done")])
    agent = create_react_agent(
        model, [grep], pre_model_hook=node, version=version, checkpointer=InMemorySaver(), **options
    )
    config = {"configurable": {"thread_id": "1"}}
    run(agent, {"messages": [("user", "go")]}, config)
    requests: list[Any] = model.requests
    for request in requests:
        check_order(request)
    return requests


def told(requests: list[list[AnyMessage]]) -> list[list[int]]:
    """Return what each reminder at the end of a request was about, in order."""
    return [reminder_counts(one[-1]) for one in requests if is_reminder(one[-1])]


def test_alone(version: str, run: Run) -> None:
    """Reminders stand behind the third, fifth and eighth result."""
    requests = requests_of(RepeatReminderNode(), version, run)
    assert pictures(requests) == growing(NINE)


def test_parallel_calls(version: str, run: Run) -> None:
    """A reminder stands behind all results of a step, also where each call is a task of its own."""
    pair = [asks(call("grep", {"pattern": "x"}), call("grep", {"pattern": "x"})) for _ in range(2)]
    model = ScriptedModel(script=[*pair, says("done")])
    agent = create_react_agent(model, [grep], pre_model_hook=RepeatReminderNode(), version=version)
    run(agent, {"messages": [("user", "go")]})
    assert pictures(model.requests) == growing("hattattR3")


def with_instructions(state: Any) -> dict[str, Any]:
    """Be a hook that changes only what the model gets."""
    return {"llm_input_messages": [SystemMessage("Be brief."), *state["messages"]]}


async def with_instructions_async(state: Any) -> dict[str, Any]:
    """Be the same hook as a coroutine."""
    return with_instructions(state)


def test_a_hook_that_writes_llm_input_messages(version: str, run: Run) -> None:
    """What the hook gives to the model holds the reminder, in the very next request."""
    hook = with_instructions if run is run_sync else with_instructions_async
    requests = requests_of(RepeatReminderNode(hook=hook), version, run)
    assert pictures(requests) == growing(NINE)
    assert {request[0].content for request in requests} == {"Be brief."}
    check_append_only(requests)


def newest(messages: list[AnyMessage]) -> list[AnyMessage]:
    """Return the newest four messages or fewer, beginning with one that may stand first."""
    return trim_messages(messages, max_tokens=4, token_counter=len, start_on=("human", "ai"))


@pytest.mark.parametrize(
    "hook",
    [
        lambda state: {"llm_input_messages": newest(state["messages"])},
        lambda state: {
            "messages": [RemoveMessage(REMOVE_ALL_MESSAGES), *newest(state["messages"])]
        },
        lambda state: {"messages": Overwrite(newest(state["messages"]))},
        RunnableLambda(lambda state: {"llm_input_messages": newest(state["messages"])}),
    ],
    ids=["request", "state", "overwritten-state", "runnable"],
)
def test_a_hook_that_trims(version: str, run: Run, hook: Any) -> None:
    """Neither a trimmed request nor a trimmed state loses a reminder."""
    requests = requests_of(RepeatReminderNode(hook=hook), version, run)
    assert told(requests) == [[3], [5], [8]]
    assert max(map(len, requests)) <= 4


def test_tool_message_delivery_with_a_hook(version: str, run: Run) -> None:
    """The hook sees the result with the text appended."""
    node = RepeatReminderNode(delivery="tool_message", hook=with_instructions)
    requests = requests_of(node, version, run)
    assert pictures(requests)[3] == "hatataT3"


class NotesState(AgentState):
    """A state with more than messages."""

    notes: str


def with_notes(state: NotesState) -> dict[str, Any]:
    """Be a hook that reads another key of the state."""
    note = HumanMessage(state.get("notes", "none"), additional_kwargs={"lc_source": "note"})
    return {"llm_input_messages": [note, *state["messages"]]}


class Mine(RepeatReminderNode):
    """A host's own class."""


@pytest.mark.parametrize(
    "node",
    [
        RepeatReminderNode(hook=with_notes),
        RepeatReminderNode(hook=RunnableLambda(with_notes), state_schema=NotesState),
        Mine(hook=with_notes),
        Mine(hook=RunnableLambda(with_notes), state_schema=NotesState),
    ],
    ids=["annotated", "named", "annotated-subclass", "named-subclass"],
)
def test_a_hook_reads_the_state_that_it_declares(
    version: str, run: Run, node: RepeatReminderNode
) -> None:
    """A hook gets the state of its annotation, or the one that is named for it."""
    model = ScriptedModel(script=[*repeats(3, "grep"), says("done")])
    agent: Any = create_react_agent(
        model,
        [grep],
        pre_model_hook=node,
        version=version,
        state_schema=NotesState,
    )
    run(agent, {"messages": [("user", "go")], "notes": "mine"})
    assert pictures(model.requests) == [f"n{drawn}" for drawn in growing("hatatatR3")]
    assert {request[0].content for request in model.requests} == {"mine"}


@dataclass
class Seen:
    """A state as an object."""

    messages: list[AnyMessage]


def of_an_object(state: Seen) -> dict[str, Any]:
    """Be a hook that reads its state as an object."""
    return {"llm_input_messages": [SystemMessage("Be brief."), *state.messages]}


def test_a_hook_gets_the_kind_of_state_that_it_declares(version: str, run: Run) -> None:
    """A hook annotated with a dataclass or pydantic model gets one."""
    requests = requests_of(RepeatReminderNode(hook=of_an_object), version, run)
    assert pictures(requests) == growing(NINE)


def test_a_hook_may_return_a_command_or_nothing(version: str, run: Run) -> None:
    """Whatever form the hook's update has, the guard's own is applied too."""
    for hook in (lambda state: Command(update=with_instructions(state)), lambda state: None):
        requests = requests_of(RepeatReminderNode(hook=hook), version, run)
        assert pictures(requests) == growing(NINE)


def test_a_hook_composed_by_hand(version: str, run: Run) -> None:
    """A hook that runs the node itself, and then does its own work, sees the same."""
    node = RepeatReminderNode()

    class Channel(TypedDict):
        """What the two read."""

        messages: list[Any]
        repeat_guard: dict[str, Any]

    def both(state: Channel) -> dict[str, Any]:
        update = node.invoke(state)
        messages = [*state["messages"], *update.get("messages", [])]
        return {**update, "llm_input_messages": newest(messages)}

    both.__annotations__["state"] = Channel
    requests = requests_of(both, version, run)  # type: ignore[arg-type]
    assert told(requests) == [[3], [5], [8]]


def test_a_hook_that_cannot_run_inside_a_node_is_refused() -> None:
    """LangGraph gives a runtime to nodes only: a hook that wants one is refused."""

    def hook(state: Any, runtime: Runtime) -> dict[str, Any]:
        return {}

    with pytest.raises(RepeatGuardSetupError, match="wants 'runtime'"):
        RepeatReminderNode(hook=hook)
    with pytest.raises(RepeatGuardSetupError, match="hook must be a runnable"):
        RepeatReminderNode(hook="trim")  # type: ignore[arg-type]


class Unreadable(TypedDict):
    """Declares a key by a name that nobody knows."""

    notes: "Unknown"  # type: ignore[name-defined]  # noqa: F821


@pytest.mark.parametrize("schema", [42, "NotesState", {"notes": str}, int, Unreadable], ids=repr)
def test_a_state_schema_that_declares_nothing_is_refused(schema: Any) -> None:
    """When the node is built, with the value and the rule."""
    with pytest.raises(TypeError) as caught:
        RepeatReminderNode(hook=with_notes, state_schema=schema)
    assert str(caught.value) == (
        "state_schema must be a TypedDict, a dataclass or a pydantic model whose annotations can "
        f"be read, got {schema!r}"
    )


def test_a_state_schema_without_a_hook_is_refused() -> None:
    """Nobody would read it."""
    with pytest.raises(TypeError, match=r"^state_schema is .* a hook reads: pass hook="):
        RepeatReminderNode(state_schema=NotesState)


def test_a_hook_with_an_unreadable_annotation_reads_the_messages(version: str, run: Run) -> None:
    """What only its author can read names no keys."""

    def hook(state: Any) -> dict[str, Any]:
        return with_instructions(state)

    hook.__annotations__["state"] = Unreadable
    requests = requests_of(RepeatReminderNode(hook=hook), version, run)
    assert pictures(requests) == growing(NINE)


def test_errors_of_the_hook_pass_through(version: str, run: Run) -> None:
    """The guard hides no fault of the user's own code."""

    def hook(_: Any) -> dict[str, Any]:
        message = "mine"
        raise KeyError(message)

    with pytest.raises(KeyError, match="mine"):
        requests_of(RepeatReminderNode(hook=hook), version, run)
