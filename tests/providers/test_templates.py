"""Self-hosted models: what their chat templates make of a request with a reminder in it."""

from collections.abc import Sequence

import pytest
from helpers.attachments import ATTACHMENTS, Host
from helpers.models import ScriptedModel, call, says
from helpers.stage import prompt
from helpers.templates import (
    LAST_ANSWER_REASONING,
    LAST_QUERY_REASONING,
    STRICT_ALTERNATION,
    TemplateError,
    render,
)
from helpers.texts import FIRST_TEXT
from helpers.tools import grep
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage


def thinking(number: int) -> AIMessage:
    return AIMessage(
        "",
        tool_calls=[call("grep", {"pattern": "a"}, f"c{number}")],
        additional_kwargs={"reasoning_content": f"thought {number}"},
    )


def last_request(attachment: str, delivery: str, times: int = 3) -> Sequence[BaseMessage]:
    """Return what a model is asked after `times` identical calls."""
    model = ScriptedModel(script=[*map(thinking, range(times)), says("done")])
    ATTACHMENTS[attachment](Host(model, [grep]), delivery=delivery).invoke(prompt("find it"))
    return model.requests[-1]


def thoughts(text: str) -> list[int]:
    return [number for number in range(9) if f"<think>thought {number}</think>" in text]


def test_strict_alternation_refuses_a_user_message(attachment: str) -> None:
    """Two user messages with nothing but tool turns between them are refused."""
    with pytest.raises(TemplateError, match="roles must alternate"):
        render(STRICT_ALTERNATION, last_request(attachment, "human_message"))


def test_strict_alternation_renders_a_reminder_in_the_tool_message(attachment: str) -> None:
    """The reminder is part of the last result."""
    text = render(STRICT_ALTERNATION, last_request(attachment, "tool_message"))
    assert text.endswith(f"\n\n{FIRST_TEXT}[/RESULT]")


@pytest.mark.parametrize(
    ("delivery", "kept"),
    [
        pytest.param("human_message", [], id="user-message-drops-the-reasoning"),
        pytest.param("tool_message", [0, 1, 2], id="tool-message-keeps-the-reasoning"),
    ],
)
def test_reasoning_since_the_last_user_message(
    attachment: str, delivery: str, kept: list[int]
) -> None:
    """Such a template renders both deliveries; a user message costs the loop's reasoning."""
    text = render(LAST_QUERY_REASONING, last_request(attachment, delivery))
    assert FIRST_TEXT in text
    assert thoughts(text) == kept


@pytest.mark.parametrize(
    ("delivery", "is_prefix"), [("human_message", False), ("tool_message", True)]
)
def test_prefix_cache_of_a_last_user_message_template(
    attachment: str, delivery: str, *, is_prefix: bool
) -> None:
    """In the tool message, the prompt before the reminder goes on unchanged."""
    before = render(LAST_QUERY_REASONING, last_request(attachment, delivery, times=2))
    after = render(LAST_QUERY_REASONING, last_request(attachment, delivery, times=3))
    assert after.startswith(before) is is_prefix


@pytest.mark.parametrize("delivery", ["human_message", "tool_message"])
def test_reasoning_since_the_last_answer(attachment: str, delivery: str) -> None:
    """Such a template keeps the loop's reasoning under both deliveries."""
    text = render(LAST_ANSWER_REASONING, last_request(attachment, delivery))
    assert thoughts(text) == [0, 1, 2]


def test_a_reminder_keeps_its_role_where_names_replace_roles(attachment: str) -> None:
    """A reminder has no name, which such a template would print in the role's place."""
    text = render(LAST_ANSWER_REASONING, last_request(attachment, "human_message"))
    assert text.endswith(f"<|user|>{FIRST_TEXT}")
    named = HumanMessage(FIRST_TEXT, name="repeat_guard")
    assert render(LAST_ANSWER_REASONING, [named]) == f"<|repeat_guard|>{FIRST_TEXT}"
