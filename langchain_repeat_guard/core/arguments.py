"""Digest and canonical text of a call's arguments."""

import hashlib
import json

from langchain_repeat_guard.core import canonical

_DIGEST_CHARS = 32
_HASHED_AT_ONCE = 1 << 20

_encode = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode


def fingerprint(name: str, arguments: object) -> tuple[str, str]:
    """Return the key of a call, and the canonical text of its arguments.

    Both are empty where the arguments cannot be compared honestly: such a call equals no other.
    """
    try:
        text = _encode(canonical.for_json_encoder(arguments))
        return _digest(name, text), text
    except (TypeError, ValueError, RecursionError):
        pass  # beyond JSON, circular, too deep or not encodable: the careful writer takes over
    try:
        text = canonical.write(arguments)
        return _digest(name, text), text
    except Exception:  # noqa: BLE001  any object may be among arguments, and raise anything
        return "", ""


def _digest(name: str, arguments: str) -> str:
    # The canonical text never holds a NUL, so that the separator is unambiguous.
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass") + b"\0")
    for start in range(0, len(arguments), _HASHED_AT_ONCE):
        digest.update(arguments[start : start + _HASHED_AT_ONCE].encode())
    return digest.hexdigest()[:_DIGEST_CHARS]
