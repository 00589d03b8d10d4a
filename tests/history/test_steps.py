"""An agent's steps, read from its messages."""

from collections.abc import Sequence
from typing import Any

import pytest
from helpers.models import asks, call, malformed
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    HumanMessage,
    HumanMessageChunk,
    SystemMessage,
    ToolMessage,
    ToolMessageChunk,
)
from langchain_core.messages.tool import tool_call_chunk

from langchain_repeat_guard.core.texts import FIRST_TEXT
from langchain_repeat_guard.history.steps import (
    Closing,
    Prompt,
    Step,
    read_back,
    was_written_by_user,
)


def told(messages: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return what is read, oldest first, as short tuples."""
    found: list[tuple[Any, ...]] = []
    for item in read_back(messages, was_written_by_user):
        match item:
            case Step():
                names = [one.name for one in item.calls]
                found.append(("step", item.token, names, item.is_complete))
            case Prompt():
                found.append(("prompt", item.message_id))
            case Closing():
                found.append(("closing",))
    return found[::-1]


def answer(call_id: str, content: Any = "ok") -> ToolMessage:
    return ToolMessage(content, tool_call_id=call_id)


ASK = asks(call("grep", {"q": "a"}, "c1"), id="m1")


def test_step_is_an_ai_message_with_its_answers() -> None:
    """Answers belong to the nearest calls before them."""
    assert told([HumanMessage("hi", id="h"), ASK, answer("c1")]) == [
        ("prompt", "h"),
        ("step", "m1", ["grep"], True),
    ]


def test_parts_of_a_step_are_the_messages_themselves() -> None:
    """Nothing is copied."""
    result = answer("c1")
    (step,) = read_back([ASK, result], was_written_by_user)
    assert isinstance(step, Step)
    assert step.message is ASK
    assert step.answers[0] is result


@pytest.mark.parametrize(
    "messages",
    [
        pytest.param([], id="nothing"),
        pytest.param([answer("c0"), answer("")], id="orphans"),
        pytest.param([SystemMessage("rules")], id="system"),
        pytest.param(
            [HumanMessage("so far", additional_kwargs={"lc_source": "summarization"})], id="summary"
        ),
    ],
)
def test_what_is_neither_step_nor_prompt_is_passed_over(messages: list[Any]) -> None:
    """A history may begin anywhere."""
    assert told(messages) == []


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("", id="no-text"),
        pytest.param("Once more.", id="text"),
        pytest.param([{"type": "text", "text": "x"}, {"type": "reasoning"}], id="blocks"),
    ],
)
def test_text_beside_calls_does_not_matter(content: Any) -> None:
    """Only the calls are looked at."""
    message = AIMessage(content, id="m1", tool_calls=ASK.tool_calls)
    assert told([message, answer("c1", [{"type": "text", "text": "y"}])]) == told(
        [ASK, answer("c1")]
    )


def test_malformed_calls_alone_make_a_step() -> None:
    """It is complete once something has answered it."""
    message = asks(malformed("grep", "{", "c1"), id="m1")
    assert told([message]) == [("step", "m1", ["grep"], False)]
    assert told([message, answer("c1")]) == [("step", "m1", ["grep"], True)]


def test_answer_of_the_model_and_reminder_are_closings() -> None:
    """A step before them takes no reminder any more."""
    assert told([ASK, answer("c1"), AIMessage("done")])[1:] == [("closing",)]
    assert told([ASK, answer("c1"), HumanMessage(FIRST_TEXT)])[1:] == [("closing",)]


def test_step_without_any_id_is_known_by_its_place() -> None:
    """States without the reducer `add_messages` may hold messages without ids."""
    messages = [asks(call("a", {}, None)), answer(""), asks(call("a", {}, None)), answer("")]
    assert [item[1] for item in told(messages)] == ["#0", "#2"]


def test_step_without_id_is_known_by_its_place_and_its_calls() -> None:
    """The digest of the calls' ids stays when the step moves."""
    messages = [asks(call("a", {}, "c1")), answer("c1"), asks(call("a", {}, "c2")), answer("c2")]
    before, now = told(messages)[1][1], told(messages[2:])[0][1]
    assert (before, now) == ("#2:9c0abe51", "#0:9c0abe51")


def test_prompt_between_calls_and_answers_is_seen() -> None:
    """A tool, or a hurried user, may put one there."""
    assert told([ASK, HumanMessage("stop", id="h"), answer("c1")]) == [
        ("step", "m1", ["grep"], True),
        ("prompt", "h"),
    ]


def test_chunks_are_messages_too() -> None:
    """What was streamed may be stored as it came."""
    asked = AIMessageChunk(
        content="",
        id="m1",
        tool_call_chunks=[tool_call_chunk(name="grep", args="{}", id="c1", index=0)],
    )
    result = ToolMessageChunk(content="ok", tool_call_id="c1")
    assert told([HumanMessageChunk(content="hi", id="h"), asked, result]) == [
        ("prompt", "h"),
        ("step", "m1", ["grep"], True),
    ]


@pytest.mark.parametrize(
    "messages",
    [
        pytest.param(
            [
                {"role": "user", "content": "hi", "id": "h"},
                {
                    "role": "assistant",
                    "content": "",
                    "id": "m1",
                    "tool_calls": [
                        {"id": "c1", "function": {"name": "grep", "arguments": '{"q": "a"}'}}
                    ],
                },
                {"role": "tool", "content": "ok", "tool_call_id": "c1"},
            ],
            id="dicts-as-openai-writes-them",
        ),
        pytest.param(
            [
                {"role": "human", "content": "hi", "id": "h"},
                {"role": "ai", "content": "", "id": "m1", "tool_calls": ASK.tool_calls},
                {"role": "tool", "content": "ok", "tool_call_id": "c1"},
            ],
            id="dicts-as-langchain-writes-them",
        ),
    ],
)
def test_dicts_are_messages_too(messages: list[Any]) -> None:
    """A state without `add_messages` keeps what it was given."""
    assert told(messages) == [("prompt", "h"), ("step", "m1", ["grep"], True)]


def test_pairs_and_strings_are_messages_too() -> None:
    """Role and text, or a user's text alone."""
    assert told([("user", "hi"), ("ai", "hello"), "and now?"]) == [
        ("prompt", ""),
        ("closing",),
        ("prompt", ""),
    ]


def test_host_may_say_what_a_prompt_is() -> None:
    """`is_user_prompt` is asked for human messages that are no reminders of ours."""
    messages = [HumanMessage("tick", id="h"), HumanMessage(FIRST_TEXT), HumanMessage("ok", id="i")]
    items = [*read_back(messages, lambda message: message.content != "tick")]
    assert items == [Prompt("i"), Closing()]
