"""Tool-name patterns in which `*` stands for any run of characters and nothing else is special."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")


def matches_any(patterns: Iterable[str], name: str) -> bool:
    """Tell whether one of `patterns` matches the whole of `name`, case-sensitively."""
    return any(_matches(pattern, name) for pattern in patterns)


def first_match(by_pattern: Mapping[str, T], name: str) -> T | None:
    """Return the value under the first pattern that matches `name`, or None."""
    return next((value for pattern, value in by_pattern.items() if _matches(pattern, name)), None)


def _matches(pattern: str, name: str) -> bool:
    return has_pieces(name, pattern.split("*"))


def has_pieces(name: str, pieces: Sequence[str]) -> bool:
    """Tell whether `name` is these literal pieces, with any run of characters between them."""
    # Leftmost search for each of them is enough to decide, so that no input backtracks.
    first, *rest = pieces
    if not rest:
        return name == first
    last = rest.pop()
    if len(name) < len(first) + len(last) or not name.startswith(first) or not name.endswith(last):
        return False
    position, end = len(first), len(name) - len(last)
    for piece in rest:
        found = name.find(piece, position, end)
        if found < 0:
            return False
        position = found + len(piece)
    return True
