"""Digest and canonical text of a call's arguments."""

import contextlib
import hashlib

from langchain_repeat_guard.core.canonical import write
from langchain_repeat_guard.core.plain_json import write_plain

_DIGEST_CHARS = 32
_HASHED_AT_ONCE = 1 << 20


def fingerprint(name: str, arguments: object) -> tuple[str, str]:
    """Return the key of a call, and the canonical text of its arguments.

    Both are empty where the arguments cannot be compared honestly: such a call equals no other.
    """
    for canonical_text in (write_plain, write):
        # Any object may be among the arguments, and raise anything.
        with contextlib.suppress(Exception):
            text = canonical_text(arguments)
            return _digest(name, text), text
    return "", ""


def _digest(name: str, arguments: str) -> str:
    # The canonical text never holds a NUL, so that the separator is unambiguous.
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass") + b"\0")
    for start in range(0, len(arguments), _HASHED_AT_ONCE):
        digest.update(arguments[start : start + _HASHED_AT_ONCE].encode())
    return digest.hexdigest()[:_DIGEST_CHARS]
