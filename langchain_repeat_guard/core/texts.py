"""The texts that a model may be told, and texts recognised as such.

The first two are the original plugin's, word for word: they are part of the contract.
"""

import string
from functools import cache
from typing import NamedTuple

from langchain_repeat_guard.core.patterns import has_pieces

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

    Own texts with few words of their own are passed over: a user might write the same. What stands
    for a field has no line break in a message, so that lines are compared with lines.
    """
    templates, beginnings = _templates(own_texts)
    if not text.startswith(beginnings):
        return False
    lines = text.split("\n")
    todo, seen = [0], {0}
    while todo:
        start = todo.pop()
        for template in templates:
            end = start + len(template)
            if end <= len(lines) and all(map(_Line.fits, template, lines[start:end])):
                if end == len(lines):
                    return True
                if not lines[end] and end + 1 not in seen:  # the blank line between reminders
                    seen.add(end + 1)
                    todo.append(end + 1)
    return False


class _Line(NamedTuple):
    """A line of a text with fields."""

    pieces: tuple[str, ...]
    """What stands before, between and behind the fields."""

    is_number: bool
    """Whether its only field is a number."""

    def fits(self, line: str) -> bool:
        """Tell whether `line` is this one, filled."""
        if not has_pieces(line, self.pieces):
            return False
        first, last = self.pieces[0], self.pieces[-1]
        number = line[len(first) : len(line) - len(last)]
        return not self.is_number or (number.isascii() and number.isdecimal())


_Template = tuple[_Line, ...]


@cache
def _templates(own_texts: tuple[str, ...]) -> tuple[tuple[_Template, ...], tuple[str, ...]]:
    """Return all texts that are known, and what they begin with."""
    own = filter(_is_distinctive, own_texts)
    templates = tuple(map(_template, dict.fromkeys((FIRST_TEXT, LATER_TEXT, REDIRECT_TEXT, *own))))
    return templates, tuple([template[0].pieces[0] for template in templates])


def _is_distinctive(text: str) -> bool:
    literals = [literal for literal, _, _, _ in string.Formatter().parse(text)]
    return sum(map(str.isalnum, "".join(literals))) >= _FEWEST_LETTERS


def _template(text: str) -> _Template:
    lines: list[list[str]] = [[""]]
    fields: list[list[str]] = [[]]
    for literal, name, _, _ in string.Formatter().parse(text):
        first, *others = literal.split("\n")
        lines[-1][-1] += first
        lines += [[line] for line in others]
        fields += [[] for _ in others]
        if name is not None:
            lines[-1].append("")
            fields[-1].append(name)
    numbers = (["count"], ["threshold"])
    return tuple(
        [_Line(tuple(line), names in numbers) for line, names in zip(lines, fields, strict=True)]
    )
