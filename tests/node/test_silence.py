"""While no threshold is hit, a guarded graph is the same as an unguarded one."""

from typing import Any

import pytest
from helpers.graphs import GUARDED, Place, Playback, answer
from helpers.models import asks, call, repeats, says
from helpers.tools import grep, read
from langchain_core.messages import BaseMessage, HumanMessage
from langgraph.prebuilt import ToolNode

from langchain_repeat_guard import is_reminder

THREAD: Any = {"configurable": {"thread_id": "t"}}
SCRIPT = [
    asks(call("grep", {"pattern": "a"}, "c1"), id="m1"),
    asks(call("grep", {"pattern": "a"}, "c2"), call("read", {"path": "a"}, "c3"), id="m2"),
    asks(call("unknown", {}, "c4"), id="m3"),
    asks(call("read", {}, "c5"), id="m4"),
    says("done", id="m5"),
]
MODES: list[Any] = ["values", "updates", "messages", "custom", "tasks", "checkpoints", "debug"]


def told(value: Any) -> Any:
    """Return what a stream tells, without what differs from run to run."""
    changing = {
        "id",
        "timestamp",
        "ts",
        "checkpoint_id",
        "checkpoint_ns",
        "langgraph_checkpoint_ns",
    }
    if isinstance(value, BaseMessage):
        return told({**value.model_dump(), "id": None})
    if isinstance(value, dict):
        return {
            key: told(one)
            for key, one in value.items()
            if key not in changing and not str(key).endswith("_config") and key != "config"
        }
    if isinstance(value, list | tuple):
        return [told(one) for one in value]
    return value


@pytest.mark.parametrize("place", ["around-tools", "around-tools-with-channel"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("tools", [ToolNode([grep, read]), answer], ids=["tool-node", "function"])
def test_stream_is_the_same(place: Place, mode: Any, tools: Any) -> None:
    """In every mode, event for event; a channel that the user has added shows, as any key does."""
    streams = []
    for where in (place, "nowhere"):
        agent = Playback(where, tools)
        agent.queue(SCRIPT)
        said: Any = {"messages": [HumanMessage("hi", id="h")]}
        streams.append([told(one) for one in agent.app.stream(said, THREAD, stream_mode=mode)])
    guarded, bare = streams
    if place == "around-tools-with-channel":
        assert len(guarded) == len(bare)
    else:
        assert guarded == bare


@pytest.mark.parametrize("place", GUARDED)
def test_messages_are_the_same(place: Place) -> None:
    """Results, answers, errors of unknown tools and of wrong arguments."""
    runs = [
        [told(one) for one in Playback(where, ToolNode([grep, read])).run(SCRIPT, "hi")]
        for where in (place, "nowhere")
    ]
    assert runs[0] == runs[1]


@pytest.mark.parametrize("place", ["around-tools", "before-model"])
def test_output_is_the_same(place: Place) -> None:
    """No key is added to what a run returns."""
    agent = Playback(place, ToolNode([grep, read]))
    agent.queue(SCRIPT)
    assert list(agent.app.invoke({"messages": [HumanMessage("hi")]}, THREAD)) == ["messages"]


@pytest.mark.parametrize("place", GUARDED)
def test_reminder_is_streamed_once(place: Place) -> None:
    """As one message, and in one update."""
    for mode in MODES[1:3]:
        agent = Playback(place, ToolNode([grep]))
        agent.queue([*repeats(4, "grep", {"pattern": "a"}), says("done")])
        said: Any = {"messages": [HumanMessage("hi", id="h")]}
        seen = []
        events: Any = agent.app.stream(said, THREAD, stream_mode=mode)
        for event in events:
            if mode == "messages":
                seen.append(event[0])
            else:
                seen += [m for update in event.values() for m in (update or {}).get("messages", [])]
        assert len([one for one in seen if is_reminder(one)]) == 1
        assert len([one for one in seen if one.type == "tool"]) == 4


@pytest.mark.parametrize("place", ["around-tools", "around-tools-with-channel"])
def test_wrapper_adds_no_superstep_and_no_checkpoint(place: Place) -> None:
    """Also where it reminds."""
    counts = []
    for where in (place, "nowhere"):
        agent = Playback(where, ToolNode([grep]))
        agent.queue([*repeats(4, "grep", {"pattern": "a"}), says("done")])
        events = list(agent.app.stream({"messages": [HumanMessage("hi")]}, THREAD))
        counts.append((len(events), len(list(agent.app.get_state_history(THREAD)))))
    assert counts[0] == counts[1]
