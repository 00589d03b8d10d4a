"""What the model is told when it repeats itself.

The two texts are the original plugin's, word for word: they are part of the contract.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from langchain_repeat_guard.core.redaction import redact

FIRST_TEXT = (
    "You are repeating the exact same tool call with identical arguments. "
    "Carefully analyze the previous result before calling again: if the task is not complete, "
    "try a different approach or different arguments instead of repeating the call."
)

LATER_HEAD = "Repeated tool call detected:"

LATER_TAIL = (
    "The repeated calls are not making progress. "
    "Do not call this tool with these exact arguments again. "
    "Inspect the latest result and choose a different action, different arguments, "
    "or finish the task if enough evidence has been gathered."
)

BETWEEN_REMINDERS = "\n\n"

_LINE_BREAKS = re.compile("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")

_LATER_PATTERN = (
    re.escape(LATER_HEAD)
    + r"\n- tool: .*\n- consecutive_calls: [0-9]+\n- arguments: .*\n"
    + re.escape(LATER_TAIL)
)
_ONE_REMINDER = f"(?:{re.escape(FIRST_TEXT)}|{_LATER_PATTERN})"
_REMINDERS = re.compile(f"{_ONE_REMINDER}(?:{BETWEEN_REMINDERS}{_ONE_REMINDER})*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reminder:
    """What to tell a model whose chain of identical calls has reached a threshold.

    Example:
        >>> from langchain_repeat_guard import Chain, RepeatGuardConfig, observe
        >>> config = RepeatGuardConfig(thresholds=(2,))
        >>> chain, _ = observe(Chain(), "grep", {"q": "a"}, config=config)
        >>> reminder = observe(chain, "grep", {"q": "a"}, config=config)[1]
        >>> reminder.summary
        'grep × 2'
    """

    tool: str
    """Name of the repeated tool. Lone surrogates in it are replaced by U+FFFD."""

    count: int
    """How many identical calls stand in a row, this one included."""

    threshold: int
    """The threshold that `count` has reached."""

    text: str = field(repr=False)
    """The exact text of the contract. The detailed form quotes the arguments."""

    message_text: str = field(repr=False)
    """`text` for a message: a made-up tool name or argument cannot break its lines."""

    summary: str
    """One line for people, such as `grep × 3`. Holds no arguments."""


def make_reminder(
    tool: str,
    count: int,
    arguments: str,
    *,
    is_first: bool,
    preview_chars: int,
    redact_keys: Sequence[str],
) -> Reminder:
    """Build the reminder for the chain of `count` calls of `tool` with canonical `arguments`."""
    shown_tool = printable(tool)
    preview = "" if is_first else _preview(redact(arguments, redact_keys), preview_chars)

    def text(name: str, quoted: str) -> str:
        return FIRST_TEXT if is_first else _later_text(name, count, quoted)

    return Reminder(
        tool=shown_tool,
        count=count,
        threshold=count,
        text=text(shown_tool, preview),
        message_text=text(one_line(shown_tool), one_line(preview)),
        summary=f"{shown_tool} × {count}",
    )


def printable(text: str) -> str:
    """Return `text` as it can be encoded: surrogate pairs joined, lone ones replaced by U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def one_line(text: str) -> str:
    """Return `text` with every line break shown as its escape."""
    return _LINE_BREAKS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def is_reminder_text(text: str) -> bool:
    """Tell whether `text` is one or more reminders, and nothing else, as a message carries them."""
    return _REMINDERS.fullmatch(text) is not None


def _later_text(tool: str, count: int, arguments: str) -> str:
    return (
        f"{LATER_HEAD}\n- tool: {tool}\n- consecutive_calls: {count}\n"
        f"- arguments: {arguments}\n{LATER_TAIL}"
    )


def _preview(arguments: str, chars: int) -> str:
    if len(arguments) <= chars:
        return arguments
    return f"{arguments[:chars]}… (+{len(arguments) - chars} more chars)"
