"""Values that must not be quoted, masked in the canonical text of a call's arguments."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from langchain_repeat_guard.core.patterns import matches_any

MASK = '"[redacted]"'
"""What stands in the place of a masked value."""

# Possessive, so that a string of any length is passed over without a step back.
_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\](){},:]', re.DOTALL)
_CLOSING = {"{": "}", "[": "]", "(": ")"}


@dataclass(slots=True)
class _Open:
    """A bracket that is open, and where the member that is being read begins."""

    closing: str
    member: int
    is_key: bool

    def take_key(self, text: str, end: int) -> str | None:
        """Return the name of the key that ends here, or None where no key was being read."""
        if not self.is_key:
            return None
        self.is_key = False
        return _name(text[self.member : end])

    def go_on(self, start: int) -> None:
        """Begin the next member."""
        self.member, self.is_key = start, self.closing == "}"


def redact(text: str, patterns: Sequence[str]) -> str:
    """Return the canonical `text` of arguments with the values of all keys that match masked.

    Keys are looked at in every object, at any depth, and a value is masked with all that is in it.
    A raw string has no keys: arguments that are one are masked whole, and so is a text whose
    brackets do not close, as one with a made-up class name in it may be.

    Args:
        text: Canonical arguments.
        patterns: Names of keys, where `*` stands for any run of characters.

    Example:
        >>> redact('{"user":"ann","login":{"password":"x"}}', ("pass*",))
        '{"user":"ann","login":{"password":"[redacted]"}}'
    """
    if not patterns or not text:
        return text
    spans = None if text[0] == '"' else _masked_spans(text, patterns)
    if spans is None:
        return MASK
    pieces = []
    shown_to = 0
    for start, end in spans:
        pieces += [text[shown_to:start], MASK]
        shown_to = end
    pieces.append(text[shown_to:])
    return "".join(pieces)


def _masked_spans(text: str, patterns: Sequence[str]) -> list[tuple[int, int]] | None:
    """Return where the values to be masked begin and end; None where brackets do not match."""
    spans: list[tuple[int, int]] = []
    is_open: list[_Open] = []
    masked: tuple[int, int] | None = None  # where the value begins, and how deep its key stands
    for place in _marks(text):
        mark = text[place]
        if mark in _CLOSING:
            is_open.append(_Open(_CLOSING[mark], place + 1, mark == "{"))
        elif not is_open:
            return None
        elif mark == ":":
            key = is_open[-1].take_key(text, place)
            if masked is None and key is not None and matches_any(patterns, key):
                masked = place + 1, len(is_open)
        else:
            if masked is not None and masked[1] == len(is_open):
                spans.append((masked[0], place))
                masked = None
            if mark == ",":
                is_open[-1].go_on(place + 1)
            elif is_open.pop().closing != mark:
                return None
    return None if is_open else spans


def _marks(text: str) -> Iterator[int]:
    """Yield the places of brackets, commas and colons outside of strings."""
    return (one.start() for one in _TOKEN.finditer(text) if text[one.start()] != '"')


def _name(key: str) -> str:
    try:
        return str(json.loads(key))
    except ValueError:
        return key  # no JSON value: matched by its canonical text
