"""Messages in the forms that a state may hold them in. Nothing of LangGraph is needed for it."""

from typing import Any


def as_list(messages: Any) -> list[Any]:
    """Return a list of messages, whichever of the forms a node may return them in."""
    if messages is None:
        return []
    if isinstance(messages, list):
        return messages
    if isinstance(messages, tuple):
        is_role_and_text = len(messages) == 2 and isinstance(messages[0], str)  # noqa: PLR2004
        return [messages] if is_role_and_text else list(messages)
    return [messages]
