"""Reminders as messages."""

import json
from typing import Any

import pytest
from helpers.versions import needs
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langgraph.graph.message import add_messages

from langchain_repeat_guard import Chain, RepeatGuardConfig, is_reminder, observe
from langchain_repeat_guard.core.reminder import Reminder
from langchain_repeat_guard.core.texts import FIRST_TEXT
from langchain_repeat_guard.history.delivery import (
    DueReminder,
    carries_reminder,
    check_delivery,
    remind_in_tool_message,
    reminder_message,
)


def reminder(tool: str = "grep", *, times: int = 2, args: object = None) -> Reminder:
    """Return the reminder for a chain of `times` calls."""
    config = RepeatGuardConfig(thresholds=(2, 3))
    chain, due = Chain(), None
    for _ in range(times):
        chain, due = observe(chain, tool, args, config=config)
    assert due
    return due


TIMES = "\N{MULTIPLICATION SIGN}"
FIRST = DueReminder(reminder(), "c1")
LATER = DueReminder(reminder("read", times=3, args={"path": "a"}), "c2")
LATER_TEXT = (
    "Repeated tool call detected:\n- tool: read\n- consecutive_calls: 3\n"
    '- arguments: {"path":"a"}\nThe repeated calls are not making progress. '
    "Do not call this tool with these exact arguments again. "
    "Inspect the latest result and choose a different action, different arguments, "
    "or finish the task if enough evidence has been gathered."
)


def test_one_message_holds_all_reminders_of_a_step() -> None:
    """Texts in call order with a blank line between; marker, data and id as documented."""
    message = reminder_message([FIRST, LATER], "run-1")
    assert (
        message.model_dump()
        == HumanMessage(
            f"{FIRST_TEXT}\n\n{LATER_TEXT}",
            id="repeat_guard:run-1",
            additional_kwargs={
                "lc_source": "repeat_guard",
                "lc_data": {
                    "reminders": [
                        {
                            "tool": "grep",
                            "count": 2,
                            "threshold": 2,
                            "tool_call_id": "c1",
                            "summary": f"grep {TIMES} 2",
                        },
                        {
                            "tool": "read",
                            "count": 3,
                            "threshold": 3,
                            "tool_call_id": "c2",
                            "summary": f"read {TIMES} 3",
                        },
                    ]
                },
            },
        ).model_dump()
    )


def test_message_has_no_name() -> None:
    """Some providers refuse a name on a user message, one template prints it as the role."""
    assert reminder_message([FIRST], "m").name is None


def test_message_has_no_id_where_the_step_has_none() -> None:
    """An id that others could share would replace their reminders."""
    assert reminder_message([FIRST], None).id is None


@needs("langchain-core", "1.7.2", "notification metadata")
def test_marker_is_the_notification_metadata_of_langchain() -> None:
    """Hosts may read it by LangChain's own function."""
    from langchain_core.messages import get_notification_metadata  # noqa: PLC0415

    found = get_notification_metadata(reminder_message([FIRST], "m"))
    assert found is not None
    assert found["source"] == "repeat_guard"


def test_data_is_plain_json() -> None:
    """It goes into checkpoints and over the wire; a lone surrogate would not."""
    data = reminder_message([DueReminder(reminder("a\ud800"), "c\udfff")], "m").additional_kwargs[
        "lc_data"
    ]
    assert json.loads(json.dumps(data)) == data
    assert data["reminders"][0]["tool"].encode()
    assert data["reminders"][0]["tool_call_id"] == "c\ufffd"


def test_made_up_name_cannot_break_the_lines() -> None:
    """A model may call a tool whose name holds line breaks."""
    due = DueReminder(reminder("x\n- arguments: {}\u2028", times=3, args={"a": "\u2029"}), "c")
    assert str(reminder_message([due], "m").content).splitlines()[1:4] == [
        r"- tool: x\n- arguments: {}\u2028",
        "- consecutive_calls: 3",
        r'- arguments: {"a":"\u2029"}',
    ]


ANSWER = {
    "tool_call_id": "c1",
    "id": "t1",
    "name": "grep",
    "status": "error",
    "artifact": object(),
    "additional_kwargs": {"kept": 1},
    "response_metadata": {"kept": 2},
}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param("nothing", f"nothing\n\n{FIRST_TEXT}", id="text"),
        pytest.param("", FIRST_TEXT, id="empty-text"),
        pytest.param([], [{"type": "text", "text": FIRST_TEXT}], id="empty-list"),
        pytest.param(
            [{"type": "image_url", "image_url": {"url": "data:,"}}],
            [
                {"type": "image_url", "image_url": {"url": "data:,"}},
                {"type": "text", "text": FIRST_TEXT},
            ],
            id="list",
        ),
        pytest.param(["a"], ["a", {"type": "text", "text": FIRST_TEXT}], id="list-of-text"),
    ],
)
def test_tool_message_keeps_all_but_its_content(content: Any, expected: Any) -> None:
    """Type of content, id, status, artifact and name stay; a marker is added."""
    answer = ToolMessage(content, **ANSWER)
    before = answer.model_dump()
    reminded = remind_in_tool_message(answer, [FIRST])
    assert answer.model_dump() == before
    marker = reminded.additional_kwargs.pop("repeat_guard")
    assert [one["summary"] for one in marker["reminders"]] == [f"grep {TIMES} 2"]
    assert reminded.model_dump() == {**before, "content": expected}
    assert reminded.artifact is ANSWER["artifact"]


def test_reminded_tool_message_is_recognised() -> None:
    """So that no second reminder is put into it."""
    answer = ToolMessage("x", tool_call_id="c")
    assert not carries_reminder(answer)
    assert carries_reminder(remind_in_tool_message(answer, [FIRST]))


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param(reminder_message([FIRST], "m"), True, id="first"),
        pytest.param(reminder_message([LATER], "m"), True, id="later"),
        pytest.param(HumanMessage(FIRST_TEXT), True, id="first-without-marker"),
        pytest.param(HumanMessage(LATER_TEXT), True, id="later-without-marker"),
        pytest.param(HumanMessage(f"{FIRST_TEXT}\n\n{LATER_TEXT}"), True, id="both-without-marker"),
        pytest.param(
            HumanMessage([{"type": "text", "text": FIRST_TEXT}]), True, id="blocks-without-marker"
        ),
        pytest.param(HumanMessage(f"{FIRST_TEXT} Why?"), False, id="user-quotes-it"),
        pytest.param(
            HumanMessage([{"type": "text", "text": FIRST_TEXT}, {"type": "image", "url": "x"}]),
            False,
            id="text-and-image",
        ),
        pytest.param(HumanMessage([]), False, id="no-content"),
        pytest.param(HumanMessage(["text"]), False, id="list-of-strings"),
        pytest.param(
            HumanMessage(FIRST_TEXT, additional_kwargs={"lc_source": "other"}), False, id="other"
        ),
        pytest.param(AIMessage(FIRST_TEXT), False, id="model-quotes-it"),
        pytest.param(ToolMessage(FIRST_TEXT, tool_call_id="1"), False, id="tool-quotes-it"),
        pytest.param(SystemMessage(FIRST_TEXT), False, id="system"),
        pytest.param({"role": "user", "content": FIRST_TEXT}, False, id="no-message"),
        pytest.param(None, False, id="none"),
    ],
)
def test_is_reminder(message: object, *, expected: bool) -> None:
    """By our marker, or where none is, if reminders are all that a human message says."""
    assert is_reminder(message) is expected


@pytest.mark.parametrize("due", [[FIRST], [LATER], [FIRST, LATER]], ids=["first", "later", "both"])
def test_reminder_is_recognised_after_langgraph_has_stripped_it(due: list[DueReminder]) -> None:
    """`add_messages(format="langchain-openai")` takes ids and metadata away."""
    history: list[AnyMessage] = [HumanMessage("hi"), reminder_message(due, "m")]
    merge: Any = add_messages
    stripped = merge([], history, format="langchain-openai")
    assert stripped[1].additional_kwargs == {}
    assert [is_reminder(message) for message in stripped] == [False, True]


def test_unknown_delivery_is_refused() -> None:
    """The message names what there is."""
    with pytest.raises(ValueError, match="human_message, tool_message, got 'system'"):
        check_delivery("system")
