"""The messages that a graph's node has written."""

from contextlib import suppress
from typing import Any

from langchain_core.messages import BaseMessage, RemoveMessage, convert_to_messages
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.types import Command, Overwrite

from langchain_repeat_guard.history.message_lists import as_list
from langchain_repeat_guard.history.outputs import parts_of, values_in

_ROLES = frozenset({"user", "human", "assistant", "ai", "tool"})


def messages_in(written: object) -> list[BaseMessage]:
    """Return the messages in what a node returns, under whatever key of the state they are listed.

    A message may be spelt as a dict or a pair, as LangGraph's reducer takes it; a string alone
    could be anything. What an `Overwrite` holds comes behind a `RemoveMessage` for all that was
    there before.
    """
    found: list[BaseMessage] = []
    for part in parts_of(written):
        message = _message(part)
        if message:
            found.append(message)
        else:
            found += _listed_messages(part)
    return found


def _listed_messages(part: Any) -> list[BaseMessage]:
    found: list[BaseMessage] = []
    is_unclear = False
    for value in values_in(part, None):
        if _is_spelt_out(value):
            is_unclear = True
        else:
            found += _messages(value)
    if is_unclear:  # under another key a dict or a pair could be anything
        for value in filter(_is_spelt_out, values_in(part, "messages")):
            found += _messages(value)
    return found


def _is_spelt_out(value: object) -> bool:
    """Tell whether a value is one dict, or one pair of texts, and no list."""
    return isinstance(value, dict) or (isinstance(value, tuple) and as_list(value) == [value])


def _messages(value: Any) -> list[BaseMessage]:
    if isinstance(value, Overwrite):
        messages = _messages(value.value)
        return [RemoveMessage(REMOVE_ALL_MESSAGES), *messages] if messages else []
    return [message for message in map(_message, as_list(value)) if message]


def _message(written: Any) -> BaseMessage | None:
    match written:
        case (
            {"role": str(role), "content": _}
            | {"type": str(role), "content": _}
            | (str(role), str() | list())
        ) if role in _ROLES:
            with suppress(Exception):  # a dict of another kind, whose fields only look like these
                return convert_to_messages([written])[0]
            return None
        case dict() | Command():  # asked first, as pydantic's classes take long to ask
            return None
        case BaseMessage():
            return written
    return None
