"""The texts that a model may be told, and texts recognised as such.

The first two are the original plugin's, word for word: they are part of the contract.
"""

import re
import string
from functools import cache

FIRST_TEXT = (
    "You are repeating the exact same tool call with identical arguments. "
    "Carefully analyze the previous result before calling again: if the task is not complete, "
    "try a different approach or different arguments instead of repeating the call."
)

LATER_TEXT = (
    "Repeated tool call detected:\n"
    "- tool: {tool}\n"
    "- consecutive_calls: {count}\n"
    "- arguments: {arguments}\n"
    "The repeated calls are not making progress. "
    "Do not call this tool with these exact arguments again. "
    "Inspect the latest result and choose a different action, different arguments, "
    "or finish the task if enough evidence has been gathered."
)

REDIRECT_TEXT = (
    "Automatic note from the agent runtime, not from the user: the recent steps brought nothing "
    "new. State in one sentence what new information your next step will bring, then act on that; "
    "or answer from what is already known."
)

LIMIT_TEXT = (
    "Stopped: the tool {tool} was called {count} times with the same arguments, which is the limit."
)

BETWEEN_REMINDERS = "\n\n"

_FEWEST_LETTERS = 20

FIELDS = ("tool", "count", "threshold", "arguments")
"""What a text may name, each in braces."""


def check_text(text: str) -> str:
    """Return `text` if `fill` can fill it.

    Raises:
        ValueError: It is empty, or cannot be encoded, or has braces around something else than one
            of `FIELDS`.
    """
    if not text.strip():
        msg = f"must say something, got {text!r}"
        raise ValueError(msg)
    if any("\ud800" <= character <= "\udfff" for character in text):
        msg = f"must not hold surrogates, which no provider takes, got {text!r}"
        raise ValueError(msg)
    try:
        parts = list(string.Formatter().parse(text))
    except ValueError as error:
        msg = f"has unbalanced braces ({error}); write {{{{ and }}}} for braces that stay"
        raise ValueError(msg) from None
    for _, name, spec, conversion in parts:
        if name is not None and (name not in FIELDS or spec or conversion):
            known = ", ".join(f"{{{field}}}" for field in FIELDS)
            msg = f"may hold the fields {known} and nothing else in braces, got {text!r}"
            raise ValueError(msg)
    return text


def quotes(text: str) -> bool:
    """Tell whether `text` quotes arguments."""
    return "{arguments}" in text


def fill(text: str, *, tool: str, count: int, arguments: str) -> str:
    """Return `text` with its fields filled. A reminder's threshold is the count that reached it."""
    return text.format(tool=tool, count=count, threshold=count, arguments=arguments)


def is_reminder_text(text: str, own_texts: tuple[str, ...] = ()) -> bool:
    """Tell whether `text` is one or more reminders, and nothing else, as a message carries them.

    Own texts with few words of their own are passed over: a user might write the same.
    """
    return _pattern(own_texts).fullmatch(text) is not None


@cache
def _pattern(own_texts: tuple[str, ...]) -> re.Pattern[str]:
    own = filter(_is_distinctive, own_texts)
    texts = dict.fromkeys((FIRST_TEXT, LATER_TEXT, REDIRECT_TEXT, *own))
    one = f"(?:{'|'.join(map(_regex, texts))})"
    return re.compile(f"{one}(?:{BETWEEN_REMINDERS}{one})*")


def _is_distinctive(text: str) -> bool:
    literals = [literal for literal, _, _, _ in string.Formatter().parse(text)]
    return sum(map(str.isalnum, "".join(literals))) >= _FEWEST_LETTERS


def _regex(text: str) -> str:
    return "".join(
        re.escape(literal) + ("" if name is None else _VALUES[name])
        for literal, name, _, _ in string.Formatter().parse(text)
    )


# What stands for a field has no line breaks in a message.
_VALUES = {"tool": ".*", "count": "[0-9]+", "threshold": "[0-9]+", "arguments": ".*"}
