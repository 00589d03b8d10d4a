"""The tool calls that a model issued in one message."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, ToolCall, ToolMessage


@dataclass(frozen=True, slots=True)
class IssuedCall:
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
    apart from the others; its place is found in the provider's own form of the message, and is the
    last one where no such form is kept.
    """
    if not message.invalid_tool_calls:
        return list(map(_from_message, message.tool_calls))
    together: list[Any] = [*message.tool_calls, *message.invalid_tool_calls]
    calls = list(map(_from_message, together))
    for raw_calls in _raw_forms(message):
        if ordered := _in_raw_order(calls, raw_calls):
            return ordered
    return calls


def _from_message(call: ToolCall) -> IssuedCall:
    return issued_call(call["name"], call["args"], call.get("id"))


def all_answered(calls: Sequence[IssuedCall], answers: Sequence[ToolMessage]) -> bool:
    """Tell whether each call has a tool message of its own. A call without id takes any spare."""
    match calls, answers:
        case [call], [answer] if call.id == answer.tool_call_id:
            return True  # the usual case, without the bookkeeping
    spare = Counter(answer.tool_call_id or "" for answer in answers)
    needed = Counter(call.id for call in calls)
    without_id = needed.pop("", 0)
    if not needed <= spare:
        return False
    return spare.total() - needed.total() >= without_id


def _raw_forms(message: AIMessage) -> Iterator[list[Any]]:
    """Yield the places where a message may keep its calls as the provider sent them."""
    for form in (
        message.additional_kwargs.get("tool_calls"),
        message.content,
        getattr(message, "tool_call_chunks", None),
    ):
        if isinstance(form, list):
            yield form


def _in_raw_order(calls: Sequence[IssuedCall], raw_calls: list[Any]) -> list[IssuedCall]:
    """Return `calls` as they stand among `raw_calls`, the others last; nothing if none is there."""
    ordered: list[IssuedCall] = []
    rest = [*calls]
    for raw in filter(None, map(_read_raw, raw_calls)):
        # Ids may be missing or repeated: then name and malformed text tell the calls apart.
        same = [call for call in rest if (call.id, call.name) == (raw.id, raw.name)]
        for found in ([call for call in same if call.args == raw.args] or same)[:1]:
            ordered.append(found)
            rest = [call for call in rest if call is not found]
    return [*ordered, *rest] if ordered else []


def _read_raw(raw: Any) -> IssuedCall | None:
    """Return a call in the form of OpenAI (both APIs), Anthropic, a chunk or a standard block."""
    if not isinstance(raw, dict):
        return None
    function = raw.get("function")
    body = function if isinstance(function, dict) else raw
    args = body.get("arguments", body.get("args"))
    return issued_call(body.get("name"), args, raw.get("call_id") or raw.get("id"))
