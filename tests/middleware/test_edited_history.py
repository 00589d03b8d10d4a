"""Chains survive that other code shortens, summarises or edits the history."""

import operator
from typing import Annotated, Any

import pytest
from deepagents.middleware.patch_tool_calls import PatchToolCallsMiddleware
from helpers.agents import MakeGuard, make_scene
from helpers.models import ScriptedModel, asks, call, repeats, says
from helpers.modes import Run
from helpers.pictures import growing, reminder_counts
from langchain.agents import AgentState
from langchain.agents.middleware import (
    AgentMiddleware,
    ClearToolUsesEdit,
    ContextEditingMiddleware,
    SummarizationMiddleware,
    before_model,
    wrap_model_call,
)
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    HumanMessage,
    RemoveMessage,
    trim_messages,
)
from langgraph.graph.message import REMOVE_ALL_MESSAGES, add_messages

from langchain_repeat_guard import TransientRepeatGuardMiddleware, is_reminder

ALL_COUNTS = [[3], [5], [8]]


def counts_told(scene: Any) -> list[list[int]]:
    """Return what each reminder at the end of a request was about, in order."""
    return [
        reminder_counts(request[-1]) for request in scene.model.requests if is_reminder(request[-1])
    ]


def nine() -> list[Any]:
    """Return nine identical calls, then an answer."""
    return [*repeats(9, "grep", {"pattern": "x"}), says("done")]


@pytest.mark.parametrize("keep", [1, 2, 20])
@pytest.mark.parametrize("is_first", [True, False], ids=["guard-first", "guard-last"])
def test_summaries_lose_no_reminder(guard: MakeGuard, run: Run, keep: int, is_first: bool) -> None:
    """SummarizationMiddleware deletes counted steps; the chain goes on all the same."""
    summary = SummarizationMiddleware(
        ScriptedModel(script=lambda _: says("a summary")),
        trigger=("messages", keep + 3),
        keep=("messages", keep),
    )
    scene = make_scene(
        guard(), run, nine(), arrange=lambda one: [one, summary] if is_first else [summary, one]
    )
    scene.prompt()
    assert counts_told(scene) == ALL_COUNTS
    assert any("n" in seen for seen in scene.seen) == (keep < 20)


def test_cleared_results_keep_their_reminders(guard: MakeGuard, run: Run) -> None:
    """ContextEditing empties old results in requests; chain and reminders stay in place."""
    clear = ContextEditingMiddleware(edits=[ClearToolUsesEdit(trigger=1, keep=1)])
    scene = make_scene(guard(), run, nine(), arrange=lambda one: [clear, one])
    scene.prompt()
    assert scene.seen == growing("hatatatR3atatR5atatatR8at")
    assert scene.model.requests[-1][2].content == "[cleared]"


@pytest.mark.parametrize("keep", [2, 4, 6])
def test_messages_trimmed_from_the_state(guard: MakeGuard, run: Run, keep: int) -> None:
    """A hook that deletes all but the newest messages deletes no chain."""

    @before_model
    def trim(state: AgentState[Any], runtime: Any) -> dict[str, Any]:
        kept = trim_messages(
            state["messages"], max_tokens=keep, token_counter=len, start_on=("human", "ai")
        )
        return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), *kept]}

    scene = make_scene(guard(), run, nine(), arrange=lambda one: [trim, one])
    scene.prompt()
    assert counts_told(scene) == ALL_COUNTS


@pytest.mark.parametrize("keep", [3, 5])
def test_messages_trimmed_from_the_request(guard: MakeGuard, run: Run, keep: int) -> None:
    """A middleware that shortens only the requests costs no reminder that still has its place."""

    @wrap_model_call
    def trim(request: Any, handler: Any) -> Any:
        return handler(request.override(messages=_newest_steps(request.messages, keep)))

    @wrap_model_call
    async def atrim(request: Any, handler: Any) -> Any:
        return await handler(request.override(messages=_newest_steps(request.messages, keep)))

    edit = trim if run.__name__ == "run_sync" else atrim
    scene = make_scene(guard(), run, nine(), arrange=lambda one: [edit, one])
    scene.prompt()
    assert counts_told(scene) == ALL_COUNTS


def _newest_steps(messages: list[AnyMessage], keep: int) -> list[AnyMessage]:
    return trim_messages(messages, max_tokens=keep, token_counter=len, start_on=("human", "ai"))


def keep_newest(old: list[AnyMessage], new: Any) -> list[AnyMessage]:
    """Be a reducer that forgets all but five messages, whole steps only."""
    return _newest_steps(list(add_messages(old, new)), 5)  # type: ignore[arg-type]


class ForgetfulState(AgentState[Any]):
    """A state that keeps few messages."""

    messages: Annotated[list[AnyMessage], keep_newest]  # type: ignore[misc]


class AppendingState(AgentState[Any]):
    """A state without the reducer add_messages."""

    messages: Annotated[list[AnyMessage], operator.add]  # type: ignore[misc]


def test_a_reducer_that_forgets(guard: MakeGuard, run: Run) -> None:
    """A custom reducer drops counted steps; the chain goes on."""
    scene = make_scene(guard(), run, nine(), state_schema=ForgetfulState)
    scene.run(scene.agent, {"messages": [asks_nothing()]}, scene.config)
    assert counts_told(scene) == ALL_COUNTS


def asks_nothing() -> AIMessage:
    """Return a message that survives a reducer which starts on a model's message."""
    return says("ready")


def test_a_reducer_that_only_appends(guard: MakeGuard, run: Run) -> None:
    """Without add_messages, messages have no ids of their own; all is as usual."""
    scene = make_scene(guard(), run, nine(), state_schema=AppendingState)
    scene.run(scene.agent, {"messages": [HumanMessage("go")]}, scene.config)
    assert scene.seen == growing("hatatatR3atatR5atatatR8at")


def test_removing_counted_steps_takes_their_calls_back(guard: MakeGuard, run: Run) -> None:
    """After update_state has removed the newest two of four steps, the next call is the third."""
    script = [*repeats(6, "grep"), says("done")]
    scene = make_scene(guard(), run, script, interrupt_after=["tools"])
    scene.prompt()
    for _ in range(3):
        scene.go_on()
    assert scene.stored == scene.as_stored("hatatatR3at")
    removed = [RemoveMessage(str(message.id)) for message in scene.messages[5:]]
    scene.agent.update_state(scene.config, {"messages": removed}, as_node="tools")
    scene.go_on()
    scene.go_on()
    assert scene.seen[-2:] == ["hatat", "hatatatR3"]


def test_an_edited_call_is_another_call(guard: MakeGuard, run: Run) -> None:
    """A step whose arguments update_state changes before it was counted counts as edited."""
    script = [*repeats(3, "grep", {"pattern": "x"}), says("done")]
    scene = make_scene(guard(), run, script, interrupt_after=["tools"])
    scene.prompt()
    scene.go_on()
    scene.go_on()
    newest: Any = scene.messages[-2]
    edited = asks(call("grep", {"pattern": "y"}, newest.tool_calls[0]["id"]), id=newest.id)
    scene.agent.update_state(scene.config, {"messages": [edited]}, as_node="tools")
    scene.go_on()
    assert scene.seen[-1] == "hatatat"


def test_a_prompt_added_by_update_state_resets(guard: MakeGuard, run: Run) -> None:
    """A prompt that stands behind two calls starts the chain anew."""
    script = [*repeats(5, "grep"), says("done")]
    scene = make_scene(guard(), run, script, interrupt_after=["tools"])
    scene.prompt()
    scene.go_on()
    scene.agent.update_state(scene.config, {"messages": [HumanMessage("wait")]}, as_node="tools")
    for _ in range(4):
        scene.go_on()
    assert scene.seen[2:] == ["hatath", "hatathat", "hatathatat", "hatathatatatR3"]


def test_a_prompt_that_overtakes_a_step(guard: MakeGuard, run: Run) -> None:
    """A prompt sent while the third call waits drops that call and starts the chain anew."""
    script = [*repeats(6, "grep"), says("done")]
    scene = make_scene(
        guard(),
        run,
        script,
        arrange=lambda one: [PatchToolCallsMiddleware(), one],
        interrupt_before=["tools"],
    )
    scene.prompt()
    scene.go_on()
    scene.go_on()
    assert scene.stored == "hatata"
    scene.prompt("stop")
    for _ in range(3):
        scene.go_on()
    assert scene.seen[3:] == ["hatatath", "hatatathat", "hatatathatat", "hatatathatatatR3"]


def shorten_arguments(messages: list[AnyMessage]) -> list[AnyMessage]:
    """Do as deepagents does with old calls: replace arguments by a stub, under the same id."""
    return [
        message.model_copy(
            update={"tool_calls": [{**one, "args": {"cut": True}} for one in message.tool_calls]}
        )
        if isinstance(message, AIMessage)
        else message
        for message in messages
    ]


class ArgumentCutter(AgentMiddleware[Any, Any, Any]):
    """Shortens the arguments of all calls in requests."""

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        """Shorten."""
        return handler(request.override(messages=shorten_arguments(request.messages)))

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        """Shorten."""
        return await handler(request.override(messages=shorten_arguments(request.messages)))


def test_reminders_quote_the_state(guard: MakeGuard, run: Run) -> None:
    """What other code has shortened in the request is counted and quoted as the model wrote it."""
    scene = make_scene(
        guard(thresholds=(2, 3)), run, nine(), arrange=lambda one: [ArgumentCutter(), one]
    )
    scene.prompt()
    assert scene.model.requests[2][-2].content == "nothing found for x"
    assert '- arguments: {"pattern":"x"}\n' in str(scene.model.requests[3][-1].content)
    assert '- arguments: {"pattern":"x"}\n' in str(scene.model.requests[-1][8].content)


def test_the_channel_forgets_reminders_of_deleted_steps(run: Run) -> None:
    """A summary that deletes a reminded step takes its mark out of the channel."""
    summary = SummarizationMiddleware(
        ScriptedModel(script=lambda _: says("a summary")),
        trigger=("messages", 8),
        keep=("messages", 2),
    )
    scene = make_scene(
        TransientRepeatGuardMiddleware(), run, nine(), arrange=lambda one: [summary, one]
    )
    scene.prompt()
    present = {message.id for message in scene.messages}
    marked = [token for token, _ in scene.state["repeat_guard"]["reminded"]]
    assert len(marked) == 1
    assert set(marked) <= present
