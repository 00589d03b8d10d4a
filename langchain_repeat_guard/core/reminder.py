"""What the model is told when it repeats itself."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from langchain_repeat_guard.core.redaction import redact
from langchain_repeat_guard.core.texts import fill, quotes

_LINE_BREAKS = re.compile("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")


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
    """How many identical calls there are, as `counting` counts them, this one included."""

    threshold: int
    """The count that earned the reminder: the same number as `count`."""

    template: str = field(repr=False)
    """The text with its fields still in braces."""

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
    template: str,
    preview_chars: int,
    redact_keys: Sequence[str],
) -> Reminder:
    """Build the reminder for the chain of `count` calls of `tool` with canonical `arguments`."""
    shown_tool = printable(tool)
    preview = _preview(redact(arguments, redact_keys), preview_chars) if quotes(template) else ""
    return Reminder(
        tool=shown_tool,
        count=count,
        threshold=count,
        template=template,
        text=fill(template, tool=shown_tool, count=count, arguments=preview),
        message_text=fill(
            template, tool=one_line(shown_tool), count=count, arguments=one_line(preview)
        ),
        summary=f"{shown_tool} × {count}",
    )


def printable(text: str) -> str:
    """Return `text` as it can be encoded: surrogate pairs joined, lone ones replaced by U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def one_line(text: str) -> str:
    """Return `text` with every line break shown as its escape."""
    return _LINE_BREAKS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def _preview(arguments: str, chars: int) -> str:
    if len(arguments) <= chars:
        return arguments
    return f"{arguments[:chars]}… (+{len(arguments) - chars} more chars)"
