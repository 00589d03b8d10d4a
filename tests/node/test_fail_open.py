"""Nothing that goes wrong in the guard reaches the run."""

import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from helpers.graphs import GUARDED, Place, Playback, answer, reminders
from helpers.models import repeats
from helpers.tools import grep
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.graph import MessagesState
from langgraph.prebuilt import ToolNode

import langchain_repeat_guard.history.guard
from langchain_repeat_guard import RepeatGuardNode, RepeatReminderNode

SECRET = {"pattern": "hunter2-test"}


def fail(*_: Any, **__: Any) -> Any:
    """Raise an error that quotes what it was about."""
    raise RuntimeError(SECRET)


@pytest.fixture(name="log")
def log_of_all_levels(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    with caplog.at_level(logging.DEBUG):
        yield caplog


def shape(messages: Any) -> list[tuple[str, Any]]:
    """Return messages without the ids that LangGraph makes up."""
    return [(one.type, one.content) for one in messages]


@pytest.mark.parametrize("place", GUARDED)
def test_fault_of_the_guard_costs_reminders_only(
    place: Place, monkeypatch: pytest.MonkeyPatch, log: pytest.LogCaptureFixture
) -> None:
    """The run is the one without a guard; one warning tells of it, without any argument."""
    monkeypatch.setattr(langchain_repeat_guard.history.guard, "judge", fail)
    turns = repeats(8, "grep", SECRET)
    guarded = Playback(place, ToolNode([grep])).run(turns, "hi")
    bare = Playback("nowhere", ToolNode([grep])).run(turns, "hi")
    assert shape(guarded) == shape(bare)
    ours = [one for one in log.records if one.name == "langchain_repeat_guard"]
    assert [one.levelname for one in ours] == ["WARNING"]
    assert "skipped a check after RuntimeError at test_fail_open.py:" in ours[0].getMessage()
    assert "hunter2-test" not in log.text


@pytest.mark.parametrize("place", GUARDED)
def test_fault_of_the_host_function_costs_reminders_only(
    place: Place, log: pytest.LogCaptureFixture
) -> None:
    """`is_user_prompt` is the host's, and may fail."""
    messages = Playback(place, is_user_prompt=fail).run(repeats(4, "grep", SECRET), "hi")
    assert [one.type for one in messages] == ["human", *["ai", "tool"] * 4]
    assert len([one for one in log.records if one.name == "langchain_repeat_guard"]) == 1
    assert "hunter2-test" not in log.text


class Odd:
    """R61: an argument of which nothing can be asked."""

    __repr__ = __str__ = __eq__ = __hash__ = fail


@pytest.mark.parametrize(
    "node",
    [
        pytest.param(lambda state: RepeatGuardNode(answer).invoke(state), id="wrapper"),
        pytest.param(
            lambda state: RepeatReminderNode().invoke(
                {"messages": [*state["messages"], *answer(state)["messages"]]}
            ),
            id="reminder-node",
        ),
    ],
)
def test_argument_that_raises_on_everything(
    node: Callable[[MessagesState], Any], log: pytest.LogCaptureFixture
) -> None:
    """Such calls equal no other; there is no warning and no reminder."""
    messages: list[Any] = [HumanMessage("hi")]
    for number in range(4):
        turn = AIMessage("", id=f"m{number}")
        turn.tool_calls = [{"name": "t", "args": {"x": Odd()}, "id": "c", "type": "tool_call"}]
        messages.append(turn)
        update = node({"messages": messages})
        assert reminders(update.get("messages", [])) == []
        messages.append(ToolMessage("ok", tool_call_id="c"))
    assert log.records == []


@pytest.mark.parametrize("place", GUARDED)
def test_no_secret_in_state_or_log(place: Place, log: pytest.LogCaptureFixture) -> None:
    """R96: a digest is all that is kept of arguments, and the first reminder quotes none."""
    agent = Playback(place)
    messages = agent.run(repeats(3, "login", {"password": "hunter2-test"}), "hi")
    values = agent.app.get_state({"configurable": {"thread_id": "thread"}}).values
    assert "hunter2-test" not in str(values.get("repeat_guard"))
    assert "hunter2-test" not in str(reminders(messages))
    assert "hunter2-test" not in log.text


def test_tool_message_that_cannot_be_replaced(log: pytest.LogCaptureFixture) -> None:
    """Without ids a node behind the tools cannot change their results; it says so once."""
    node = RepeatReminderNode(delivery="tool_message", thresholds=(2, 3))
    messages: list[Any] = []
    channel: Any = None
    for number in range(3):
        messages += [*repeats(1, "grep", SECRET)]
        messages.append(ToolMessage("ok", tool_call_id=messages[-1].tool_calls[0]["id"]))
        messages[-2].id = f"m{number}"
        update = node.invoke({"messages": messages, "repeat_guard": channel})
        channel = update["repeat_guard"]
        assert update.get("messages", []) == []
    text = (
        "RepeatReminderNode cannot append to a tool message without id. delivery='tool_message' "
        "needs the reducer add_messages on the state's messages."
    )
    assert [one.getMessage() for one in log.records] == [text]
