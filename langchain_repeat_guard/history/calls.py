"""The tool calls that a model issued in one message."""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
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
    apart from the others; its place is found in the provider's own form of the message, and is the
    last one where no such form is kept.
    """
    if not message.invalid_tool_calls:
        return well_formed_calls_of(message)
    together: list[Any] = [*message.tool_calls, *message.invalid_tool_calls]
    calls = list(map(_from_message, together))
    for raw_calls in _raw_forms(message):
        if ordered := _in_raw_order(calls, raw_calls):
            return ordered
    return calls


def well_formed_calls_of(message: AIMessage) -> Sequence[IssuedCall]:
    """Return the calls of `message` that a tools node runs."""
    return list(map(_from_message, message.tool_calls))


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
    # Ids may be missing or repeated: then name and malformed text tell the calls apart.
    waiting: defaultdict[object, deque[int]] = defaultdict(deque)
    for place, call in enumerate(calls):
        waiting[call.id, call.name, _text_of(call)].append(place)
        waiting[call.id, call.name].append(place)
    order: dict[int, None] = {}
    for raw in filter(None, map(_read_raw, raw_calls)):
        for places in (waiting[raw.id, raw.name, _text_of(raw)], waiting[raw.id, raw.name]):
            while places and places[0] in order:
                places.popleft()
            if places:
                order[places.popleft()] = None
                break
    if not order:
        return []
    return [calls[place] for place in (*order, *(n for n in range(len(calls)) if n not in order))]


def _text_of(call: IssuedCall) -> str | None:
    return call.args if isinstance(call.args, str) else None


def _read_raw(raw: Any) -> IssuedCall | None:
    """Return a call in the form of OpenAI (both APIs), Anthropic, a chunk or a standard block."""
    if not isinstance(raw, dict):
        return None
    function = raw.get("function")
    body = function if isinstance(function, dict) else raw
    name, call_id = body.get("name"), raw.get("call_id") or raw.get("id")
    return issued_call(
        name if isinstance(name, str) else None,
        body.get("arguments", body.get("args")),
        call_id if isinstance(call_id, str) else None,
    )
