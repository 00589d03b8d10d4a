"""The tool calls that a model issued in one message."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage, ToolCall, ToolMessage


class IssuedCall(NamedTuple):
    """One tool call as the model issued it, whatever became of it."""

    name: str
    args: Any
    id: str


def issued_call(name: str | None, args: object, call_id: str | None) -> IssuedCall:
    """Return the call, with every spelling of "no arguments" made one.

    Providers send None, an empty string or an empty object for a call without arguments.
    """
    if args is None or (isinstance(args, str) and not args):
        args = {}
    return IssuedCall(name or "", args, call_id or "")


def calls_of(message: AIMessage) -> Sequence[IssuedCall]:
    """Return the calls of `message` in the order in which the model issued them.

    A malformed call (`invalid_tool_calls`) keeps its raw string as arguments. LangChain stores it
    apart from the others; its place is found by the ids in the provider's own form of the message,
    and is the last one where no such form is kept.
    """
    if not message.invalid_tool_calls:
        return list(map(_from_message, message.tool_calls))
    together: list[Any] = [*message.tool_calls, *message.invalid_tool_calls]
    calls = list(map(_from_message, together))
    places = {call_id: place for place, call_id in enumerate(_raw_order(message))}
    return sorted(calls, key=lambda call: places.get(call.id, len(places)))


def _from_message(call: ToolCall) -> IssuedCall:
    return issued_call(call["name"], call["args"], call.get("id"))


def all_answered(calls: Sequence[IssuedCall], answers: Sequence[ToolMessage]) -> bool:
    """Tell whether each call has a tool message of its own. A call without id takes any spare."""
    match calls, answers:
        case [call], [answer] if call.id == answer.tool_call_id:
            return True  # the usual case, without the bookkeeping
    return all_answered_by(calls, [answer.tool_call_id for answer in answers])


def all_answered_by(calls: Sequence[IssuedCall], call_ids: Iterable[str | None]) -> bool:
    """Tell whether tool messages for `call_ids` answer each call. One without id takes any."""
    spare = Counter(call_id or "" for call_id in call_ids)
    needed = Counter(call.id for call in calls)
    without_id = needed.pop("", 0)
    if not needed <= spare:
        return False
    return spare.total() - needed.total() >= without_id


def _raw_order(message: AIMessage) -> list[str]:
    content = message.content if isinstance(message.content, list) else []
    for raw_calls in (
        message.additional_kwargs.get("tool_calls"),
        content,
        getattr(message, "tool_call_chunks", None),
    ):
        ids = [
            str(call.get("call_id") or call["id"])
            for call in raw_calls or ()
            if isinstance(call, dict) and (call.get("call_id") or call.get("id"))
        ]
        if ids:
            return ids
    return []
