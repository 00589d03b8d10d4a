"""The calls of a model's message, in the order in which the model issued them."""

from typing import Any

import pytest
from helpers.models import asks, call, malformed
from langchain_core.messages import AIMessage, AIMessageChunk, ToolMessage
from langchain_core.messages.tool import tool_call_chunk

from langchain_repeat_guard.history.calls import (
    IssuedCall,
    all_answered,
    calls_of,
    issued_call,
)

A, B = call("a", {"n": 1}, "1"), call("b", {"n": 2}, "3")
BAD = malformed("bad", '{"n": ', "2")


def openai(call_id: str | None, name: str, text: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}


def names(message: AIMessage) -> list[str]:
    return [one.name for one in calls_of(message)]


def test_calls_come_in_the_order_of_the_message() -> None:
    """Name, arguments and id are the model's own."""
    assert calls_of(asks(A, B)) == [IssuedCall("a", {"n": 1}, "1"), IssuedCall("b", {"n": 2}, "3")]


def test_malformed_call_keeps_its_raw_text() -> None:
    """What is no JSON is compared as the string that the model wrote."""
    assert calls_of(asks(BAD)) == [IssuedCall("bad", '{"n": ', "2")]


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(
            {
                "additional_kwargs": {
                    "tool_calls": [
                        openai("1", "a", '{"n": 1}'),
                        openai("2", "bad", '{"n": '),
                        openai("3", "b", '{"n": 2}'),
                    ]
                }
            },
            id="openai-chat",
        ),
        pytest.param(
            {
                "content": [
                    {"type": "reasoning", "id": "r1", "summary": []},
                    {"type": "function_call", "id": "f1", "call_id": "1", "name": "a"},
                    {"type": "function_call", "id": "f2", "call_id": "2", "name": "bad"},
                    {"type": "function_call", "id": "f3", "call_id": "3", "name": "b"},
                ]
            },
            id="openai-responses",
        ),
        pytest.param(
            {
                "content": [
                    {"type": "text", "text": "Let me look."},
                    {"type": "tool_use", "id": "1", "name": "a", "input": {"n": 1}},
                    {"type": "tool_use", "id": "2", "name": "bad", "input": {}},
                    {"type": "tool_use", "id": "3", "name": "b", "input": {"n": 2}},
                ]
            },
            id="anthropic",
        ),
        pytest.param(
            {
                "content": [
                    {"type": "tool_call", "id": "1", "name": "a", "args": {"n": 1}},
                    {"type": "invalid_tool_call", "id": "2", "name": "bad", "args": '{"n": '},
                    {"type": "tool_call", "id": "3", "name": "b", "args": {"n": 2}},
                ]
            },
            id="standard-blocks",
        ),
    ],
)
def test_malformed_call_stands_in_its_place(raw: dict[str, Any]) -> None:
    """LangChain keeps malformed calls apart; the provider's own form tells where they stood."""
    fields = {"content": "", "tool_calls": [A, B], "invalid_tool_calls": [BAD], **raw}
    assert names(AIMessage(**fields)) == ["a", "bad", "b"]


def test_malformed_call_of_a_chunk_stands_in_its_place() -> None:
    """A streamed message keeps its chunks, in order."""
    message = AIMessageChunk(
        content="",
        tool_call_chunks=[
            tool_call_chunk(name="a", args='{"n": 1}', id="1", index=0),
            tool_call_chunk(name="bad", args='{"n": 1]', id="2", index=1),
            tool_call_chunk(name="b", args="", id="3", index=2),
        ],
    )
    assert calls_of(message) == [
        IssuedCall("a", {"n": 1}, "1"),
        IssuedCall("bad", '{"n": 1]', "2"),
        IssuedCall("b", {}, "3"),
    ]


@pytest.mark.parametrize(
    "raw_calls",
    [
        pytest.param([openai(None, "a", '{"n": 1}'), openai(None, "a", "{")], id="no-ids"),
        pytest.param([openai("x", "a", '{"n": 1}'), openai("x", "a", "{")], id="one-id-for-all"),
    ],
)
@pytest.mark.parametrize("is_malformed_first", [False, True], ids=["valid-first", "bad-first"])
def test_place_is_found_without_ids(
    raw_calls: list[dict[str, Any]], *, is_malformed_first: bool
) -> None:
    """Where ids are missing or repeated, name and raw text tell the calls apart."""
    call_id = raw_calls[0]["id"]
    message = AIMessage(
        "",
        tool_calls=[call("a", {"n": 1}, call_id)],
        invalid_tool_calls=[malformed("a", "{", call_id)],
        additional_kwargs={"tool_calls": raw_calls[::-1] if is_malformed_first else raw_calls},
    )
    expected = [IssuedCall("a", {"n": 1}, call_id or ""), IssuedCall("a", "{", call_id or "")]
    assert calls_of(message) == (expected[::-1] if is_malformed_first else expected)


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({}, id="no-raw-form"),
        pytest.param({"content": [{"type": "text", "text": "hm", "id": "t"}]}, id="only-text"),
        pytest.param({"content": ["a string"]}, id="content-of-strings"),
        pytest.param({"additional_kwargs": {"tool_calls": "odd"}}, id="no-list"),
        pytest.param({"additional_kwargs": {"tool_calls": [{"function": None}]}}, id="no-body"),
    ],
)
def test_malformed_call_without_a_known_place_is_the_last(fields: dict[str, Any]) -> None:
    """No raw form, or one of another shape, is no reason to fail."""
    fields = {"content": "", "tool_calls": [A, B], "invalid_tool_calls": [BAD], **fields}
    assert names(AIMessage(**fields)) == ["a", "b", "bad"]


@pytest.mark.parametrize("args", [None, "", {}], ids=["none", "empty-text", "empty-object"])
def test_spellings_of_no_arguments_are_one(args: object) -> None:
    """Providers send None, an empty string or an empty object."""
    assert issued_call("ping", args, None) == IssuedCall("ping", {}, "")


@pytest.mark.parametrize("args", [None, ""], ids=["none", "empty-text"])
def test_malformed_call_without_arguments_is_a_call_without_arguments(args: str | None) -> None:
    """That holds for calls that LangChain takes for malformed, too."""
    bad = malformed("ping", "", "1")
    bad["args"] = args
    assert calls_of(asks(bad)) == calls_of(asks(call("ping", {}, "1")))


def answers(*ids: str) -> list[ToolMessage]:
    return [ToolMessage("ok", tool_call_id=one) for one in ids]


@pytest.mark.parametrize(
    ("asked", "answered", "is_complete"),
    [
        pytest.param(["1"], ["1"], True, id="one"),
        pytest.param(["1", "2"], ["2", "1"], True, id="any-order"),
        pytest.param(["1", "2"], ["1"], False, id="one-missing"),
        pytest.param(["1"], [], False, id="none"),
        pytest.param(["1"], ["2"], False, id="only-an-orphan"),
        pytest.param(["1"], ["2", "1"], True, id="an-orphan-beside"),
        pytest.param(["1", "1"], ["1"], False, id="repeated-id-answered-once"),
        pytest.param(["1", "1"], ["1", "1"], True, id="repeated-id-answered-twice"),
        pytest.param(["1"], ["1", "1"], True, id="answered-twice"),
        pytest.param([""], [""], True, id="empty-id"),
        pytest.param([""], ["x"], True, id="empty-id-answered-under-another"),
        pytest.param(["", ""], [""], False, id="two-empty-ids-answered-once"),
        pytest.param(["", ""], ["", ""], True, id="two-empty-ids"),
        pytest.param(["1", ""], ["1"], False, id="answer-is-not-spare"),
        pytest.param(["1", ""], ["1", ""], True, id="with-and-without-id"),
    ],
)
def test_step_is_complete_when_each_call_has_its_answer(
    asked: list[str], answered: list[str], *, is_complete: bool
) -> None:
    """Each answer serves one call; a call without id takes any answer that no other needs."""
    calls = [IssuedCall("t", {}, one) for one in asked]
    assert all_answered(calls, answers(*answered)) is is_complete
