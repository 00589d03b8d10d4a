"""Rules that hold for every history and every request, as checks for any test."""

import json
from collections.abc import Sequence
from itertools import pairwise

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ToolMessage,
    convert_to_openai_messages,
)

from langchain_repeat_guard import is_reminder


def check_order(messages: Sequence[BaseMessage]) -> None:
    """Check that calls are followed by their results only, and results by at most one reminder."""
    for before, after in pairwise(messages):
        if isinstance(after, ToolMessage):
            assert isinstance(before, AIMessage | ToolMessage), "a result stands apart"
        if is_reminder(after) and not before.additional_kwargs.get("lc_source"):
            # A summary may have taken the place of the results.
            assert isinstance(before, ToolMessage), "a reminder stands apart from results"
        assert not (is_reminder(before) and is_reminder(after)), "two reminders in a row"
    open_calls: set[str | None] = set()
    for message in messages:
        if isinstance(message, AIMessage):
            assert not open_calls, "calls without result in front of a model's message"
            open_calls = {call["id"] for call in message.tool_calls}
        elif isinstance(message, ToolMessage):
            open_calls.discard(message.tool_call_id)
        elif is_reminder(message):
            assert not open_calls, "a reminder in front of a result"


def check_append_only(requests: Sequence[Sequence[BaseMessage]]) -> None:
    """Check that each request begins with the whole of the one before, byte for byte."""
    for before, after in pairwise(map(payload, requests)):
        assert after[: len(before)] == before


def payload(messages: Sequence[BaseMessage]) -> list[str]:
    """Return messages as a provider gets them: no ids, no metadata."""
    return [json.dumps(entry) for entry in convert_to_openai_messages(list(messages))]
