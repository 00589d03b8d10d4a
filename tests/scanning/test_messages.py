"""Each form of a message means the same as LangChain's own object."""

from typing import Any

import pytest
from helpers.models import malformed
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.load import dumpd
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    convert_to_messages,
    convert_to_openai_messages,
    messages_to_dict,
)
from langchain_core.messages.utils import message_chunk_to_message

from langchain_repeat_guard.core.texts import FIRST_TEXT
from langchain_repeat_guard.history.calls import IssuedCall
from langchain_repeat_guard.scanning.formats.messages import Reading, read_message

CALL = {"name": "grep", "args": {"q": "a", "n": 1}, "id": "c1"}
READINGS = {
    "prompt": (HumanMessage("hello", id="h"), Reading("prompt", (), "h", 5)),
    "prompt-in-blocks": (
        HumanMessage([{"type": "text", "text": "hello"}], id="h"),
        Reading("prompt", (), "h", 5),
    ),
    "note": (
        HumanMessage("so far", id="h", additional_kwargs={"lc_source": "summarization"}),
        Reading("note", (), "h", 6),
    ),
    "stored-reminder": (
        HumanMessage("any text", id="h", additional_kwargs={"lc_source": "repeat_guard"}),
        Reading("closing", (), "h", 8),
    ),
    "stripped-reminder": (
        HumanMessage(FIRST_TEXT, id="h"),
        Reading("closing", (), "h", len(FIRST_TEXT)),
    ),
    "system": (SystemMessage("rules", id="s"), Reading("note", (), "", 5)),
    "answer": (ToolMessage("ok", id="t", tool_call_id="c1"), Reading("answer", (), "c1", 2)),
    "text": (AIMessage("done", id="a"), Reading("closing", (), "", 4)),
    "calls": (
        AIMessage("", id="a", tool_calls=[CALL]),
        Reading("calls", [IssuedCall("grep", {"q": "a", "n": 1}, "c1")], "a", 13),
    ),
    "malformed-call": (
        AIMessage("", id="a", invalid_tool_calls=[malformed("grep", "{", "c2")]),
        Reading("calls", [IssuedCall("grep", "{", "c2")], "a", 5),
    ),
    "call-without-arguments": (
        AIMessage("", id="a", tool_calls=[{"name": "ping", "args": {}, "id": "c1"}]),
        Reading("calls", [IssuedCall("ping", {}, "c1")], "a", 4),
    ),
}
FORMS = {
    "object": lambda message: message,
    "messages_to_dict": lambda message: messages_to_dict([message])[0],
    "dumpd": dumpd,
    "model_dump": lambda message: message.model_dump(mode="json"),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
@pytest.mark.parametrize(("message", "reading"), READINGS.values(), ids=READINGS.keys())
def test_langchain_forms_mean_the_same(message: BaseMessage, reading: Reading, form: Any) -> None:
    """`messages_to_dict`, `dumpd` and a model's own dump are read like the object itself."""
    assert read_message(form(message)) == reading


def test_chunk_is_read_like_its_message() -> None:
    """A streamed message that nobody converted has its calls too."""
    chunk = AIMessageChunk(
        content="", tool_call_chunks=[{"name": "grep", "args": "{}", "id": "c1", "index": 0}]
    )
    expected = read_message(message_chunk_to_message(chunk))
    assert expected.calls == [IssuedCall("grep", {}, "c1")]
    assert read_message(dumpd(chunk)).calls == read_message(chunk).calls == expected.calls


ARGUMENTS = st.dictionaries(
    st.text(max_size=3), st.one_of(st.integers(), st.text(max_size=3), st.booleans(), st.none())
)


@settings(max_examples=50, deadline=None)
@given(arguments=ARGUMENTS, text=st.text(max_size=5))
def test_openai_form_means_what_langchain_makes_of_it(arguments: dict[str, Any], text: str) -> None:
    """OpenAI's form is read as LangChain's conversion to messages reads it."""
    call = {"name": "grep", "args": arguments, "id": "c1"}
    messages = [
        HumanMessage("hi"),
        AIMessage(text, tool_calls=[call]),
        ToolMessage("ok", tool_call_id="c1"),
    ]
    for form in convert_to_openai_messages(messages):
        (back,) = convert_to_messages([form])
        read, expected = read_message(form), read_message(back)
        assert (read.kind, read.calls, read.id) == (expected.kind, expected.calls, expected.id)


def call_of(call: dict[str, Any]) -> IssuedCall:
    """Read the one call of an OpenAI-style message."""
    (read,) = read_message({"role": "assistant", "content": None, "tool_calls": [call]}).calls
    return read


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        pytest.param(
            {"id": "1", "function": {"name": "f", "arguments": '{"a": 1}'}},
            IssuedCall("f", {"a": 1}, "1"),
            id="function",
        ),
        pytest.param(
            {"id": "1", "name": "f", "arguments": {"a": 1}},
            IssuedCall("f", {"a": 1}, "1"),
            id="flat-object",
        ),
        pytest.param(
            {"id": "1", "name": "f", "arguments": "ls -l"},
            IssuedCall("f", "ls -l", "1"),
            id="flat-text",
        ),
        pytest.param(
            {"id": "1", "function": {"name": "f", "arguments": '{"a": '}},
            IssuedCall("f", '{"a": ', "1"),
            id="broken-json-stays-raw",
        ),
        pytest.param(
            {"id": "1", "function": {"name": "f", "arguments": "[1]"}},
            IssuedCall("f", "[1]", "1"),
            id="no-object-stays-raw",
        ),
        pytest.param(
            {"id": "1", "function": {"name": "f", "arguments": '{"a": "\n"}'}},
            IssuedCall("f", {"a": "\n"}, "1"),
            id="raw-line-break",
        ),
        pytest.param(
            {"id": "1", "function": {"name": "f", "arguments": '{"a": "\\ud800"}'}},
            IssuedCall("f", {"a": "\ud800"}, "1"),
            id="lone-surrogate",
        ),
        pytest.param(
            {"id": "1", "function": {"name": "f", "arguments": ""}},
            IssuedCall("f", {}, "1"),
            id="empty-text",
        ),
        pytest.param({"function": {"name": "f"}}, IssuedCall("f", {}, ""), id="nothing-but-name"),
        pytest.param(
            {"id": "1", "type": "custom", "custom": {"name": "f", "input": "x"}},
            IssuedCall("f", "x", "1"),
            id="custom-tool",
        ),
    ],
)
def test_openai_calls_in_all_spellings(call: dict[str, Any], expected: IssuedCall) -> None:
    """Arguments that are a JSON object count as one; all others keep their raw text."""
    assert call_of(call) == expected


@pytest.mark.parametrize(
    "integer", [10**17 + 1, 2**64 + 1, 10**25 + 1], ids=["17-digits", "beyond-64-bit", "25-digits"]
)
def test_long_integers_keep_all_digits(integer: int) -> None:
    """Two long ids that differ in the last digit stay two calls."""
    call = {"id": "1", "function": {"name": "f", "arguments": f'{{"id": {integer}}}'}}
    assert call_of(call).args == {"id": integer}


def test_agent_of_a_message_is_its_own_field() -> None:
    """A record of several agents says whose message it is."""
    message = {"role": "assistant", "agent": "critic", "content": "done"}
    assert read_message(message) == Reading("closing", (), "", 4, "critic")


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"content": "x"},
        [],
        "text",
        None,
        {"type": "ai"},
        {"lc": 1, "type": "constructor", "id": ["PromptTemplate"], "kwargs": {}},
    ],
    ids=["empty", "no-role", "list", "text", "null", "no-content", "other-lc-object"],
)
def test_anything_else_is_refused(value: object) -> None:
    """What has none of the forms is said to have none."""
    with pytest.raises(ValueError, match="no message"):
        read_message(value)


@pytest.mark.parametrize(
    "fields",
    [
        {"content": [{"type": "tool_use", "id": "t", "name": "grep", "input": {}}]},
        {"content": None, "function_call": {"name": "grep", "arguments": "{}"}},
    ],
    ids=["anthropic", "legacy-openai"],
)
def test_calls_in_another_form_are_told(fields: dict[str, Any]) -> None:
    """Passed over, they would look like a run without calls."""
    with pytest.raises(ValueError, match="not under 'tool_calls'"):
        read_message({"role": "assistant", **fields})
    calls = [{"id": "t", "function": {"name": "grep", "arguments": "{}"}}]
    assert read_message({"role": "assistant", **fields, "tool_calls": calls}).kind == "calls"


def test_unknown_roles_neither_count_nor_reset() -> None:
    """A role that nobody knows is passed over, as LangGraph passes over other messages."""
    assert read_message({"role": "critic", "content": "hm"}).kind == "note"


def test_own_rule_for_prompts_sees_a_message() -> None:
    """`is_user_prompt` gets a HumanMessage with name, id and metadata, whatever the form."""
    seen: list[HumanMessage] = []

    def is_user_prompt(message: HumanMessage) -> bool:
        seen.append(message)
        return False

    reading = read_message({"role": "user", "content": "hi", "name": "bot"}, is_user_prompt)
    assert reading.kind == "note"
    assert seen == [HumanMessage("hi", name="bot")]
