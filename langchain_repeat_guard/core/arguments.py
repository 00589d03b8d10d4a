"""Digest and canonical text of a call's arguments."""

import contextlib
import hashlib
from collections.abc import Sequence
from typing import Any

from langchain_repeat_guard.core.canonical import write
from langchain_repeat_guard.core.paths import without
from langchain_repeat_guard.core.plain_json import JSON_SCALARS, write_plain
from langchain_repeat_guard.core.scalars import NotComparableError

_DIGEST_CHARS = 32
_HASHED_AT_ONCE = 1 << 20


def fingerprint(name: str, arguments: object, ignored_paths: Sequence[str] = ()) -> tuple[str, str]:
    """Return the key of a call, and the canonical text of its arguments.

    Both are empty where the arguments cannot be compared honestly: such a call equals no other.

    Args:
        name: Name of the tool.
        arguments: As they were issued.
        ignored_paths: Paths of arguments that do not count. The text does not hold them.
    """
    if ignored_paths:
        arguments = without(arguments, ignored_paths)
    try:
        return _with_digest(name, write_plain(arguments))
    except (NotComparableError, ValueError, RecursionError):
        pass  # beyond plain JSON, not encodable, or too deep for this stack
    # Any object may be among the arguments, and raise anything.
    with contextlib.suppress(Exception):
        return _with_digest(name, write(arguments))
    return "", ""


class SameArguments:
    """Tells which arguments of a tool are identical to the given ones, one after another."""

    def __init__(
        self, name: str, arguments: Any, key: str, ignored_paths: Sequence[str] = ()
    ) -> None:
        """Remember a call, to compare the arguments of others of that name with.

        Args:
            name: Name of the tool.
            arguments: The arguments as they were issued.
            key: The call's key.
            ignored_paths: Paths of arguments that do not count.
        """
        self._name = name
        self._ignored_paths = ignored_paths
        self._arguments = arguments = without(arguments, ignored_paths)
        self._key = key
        self._kinds = _kinds_of_scalars(arguments)

    def __contains__(self, others: Any) -> bool:
        """Tell whether `others` have the same canonical form."""
        if self._ignored_paths:
            others = without(others, self._ignored_paths)
        if (
            self._kinds
            and type(others) is dict
            and self._kinds == [*map(type, others), *map(type, others.values())]
            and self._arguments == others
            and [*self._arguments] == [*others]  # or `1` and `True` could have changed places
        ):
            return True  # the same scalars in the same order: no need to write them out
        return bool(self._key) and self._key == fingerprint(self._name, others)[0]


def _kinds_of_scalars(arguments: object) -> list[type]:
    """Return the types of keys and values of a flat JSON object; nothing for anything else."""
    if type(arguments) is not dict:
        return []
    kinds = [*map(type, arguments), *map(type, arguments.values())]
    return kinds if JSON_SCALARS.issuperset(kinds) else []


def _with_digest(name: str, arguments: str) -> tuple[str, str]:
    # The canonical text never holds a NUL, so that the separator is unambiguous.
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass") + b"\0")
    for start in range(0, len(arguments), _HASHED_AT_ONCE):
        digest.update(arguments[start : start + _HASHED_AT_ONCE].encode())
    return digest.hexdigest()[:_DIGEST_CHARS], arguments
