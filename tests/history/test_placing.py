"""Where reminders that no state holds are put into a request, and from what they are made."""

from typing import Any

import pytest
from helpers.models import asks, call, malformed
from helpers.pictures import picture
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from langchain_repeat_guard import RepeatGuardConfig
from langchain_repeat_guard.core.texts import FIRST_TEXT, LATER_TEXT
from langchain_repeat_guard.errors import RepeatGuardStateError
from langchain_repeat_guard.history.marks import Mark, MarkedStep, due_again, from_json, to_json
from langchain_repeat_guard.history.placing import address, place
from langchain_repeat_guard.history.tokens import token_at

CONFIG = RepeatGuardConfig()
SHORT = Mark(0, FIRST_TEXT, reached=3, preview_chars=500)
DETAILED = Mark(1, LATER_TEXT, reached=5, preview_chars=4)
CUSTOM = Mark(0, "Stop calling {tool}.", reached=3, preview_chars=500)


def step(message_id: str | None, *ids: str) -> list[AnyMessage]:
    """Return an AIMessage with a call for each of `ids`, and their results."""
    answers = [ToolMessage("result", tool_call_id=one, id=f"t-{one}") for one in ids]
    return [asks(*(call("grep", {"id": one}, one) for one in ids), id=message_id), *answers]


def placed(token: str, state: list[Any], requested: list[Any]) -> str:
    """Return the picture of a request with the reminder of one marked step."""
    addressed = address([MarkedStep(token, [SHORT])], state, CONFIG)
    return picture(place(addressed, requested, "human_message"))


def test_behind_the_last_result_whatever_follows() -> None:
    """A note or a prompt behind the results stays behind the reminder."""
    messages = [HumanMessage("go"), *step("m", "a", "b"), HumanMessage("next"), AIMessage("done")]
    assert placed("m", messages, messages) == "hattR3ha"


def test_found_by_the_id_in_a_shortened_request() -> None:
    """The request may hold another object under the same id, at another place."""
    state = [HumanMessage("go"), *step("old", "a"), *step("m", "b")]
    requested = [message.model_copy() for message in state[3:]]
    assert placed("m", state, requested) == "atR3"


@pytest.mark.parametrize(
    "token", [token_at(1, step(None, "a")[0]), token_at(5, step(None, "a")[0])]
)
def test_messages_without_id_are_found_by_their_place(token: str) -> None:
    """By the position and the calls' ids; since it was marked, older messages may be gone."""
    messages = [HumanMessage("go"), *step(None, "a"), *step(None, "b")]
    assert placed(token, messages, messages[1:]) == "atR3at"


def test_later_place_is_another_steps() -> None:
    """Nothing moves a message away from the start."""
    messages = [HumanMessage("go"), *step(None, "a")]
    assert "R" not in placed(token_at(0, step(None, "a")[0]), messages, messages)


@pytest.mark.parametrize("requested", [[], step("m", "a")[:1], step("m", "a")[1:]], ids=picture)
def test_gone_with_its_place(requested: list[Any]) -> None:
    """Without the AIMessage or its results in the request there is no place for a reminder."""
    assert "R" not in placed("m", step("m", "a"), requested)


@pytest.mark.parametrize("token", ["other", "#7", "#x", ""])
def test_gone_with_its_message(token: str) -> None:
    """What the state does not hold any more is not addressed."""
    assert address([MarkedStep(token, [SHORT])], step("m", "a"), CONFIG) == {}


def test_dicts_are_messages_too() -> None:
    """A state without the reducer add_messages may hold messages as dicts."""
    messages = [{"role": "user", "content": "go"}, *step("m", "a")]
    addressed = address([MarkedStep("m", [SHORT])], messages, CONFIG)
    assert picture(place(addressed, messages, "human_message")[1:]) == "atR3"


def test_the_marked_call_is_quoted() -> None:
    """The text is about the call at the marked place, its arguments cut as they were then."""
    message = asks(call("read", {}, "a"), call("grep", {"q": 1}, "b"))
    (due,) = due_again(message, [DETAILED], CONFIG)
    assert due.tool_call_id == "b"
    assert due.reminder.summary.startswith("grep")
    assert '- arguments: {"q"… (+3 more chars)\n' in due.reminder.text


def test_malformed_calls_have_a_place_among_the_others() -> None:
    """A malformed call without a known place is the last one."""
    (due,) = due_again(
        asks(malformed("read", "{b", "x"), call("grep", {}, "b")), [DETAILED], CONFIG
    )
    assert due.tool_call_id == "x"


def test_marks_of_calls_that_are_gone_are_left_out() -> None:
    """An edit that took the call away takes its reminder along."""
    assert due_again(asks(call("grep", {}, "a")), [DETAILED], CONFIG) == []


def test_marks_survive_json() -> None:
    """What is stored is read back."""
    steps = [MarkedStep("m", [SHORT, DETAILED, CUSTOM]), MarkedStep("#3", [SHORT])]
    assert from_json(to_json(steps)) == steps


@pytest.mark.parametrize(
    "value",
    [None, {}, ["m"], [["m"]], [["m", [[0, "short", 3]]]], [["m", [[0, "short", 3, 0]]]]],
    ids=repr,
)
def test_what_no_guard_has_written_raises(value: object) -> None:
    """A foreign value is named by its type alone."""
    with pytest.raises(RepeatGuardStateError, match="stored chain must be"):
        from_json(value)
