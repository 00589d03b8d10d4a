"""What tells an agent's steps apart: a message's id, or else its position and its calls' ids."""

import hashlib
from collections.abc import Sequence

from langchain_core.messages import AIMessage

DIGEST_CHARS = 8
"""Length of a short digest."""


def short_digest(text: str) -> str:
    """Return what tells `text` from the few others of its kind that are remembered."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST_CHARS]


def token_at(index: int, message: AIMessage) -> str:
    """Return the token of a message without id: `#`, its position, and a digest of its call ids.

    The position tells apart steps whose call ids are missing or repeated; the digest tells a step
    from another that has come to its place since older messages were deleted.
    """
    ids = [call.get("id") or "" for call in (*message.tool_calls, *message.invalid_tool_calls)]
    if not any(ids):
        return f"#{index}"
    digest = short_digest("\0".join(ids))
    return f"#{index}:{digest}"


def place_among(counted: Sequence[tuple[str, int]], token: str) -> int | None:
    """Return the place in `counted` of the step that has `token` now, None if it is not there.

    Deletion of older messages moves a step without message id towards the start.
    """
    for place, (before, _) in enumerate(counted):
        if before == token:
            return place
    if token[:1] != "#":
        return None
    places = range(len(counted) - 1, -1, -1)
    return next((place for place in places if has_moved(counted[place][0], token)), None)


def has_moved(before: str, now: str) -> bool:
    """Tell whether the step that had the token `before` may be the one that has `now`."""
    position, digest = position_in(before)
    position_now, digest_now = position_in(now)
    return bool(digest) and digest == digest_now and position >= position_now


def position_in(token: str) -> tuple[int, str]:
    """Return the position and the digest in a token; -1 and nothing if it is a message's id."""
    position, _, digest = token[1:].partition(":")
    if token[:1] == "#" and position.isdecimal():
        return int(position), digest
    return -1, ""
