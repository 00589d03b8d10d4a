"""Reminders as messages, and messages recognised as reminders."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from typing_extensions import TypedDict

from langchain_repeat_guard.core.reminder import Reminder, one_line, printable
from langchain_repeat_guard.core.texts import (
    BETWEEN_REMINDERS,
    LIMIT_TEXT,
    fill,
    is_reminder_text,
)

SOURCE = "repeat_guard"
"""Value of `additional_kwargs["lc_source"]` in our reminders."""

Delivery = Literal["human_message", "tool_message"]

_MARKED_TOOL_MESSAGE = "repeat_guard"

HumanKind = Literal["reminder", "prompt", "note"]
"""What a human message is: a reminder of ours, a user's prompt, or a note in the user's name."""


@dataclass(frozen=True, slots=True)
class DueReminder:
    """A reminder, and the call of the step that it is about."""

    reminder: Reminder
    tool_call_id: str
    call_index: int = field(default=0, compare=False)
    """Place of the call among the calls of its message, untracked ones included."""


class RemindedCall(TypedDict):
    """One call that has reached a threshold. Plain JSON values, and no arguments."""

    tool: str
    count: int
    threshold: int
    tool_call_id: str
    summary: str


def reminded_calls(due: Sequence[DueReminder]) -> list[RemindedCall]:
    """Return what is known of the calls that a step's reminders are about, in call order."""
    return [
        {
            "tool": one.reminder.tool,
            "count": one.reminder.count,
            "threshold": one.reminder.threshold,
            "tool_call_id": printable(one.tool_call_id),
            "summary": one.reminder.summary,
        }
        for one in due
    ]


def reminder_id(message_id: str | None) -> str:
    """Return the id of the reminder behind the AIMessage with `message_id`; empty without one."""
    return f"{SOURCE}:{message_id}" if message_id else ""


def check_delivery(delivery: str) -> Delivery:
    """Return `delivery` if it is one.

    Raises:
        ValueError: It is not.
    """
    match delivery:
        case "human_message" | "tool_message" as known:
            return known
    msg = f"delivery must be one of {', '.join(get_args(Delivery))}, got {delivery!r}"
    raise ValueError(msg)


def reminder_message(due: Sequence[DueReminder], message_id: str | None) -> HumanMessage:
    """Return one message that carries all reminders of a step.

    Args:
        due: What the step's calls have earned, in call order.
        message_id: Id of the AIMessage of the step. The reminder's own id derives from it, so that
            a replayed step replaces its reminder; None where the AIMessage has no id.
    """
    return HumanMessage(
        content=_text(due),
        id=reminder_id(message_id) or None,
        additional_kwargs={"lc_source": SOURCE, "lc_data": _data(due)},
    )


def limit_message(tool: str, count: int) -> AIMessage:
    """Return the message with which a run ends whose agent has reached the limit."""
    text = fill(LIMIT_TEXT, tool=one_line(printable(tool)), count=count, arguments="")
    return AIMessage(content=text, additional_kwargs={"lc_source": SOURCE})


def remind_in_tool_message(answer: ToolMessage, due: Sequence[DueReminder]) -> ToolMessage:
    """Return `answer` with the reminders behind its content; all else stays as it is.

    A string stays a string that begins with the tool's own text, and a list of blocks gets a block
    more. A JSON result thereby stays readable, for the model and for a host
    (`json.JSONDecoder().raw_decode(content)`); as a whole the content is no JSON any more, and
    Gemini's adapter sends it as text and not as an object. Nothing is written into the document: a
    key of ours among a tool's own data could not be told from them.
    """
    text = _text(due)
    if isinstance(answer.content, str):
        content: Any = f"{answer.content}{BETWEEN_REMINDERS}{text}" if answer.content else text
    else:
        content = [*answer.content, {"type": "text", "text": text}]
    marked = {**answer.additional_kwargs, _MARKED_TOOL_MESSAGE: _data(due)}
    return answer.model_copy(update={"content": content, "additional_kwargs": marked})


def is_reminder(message: object) -> bool:
    """Tell whether `message` is a reminder of ours, so that a host can hide or drop it.

    It is one if it carries our notification metadata, or, where that was stripped (LangGraph's
    `add_messages(format="langchain-openai")` does), if reminders are all that it says. It knows
    the package's texts alone: a reminder in a text of your own (`first_reminder`,
    `later_reminder`) is none to it once the metadata is gone.

    Example:
        >>> from langchain_core.messages import HumanMessage
        >>> is_reminder(HumanMessage("What is the weather?"))
        False
    """
    if not isinstance(message, HumanMessage):
        return False
    source = message.additional_kwargs.get("lc_source")
    return human_kind(message.content, source) == "reminder"


def human_kind(
    content: object,
    source: object,
    own_texts: tuple[str, ...] = (),
    is_user_prompt: Callable[[], bool] | None = None,
) -> HumanKind:
    """Tell what a human message is, for whoever reads a history.

    Args:
        content: The content of the message.
        source: Its notification metadata, `additional_kwargs["lc_source"]`. LangChain marks by it
            what a harness writes in the user's name (summaries, notes).
        own_texts: The user's own texts, by which their reminders are known without metadata.
        is_user_prompt: Asked whether a message that is no reminder is a user's prompt; None for
            the usual rule, by which it is one unless it has a source.
    """
    is_ours = source == SOURCE if source else is_reminder_text(_plain_text(content), own_texts)
    if is_ours:
        return "reminder"
    is_prompt = not source if is_user_prompt is None else is_user_prompt()
    return "prompt" if is_prompt else "note"


def carries_reminder(answer: ToolMessage) -> bool:
    """Tell whether a reminder stands behind the content of this tool message."""
    return _MARKED_TOOL_MESSAGE in answer.additional_kwargs


def _text(due: Sequence[DueReminder]) -> str:
    return BETWEEN_REMINDERS.join(one.reminder.message_text for one in due)


def _data(due: Sequence[DueReminder]) -> dict[str, Any]:
    return {"reminders": reminded_calls(due)}


def _plain_text(content: object) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = [
        block["text"]
        for block in content
        if isinstance(block, dict)
        and block.get("type") == "text"
        and isinstance(block.get("text"), str)
    ]
    return "".join(texts) if len(texts) == len(content) else ""
