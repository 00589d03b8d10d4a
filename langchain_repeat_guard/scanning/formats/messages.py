"""One recorded message, in any of its forms, as what matters for counting.

The forms: OpenAI's (`role`), LangChain's flat dump (`type`, `content`), `messages_to_dict` (`type`,
`data`), `dumpd` (`lc`, `id`, `kwargs`), and LangChain's message objects. Dicts are read as they
are, because building message objects takes longer than everything else together.
"""

import json
from collections.abc import Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

from langchain_core.messages import BaseMessage, HumanMessage, messages_from_dict
from pydantic_core import from_json

from langchain_repeat_guard.history.calls import IssuedCall, calls_of, issued_call
from langchain_repeat_guard.history.delivery import human_kind
from langchain_repeat_guard.history.steps import IsUserPrompt

UNREADABLE = (AttributeError, KeyError, TypeError, ValueError, RecursionError)
"""What reading a malformed message may raise."""

Kind = Literal["prompt", "calls", "answer", "closing", "note"]

_KINDS: dict[str, Kind] = {
    "user": "prompt",
    "human": "prompt",
    "HumanMessage": "prompt",
    "HumanMessageChunk": "prompt",
    "assistant": "calls",
    "ai": "calls",
    "AIMessage": "calls",
    "AIMessageChunk": "calls",
    "tool": "answer",
    "ToolMessage": "answer",
    "ToolMessageChunk": "answer",
}
_CHARS_OF_A_SCALAR = 6
_NO_NAME = "the name of a tool must be a string"
_OTHER_CALLS = "its calls are 'tool_use' blocks or a 'function_call', and not under 'tool_calls'"


class Reading(NamedTuple):
    """A message, as far as counting needs it."""

    kind: Kind
    calls: Sequence[IssuedCall] = ()
    id: str = ""
    """Of a tool message the id of the call that it answers, of any other its own."""

    chars: int = 0
    """Estimate of its length in a request to the model."""

    agent: str = ""
    """Whose message it is, where several agents share a record."""


Parts = tuple[Kind, Sequence[IssuedCall], str, int, str]
"""The fields of a `Reading`."""


def read_message(
    message: Any, is_user_prompt: IsUserPrompt | None = None, own_texts: tuple[str, ...] = ()
) -> Reading:
    """Return what `message` means for counting.

    Args:
        message: In any of the forms above.
        is_user_prompt: Tells a user's prompt from other human messages; None for the usual rule.
        own_texts: The user's own texts, by which their reminders are known without metadata.

    Raises:
        ValueError: It has none of these forms.
    """
    return Reading(*read_parts(message, is_user_prompt, own_texts))


def read_parts(
    message: Any, is_user_prompt: IsUserPrompt | None = None, own_texts: tuple[str, ...] = ()
) -> Parts:
    """Do as `read_message` does, for a scan, where the making of objects is what takes time."""
    if type(message) is dict:
        role = message.get("role")
        if role == "tool":
            return _read_answer(message)
        if role == "assistant":
            return _read_ai(message)
        if role is not None:
            return _read_fields(role, message, is_user_prompt, own_texts)
    elif isinstance(message, BaseMessage):
        return _read_object(message, is_user_prompt, own_texts)
    form = form_of(message)
    if form is None:
        msg = "no message: it has neither a role nor a type that LangChain knows"
        raise ValueError(msg)
    return _read_fields(*form, is_user_prompt, own_texts)


def form_of(message: object) -> tuple[str, dict[str, Any]] | None:
    """Return the role of a dict that is a message, and its fields; None for anything else."""
    match message:
        case {"role": str(role)} if isinstance(message, dict) and "run_type" not in message:
            return role, message
        case {"lc": int(), "type": "constructor", "id": [*_, str(name)], "kwargs": dict(fields)}:
            return (name, fields) if name.endswith(("Message", "MessageChunk")) else None
        case {"type": str(kind), "data": dict(fields)} if "content" in fields:
            return kind, fields
        case {"type": str(kind), "content": _} if isinstance(message, dict):
            return kind, message
    return None


def _read_answer(fields: dict[str, Any]) -> Parts:
    get = fields.get
    content = get("content")
    chars = len(content) if type(content) is str else _content_chars(content)
    call_id = get("tool_call_id")
    if type(call_id) is not str:
        call_id = _text(call_id)
    agent = get("agent")
    return "answer", (), call_id, chars, "" if agent is None else _text(agent)


def _text(value: object) -> str:
    """Return a name or id, which some write as a number; empty for none."""
    if type(value) is str:
        return value
    return "" if value is None else str(value)


def _read_ai(fields: dict[str, Any]) -> Parts:
    get = fields.get
    content = get("content")
    chars = len(content) if type(content) is str else _content_chars(content) if content else 0
    agent = get("agent")
    agent = "" if agent is None else _text(agent)
    issued = get("tool_calls")
    if issued or get("invalid_tool_calls"):
        calls, more = _calls(fields, issued)
        return "calls", calls, get("id") or "", chars + more, agent
    _refuse_other_calls(fields, content)
    return "closing", (), "", chars, agent


def _refuse_other_calls(fields: dict[str, Any], content: Any) -> None:
    """Raise where a raw message holds its calls in a form that is not read, lest none be seen."""
    blocks = content if type(content) is list else ()
    kinds = {block.get("type") for block in blocks if type(block) is dict}
    if "role" in fields and (fields.get("function_call") or "tool_use" in kinds):
        raise ValueError(_OTHER_CALLS)


def _read_fields(
    role: str,
    fields: dict[str, Any],
    is_user_prompt: IsUserPrompt | None,
    own_texts: tuple[str, ...],
) -> Parts:
    kind = _KINDS.get(role, "note")
    if kind == "calls":
        return _read_ai(fields)
    if kind == "answer":
        return _read_answer(fields)
    content = fields.get("content")
    chars = len(content) if type(content) is str else _content_chars(content) if content else 0
    agent = fields.get("agent")
    agent = "" if agent is None else _text(agent)
    if kind == "prompt":
        kind = _kind_of_human(fields, content, is_user_prompt, own_texts)
        return kind, (), fields.get("id") or "", chars, agent
    return "note", (), "", chars, agent


def _read_object(
    message: BaseMessage, is_user_prompt: IsUserPrompt | None, own_texts: tuple[str, ...]
) -> Parts:
    fields: dict[str, Any] = {
        "content": message.content,
        "id": message.id,
        "additional_kwargs": message.additional_kwargs,
        "tool_calls": getattr(message, "tool_calls", None),
        "invalid_tool_calls": getattr(message, "invalid_tool_calls", None),
        "tool_call_id": getattr(message, "tool_call_id", None),
        "name": message.name,
    }
    if fields["invalid_tool_calls"]:
        calls = calls_of(message)  # type: ignore[arg-type]
        chars = _content_chars(message.content) + _calls_chars(calls)
        return "calls", calls, message.id or "", chars, ""
    return _read_fields(message.type, fields, is_user_prompt, own_texts)


def _calls(fields: dict[str, Any], issued: Any) -> tuple[Sequence[IssuedCall], int]:
    """Return the calls of a message, and an estimate of their length."""
    if fields.get("invalid_tool_calls"):
        # Their order among the others takes LangChain's own view of the message.
        stored = {"type": "ai", "data": {**fields, "type": "ai"}}
        together = calls_of(messages_from_dict([stored])[0])  # type: ignore[arg-type]
        return together, _calls_chars(together)
    calls = []
    chars = 0
    for call in issued:
        function = call.get("function") or call
        arguments = function.get("arguments")
        if not arguments:
            read = _call(call)
            chars += _arguments_chars(read.args)
        else:
            call_id = call.get("id")
            if type(call_id) is not str:
                call_id = _text(call_id)
            if type(arguments) is str:
                chars += len(arguments)
                arguments = _parsed(arguments)
            else:
                chars += _arguments_chars(arguments)
            read = IssuedCall(function["name"] or "", arguments, call_id)
        if type(read.name) is not str:
            raise TypeError(_NO_NAME)
        chars += len(read.name)
        calls.append(read)
    return calls, chars


def _call(call: dict[str, Any]) -> IssuedCall:
    """Read a call in one of the rarer spellings."""
    call_id = _text(call.get("id"))
    if "args" in call:
        return issued_call(call["name"], call["args"], call_id)
    if custom := call.get("custom"):
        return issued_call(custom["name"], custom["input"], call_id)
    function = call.get("function") or call
    return issued_call(function["name"], function.get("arguments"), call_id)


def _parsed(arguments: str) -> Any:
    """Return the arguments as LangChain has them: an object, or the raw string."""
    if arguments[0] != "{" and arguments.lstrip()[:1] != "{":
        return arguments
    try:
        return from_json(arguments)
    except ValueError:  # broken, or beyond the fast parser: lone surrogates, many levels
        try:
            return json.loads(arguments, strict=False)
        except (ValueError, RecursionError):
            return arguments


def _kind_of_human(
    fields: dict[str, Any],
    content: Any,
    is_user_prompt: IsUserPrompt | None,
    own_texts: tuple[str, ...],
) -> Kind:
    extra = fields.get("additional_kwargs") or {}
    asked = None if is_user_prompt is None else partial(_is_prompt, fields, is_user_prompt)
    kind = human_kind(content, extra.get("lc_source"), own_texts, asked)
    return "closing" if kind == "reminder" else kind


def _is_prompt(fields: dict[str, Any], is_user_prompt: IsUserPrompt) -> bool:
    message = HumanMessage(
        content=fields.get("content") or "",
        additional_kwargs=fields.get("additional_kwargs") or {},
        id=fields.get("id"),
        name=fields.get("name"),
    )
    return is_user_prompt(message)


def _content_chars(content: object) -> int:
    if isinstance(content, str):
        return len(content)
    if isinstance(content, list):
        return sum(map(_content_chars, content))
    if isinstance(content, dict):
        return _content_chars(content.get("text") or content.get("content"))
    return 0


def _calls_chars(calls: Sequence[IssuedCall]) -> int:
    return sum(len(call.name) + _arguments_chars(call.args) for call in calls)


def _arguments_chars(arguments: Any) -> int:
    if type(arguments) is dict:
        chars = 0
        for name, value in arguments.items():
            chars += len(name) + (len(value) if type(value) is str else _CHARS_OF_A_SCALAR)
        return chars
    return len(arguments) if isinstance(arguments, str) else _CHARS_OF_A_SCALAR
