"""Cases from public bug reports that describe a graph, by the number of the report."""

import copy
import json
from typing import Annotated, Any

import pytest
from helpers.graphs import GUARDED, Place, Playback, answer, misplaced, reminders, summaries
from helpers.models import asks, call, repeats, says
from helpers.tools import grep
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    HumanMessage,
    ToolMessage,
    convert_to_openai_messages,
)
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import ToolNode
from langgraph.types import Command

from langchain_repeat_guard import RepeatGuardNode, RepeatReminderNode
from langchain_repeat_guard.history.carried import Carried

THREAD: Any = {"configurable": {"thread_id": "t"}}
GREP = {"pattern": "a"}
SAID: Any = {"messages": [HumanMessage("hi")]}


@pytest.mark.parametrize("place", GUARDED)
@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream", "with_config", "copy"])
async def test_r20_every_entry_point_counts(place: Place, way: str) -> None:
    """Sync, async, streamed, with a bound config, and as a copy."""
    agent = Playback(place, ToolNode([grep]))
    agent.queue([*repeats(3, "grep", GREP), says("done")])
    match way:
        case "invoke":
            agent.app.invoke(SAID, THREAD)
        case "ainvoke":
            await agent.app.ainvoke(SAID, THREAD)
        case "stream":
            list(agent.app.stream(SAID, THREAD))
        case "astream":
            [_ async for _ in agent.app.astream(SAID, THREAD)]
        case "with_config":
            agent.app.with_config(tags=["x"]).invoke(SAID, THREAD)
        case "copy":
            copy.copy(agent.app).invoke(SAID, THREAD)
    kinds = [one.type for one in agent.messages("t")]
    assert kinds == ["human", "ai", "tool", "ai", "tool", "ai", "tool", "human", "ai"]


@pytest.mark.parametrize("place", GUARDED)
def test_r41_order_holds_in_every_checkpoint(place: Place) -> None:
    """Eight steps of two equal calls: reminders at 3, 5 and 8, never inside a step."""
    agent = Playback(place, ToolNode([grep]))
    turns = [asks(call("grep", GREP), call("grep", GREP)) for _ in range(8)]
    agent.queue([*turns, says("done")])
    agent.app.invoke(SAID, THREAD)
    for snapshot in agent.app.get_state_history(THREAD):
        messages = snapshot.values.get("messages", [])
        last = messages[-1] if messages else None
        is_open = isinstance(last, AIMessage) and bool(last.tool_calls)
        assert misplaced(messages[:-1] if is_open else messages) == []
    messages = agent.messages("t")
    found = reminders(messages)
    assert [one.split()[-1] for one in summaries(messages)] == ["3", "5", "8"]
    assert [one.id for one in found] == [
        f"repeat_guard:{one.id}" for one in messages if one.type == "ai"
    ][1:4]


@pytest.mark.parametrize("place", GUARDED)
def test_r54_reminder_is_role_and_content_for_a_provider(place: Place) -> None:
    """No name and no metadata go over the wire."""
    messages = Playback(place).run(repeats(3, "grep", GREP), "hi")
    (sent,) = convert_to_openai_messages(reminders(messages))
    assert sorted(sent) == ["content", "role"]


@pytest.mark.parametrize("place", GUARDED)
@pytest.mark.parametrize("is_same_process", [True, False], ids=["same-graph", "new-graph"])
def test_r77_fork_counts_its_own_branch(place: Place, *, is_same_process: bool) -> None:
    """From the checkpoint behind the first result: one more call makes two, without a reminder."""
    saver = InMemorySaver()
    agent = Playback(place, ToolNode([grep]), checkpointer=saver)
    agent.queue([*repeats(4, "grep", GREP), says("done")])
    assert len(reminders(agent.app.invoke(SAID, THREAD)["messages"])) == 1
    past = [
        one
        for one in agent.app.get_state_history(THREAD)
        if one.next == ("model",) and len(one.values["messages"]) == 3
    ]
    if not is_same_process:
        agent = Playback(place, ToolNode([grep]), checkpointer=saver)
    agent.queue([*repeats(1, "grep", GREP), says("done")])
    forked = agent.app.invoke(None, past[0].config)["messages"]
    assert [one.type for one in forked] == ["human", "ai", "tool", "ai", "tool", "ai"]
    agent.queue([*repeats(1, "grep", GREP), says("done")])
    note = HumanMessage("note", additional_kwargs={"lc_source": "harness"})
    assert summaries(agent.app.invoke({"messages": [note]}, THREAD)["messages"])[0].endswith("3")


@pytest.mark.parametrize("place", GUARDED)
def test_replayed_step_replaces_its_reminder(place: Place) -> None:
    """L2: a replay from the checkpoint before the step gives the same reminder, once."""
    agent = Playback(place, ToolNode([grep]))
    agent.queue([*repeats(3, "grep", GREP), says("done")])
    first = agent.app.invoke(SAID, THREAD)["messages"]
    before = [
        one
        for one in agent.app.get_state_history(THREAD)
        if one.next == ("tools",) and len(one.values["messages"]) == 6
    ]
    agent.queue([says("done")])
    again = agent.app.invoke(None, before[0].config)["messages"]
    assert [one.id for one in reminders(again)] == [one.id for one in reminders(first)]
    assert [one.content for one in again] == [one.content for one in first]


@pytest.mark.parametrize("place", GUARDED)
@pytest.mark.parametrize("delivery", ["human_message", "tool_message"])
def test_r79_what_is_stored_survives_strict_serialization(
    place: Place, delivery: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Plain values and LangChain's own messages only: loaded is what was stored."""
    monkeypatch.setenv("LANGGRAPH_STRICT_MSGPACK", "true")
    agent = Playback(place, delivery=delivery)
    agent.run(repeats(3, "grep", GREP), "hi")
    values = agent.app.get_state({"configurable": {"thread_id": "thread"}}).values
    serde = JsonPlusSerializer()
    assert serde.loads_typed(serde.dumps_typed(values)) == values
    channel = values.get("repeat_guard")
    assert json.loads(json.dumps(channel)) == channel
    assert caplog.records == []


@pytest.mark.parametrize("place", GUARDED)
@pytest.mark.parametrize(
    ("calls", "steps", "at"),
    [
        pytest.param(1, 3, 2, id="one-call-a-step"),
        pytest.param(2, 2, 1, id="two-calls-a-step"),
    ],
)
@pytest.mark.parametrize("call_id", [None, ""], ids=["none", "empty"])
def test_r86_ids_may_be_missing(
    place: Place, calls: int, steps: int, at: int, call_id: str | None
) -> None:
    """Servers may send tool calls without ids; answers then belong to them by their place."""
    turns = [
        AIMessage("", id=f"m{number}", tool_calls=[call("grep", GREP, call_id)] * calls)
        for number in range(steps)
    ]
    messages = Playback(place).run(turns, "hi")
    assert [one.id for one in reminders(messages)] == [f"repeat_guard:m{at}"]
    assert misplaced(messages) == []


@tool
def cmd(q: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> Any:
    """Return a Command that brings a human message of its own."""
    note = HumanMessage("note from tool", id=f"note-{tool_call_id}")
    return Command(update={"messages": [ToolMessage("ok", tool_call_id=tool_call_id), note]})


@pytest.mark.parametrize("place", GUARDED)
@pytest.mark.parametrize("is_note_a_prompt", [True, False])
def test_r89_message_that_a_tool_puts_between_results(
    place: Place, *, is_note_a_prompt: bool
) -> None:
    """It counts as a prompt, which drops the step, unless the host says that it is none.

    In either case no reminder stands in front of the step's last result.
    """
    options: dict[str, Any] = {}
    if not is_note_a_prompt:
        options = {"is_user_prompt": lambda message: message.content != "note from tool"}
    agent = Playback(place, ToolNode([cmd, grep]), thresholds=(2,), **options)
    both = [call("cmd", {"q": "x"}, "c1"), call("cmd", {"q": "x"}, "c2")]
    messages = agent.run([asks(*both)], "hi")
    kinds = ["human", "ai", "tool", "human", "tool", "human"]
    assert [one.type for one in messages] == kinds + ["human"] * (not is_note_a_prompt)
    assert len(reminders(messages)) == (not is_note_a_prompt)


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        pytest.param([{"n": 3}, {"n": 3.0}, {"n": 3}], 1, id="r101-whole-numbers"),
        pytest.param([{"n": 1}, {"n": True}, {"n": 1}], 0, id="r101-truth-values"),
        pytest.param([{"x": float("nan")}] * 3, 1, id="r103-nan"),
        pytest.param([{"x": float("inf")}] * 3, 1, id="r103-infinity"),
        pytest.param([{}, {}, {}], 1, id="r100-no-arguments"),
        pytest.param([{"q": 1, "n": 2}, {"n": 2, "q": 1}, {"q": 1, "n": 2}], 1, id="r92-key-order"),
    ],
)
@pytest.mark.parametrize("place", GUARDED)
def test_arguments_are_compared_as_json_values(
    place: Place, args: list[dict[str, Any]], expected: int
) -> None:
    """R92, R100, R101, R103."""
    messages = Playback(place).run([asks(call("t", one)) for one in args], "hi")
    assert len(reminders(messages)) == expected


def test_chain_goes_on_after_a_reload() -> None:
    """The channel as JSON text, and a node of another process."""
    messages: list[AnyMessage] = []
    stored = "null"
    due: list[int] = []
    for turn in repeats(8, "grep", GREP):
        messages = [turn, *answer({"messages": [turn]})["messages"]]
        turn.id = f"m{len(due)}"
        state = {"messages": messages, "repeat_guard": json.loads(stored)}
        update = RepeatReminderNode().invoke(state)
        stored = json.dumps(update["repeat_guard"])
        due.append(len(update.get("messages", [])))
    assert due == [0, 0, 1, 0, 1, 0, 0, 1]
    assert Carried.from_dict(json.loads(stored)).chain.count == 8


def test_state_of_messages_alone_works_as_a_root() -> None:
    """A graph whose state is the list of messages: the wrapper serves it, and keeps no channel."""
    state: Any = Annotated[list[AnyMessage], add_messages]
    builder: Any = StateGraph(state)
    builder.add_node("tools", RepeatGuardNode(ToolNode([grep])))
    builder.add_edge(START, "tools")
    app: Any = builder.compile(checkpointer=InMemorySaver())
    for turn in repeats(3, "grep", GREP):
        app.invoke([turn], THREAD)
    assert len(reminders(app.get_state(THREAD).values)) == 1


def test_no_thread_no_checkpointer() -> None:
    """R04 for a node: runs without any identity do not share their counts."""
    for place in GUARDED:
        agent = Playback(place, ToolNode([grep]), checkpointer=False)
        for _ in range(20):
            agent.queue([*repeats(2, "grep", GREP), says("done")])
            assert reminders(agent.app.invoke(SAID)["messages"]) == []
