"""Reading a history forwards gives what the adapters' function gives, step by step."""

import math
from typing import Any

import pytest
from helpers.models import malformed
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from langchain_repeat_guard import RepeatGuardConfig
from langchain_repeat_guard.core.arguments import fingerprint
from langchain_repeat_guard.core.chain import Chain
from langchain_repeat_guard.core.texts import FIRST_TEXT
from langchain_repeat_guard.history.calls import IssuedCall, calls_of
from langchain_repeat_guard.history.carried import Carried
from langchain_repeat_guard.history.delivery import is_reminder
from langchain_repeat_guard.history.differ import are_identical, compares_neighbours_only
from langchain_repeat_guard.history.judge import judge
from langchain_repeat_guard.history.replay import CountedCall, Replay, ReplaySettings

ARGUMENTS = st.sampled_from([{"q": "a"}, {"q": "b"}, {"q": 1}, {"q": 1.0}, {"q": True}, {}])
CALLS = st.lists(st.tuples(st.sampled_from(["grep", "read", "poll"]), ARGUMENTS), max_size=3)
INSTRUCTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("calls"), CALLS),
        st.tuples(st.just("answer"), st.integers(0, 3)),
        st.tuples(st.just("step"), CALLS),
        st.tuples(st.just("step"), st.just([("grep", {"q": "a"})])),
        st.tuples(st.sampled_from(["prompt", "note", "reminder", "text", "malformed"]), st.none()),
    ),
    max_size=25,
)
CONFIGS = st.builds(
    RepeatGuardConfig,
    thresholds=st.sampled_from([(2,), (2, 3), (3, 5)]),
    exclude=st.sampled_from([(), ("poll",)]),
)
RULES = st.builds(
    RepeatGuardConfig,
    thresholds=st.sampled_from([(2,), (2, 3)]),
    counting=st.sampled_from(["consecutive", "since_new_call"]),
    ignore_arguments=st.sampled_from([{}, {"grep": ("q",)}]),
    overrides=st.sampled_from([{}, {"read": {"thresholds": (4,)}}]),
    remind_every=st.sampled_from([None, 2]),
)


OTHERS: dict[str, BaseMessage] = {
    "prompt": HumanMessage("go on"),
    "note": HumanMessage("so far", additional_kwargs={"lc_source": "summarization"}),
    "reminder": HumanMessage(FIRST_TEXT),
    "text": AIMessage("done"),
}


def messages_of(instructions: list[tuple[str, Any]], *, with_ids: bool) -> list[BaseMessage]:
    """Build a history, sound or not, in which each call has an id of its own."""
    messages: list[BaseMessage] = []
    open_ids: list[str] = []
    for kind, detail in instructions:
        if kind in {"calls", "step", "malformed"}:
            issued = ai_message(detail, f"c{len(messages)}")
            open_ids = [call.id for call in calls_of(issued)]
            messages.append(issued)
        if kind in OTHERS:
            messages.append(OTHERS[kind].model_copy())
        answered = open_ids[::-1] if kind == "step" else []
        if kind == "answer":
            answered = open_ids[detail : detail + 1] or ["unknown"]
        messages += [ToolMessage("ok", tool_call_id=call_id) for call_id in answered]
    for place, message in enumerate(messages):
        message.id = f"m{place}" if with_ids else None
    return messages


def ai_message(calls: list[tuple[str, dict[str, Any]]] | None, prefix: str) -> AIMessage:
    """Return a message with `calls`, or with a malformed one."""
    if calls is None:
        return AIMessage("", invalid_tool_calls=[malformed("grep", "{", prefix)])
    issued = [
        {"name": name, "args": args, "id": f"{prefix}-{place}"}
        for place, (name, args) in enumerate(calls)
    ]
    return AIMessage("", tool_calls=issued)


def feed(replay: Replay, message: BaseMessage) -> list[CountedCall]:
    """Hand one message to `replay`."""
    message_id = message.id or ""
    if isinstance(message, ToolMessage):
        return list(replay.on_answer(message.tool_call_id))
    if isinstance(message, AIMessage):
        if calls := calls_of(message):
            replay.on_calls(calls, message_id)
        else:
            replay.on_closing()
    elif is_reminder(message):
        replay.on_closing()
    elif isinstance(message, HumanMessage) and not message.additional_kwargs:
        replay.on_prompt(message_id)
    return []


@settings(max_examples=150, deadline=None)
@given(instructions=INSTRUCTIONS, with_ids=st.booleans(), config=CONFIGS | RULES)
def test_replay_agrees_with_judge_behind_every_message(
    instructions: list[tuple[str, Any]], *, with_ids: bool, config: RepeatGuardConfig
) -> None:
    """Chain and reminders are those of an adapter that is asked behind each message."""
    messages = messages_of(instructions, with_ids=with_ids)
    replay = Replay(ReplaySettings(config))
    carried = Carried()
    for index, message in enumerate(messages):
        counted = feed(replay, message)
        verdict = judge(messages[: index + 1], carried, config=config)
        carried = verdict.carried
        due = [(one.tool_call_id, one.reminder) for one in verdict.due]
        assert [(call.id, reminder) for call, _, reminder in counted if reminder] == due
        assert replay.chain == carried.chain


@settings(max_examples=100, deadline=None)
@given(instructions=INSTRUCTIONS, config=CONFIGS)
def test_replay_agrees_with_judge_without_a_channel(
    instructions: list[tuple[str, Any]], config: RepeatGuardConfig
) -> None:
    """Behind each step that is completed, the reminders are those read back from the messages."""
    messages = messages_of(instructions, with_ids=True)
    replay = Replay(ReplaySettings(config))
    for index, message in enumerate(messages):
        if counted := feed(replay, message):
            due = judge(messages[: index + 1], None, config=config).due
            assert [reminder for _, _, reminder in counted if reminder] == [
                one.reminder for one in due
            ]


def test_message_stored_twice_counts_once() -> None:
    """The id of a counted message is known when it comes again."""
    replay = Replay(ReplaySettings(RepeatGuardConfig()))
    calls = [IssuedCall("grep", {}, "c")]
    for _ in range(2):
        replay.on_calls(calls, "m1")
        replay.on_answer("c")
    assert replay.chain == Chain(fingerprint("grep", {})[0], 1)


def test_step_waits_until_all_calls_are_answered() -> None:
    """A call counts when its whole step is complete, in the order of issue."""
    replay = Replay(ReplaySettings(RepeatGuardConfig()))
    replay.on_calls([IssuedCall("grep", {}, "1"), IssuedCall("grep", {}, "2")])
    first, waiting, second = replay.on_answer("2"), replay.is_waiting, replay.on_answer("1")
    assert (list(first), waiting) == ([], True)
    assert [(call.id, in_a_row) for call, in_a_row, _ in second] == [("1", 1), ("2", 2)]
    assert not replay.is_waiting


VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-3, 3),
        st.floats(),
        st.sampled_from(["a", "b", "1", "é", "\ud83d\ude00", "\U0001f600"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
    ),
    max_leaves=4,
)


@settings(max_examples=400, deadline=None)
@given(first=VALUES, second=VALUES)
def test_what_is_plain_to_see_is_what_the_canonical_forms_say(
    first: object, second: object
) -> None:
    """The cheap look neither parts two identical calls nor joins two different ones."""
    seen = are_identical(first, second)
    if seen is not None:
        assert seen == (fingerprint("tool", first) == fingerprint("tool", second))


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ({"a": 1, "b": "x"}, {"a": 1, "b": "x"}, True),
        ("raw", "raw", True),
        ({"a": "x"}, {"a": "y"}, False),
        ({"a": 1}, {"a": 2}, False),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ({"a": 1}, {"a": True}, None),
        ({"a": 1, "b": True}, {"b": 1, "a": True}, None),
        ({"a": [1]}, {"a": [1]}, None),
        ({1: "x"}, {1: "x"}, None),
        ({"a": "\ud83d\ude00"}, {"a": "\U0001f600"}, None),
        ({"a": math.nan}, {"a": math.nan}, None),
        ({}, "{}", None),
    ],
)
def test_cheap_look(first: object, second: object, expected: bool | None) -> None:
    """Flat arguments of the usual kinds are decided at first sight, all others are left open."""
    assert are_identical(first, second) is expected


def test_only_plain_settings_compare_neighbours() -> None:
    """Any option but the plain ones, known or not, takes the whole engine for every call."""

    class Extended(RepeatGuardConfig):
        not_yet_known: str = "off"

    plain = RepeatGuardConfig(thresholds=(2,), exclude=("x",), arguments_preview_chars=9)
    assert compares_neighbours_only(plain)
    assert not compares_neighbours_only(Extended(not_yet_known="on"))
