"""What six chat APIs answer: whole bodies, streams of events, and refusals."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from helpers.order_rules import OrderRule

Body = dict[str, Any]


_numbers = count(1)


@dataclass(frozen=True)
class ScriptedCall:
    """One tool call that a reply makes."""

    name: str
    arguments: dict[str, Any]
    id: str


@dataclass(frozen=True)
class Reply:
    """What the model says next: text, or calls."""

    text: str = ""
    calls: tuple[ScriptedCall, ...] = ()
    id: str = field(default_factory=lambda: f"reply{next(_numbers):05}")


@dataclass(frozen=True)
class Api:
    """How one API writes a reply, and the refusal of a request."""

    whole: Callable[[Reply], Body]
    events: Callable[[Reply], Iterator[tuple[str, Body]]] | None
    refusal: Callable[[OrderRule, str], Body]
    is_done_said: bool = False
    """Whether a stream ends with the line `data: [DONE]`."""


_USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


def _chat_message(reply: Reply) -> Body:
    calls = [
        {
            "id": call.id,
            "type": "function",
            "index": index,
            "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
        }
        for index, call in enumerate(reply.calls)
    ]
    message: Body = {"role": "assistant", "content": reply.text}
    return {**message, "tool_calls": calls} if calls else message


def _chat(kind: str, reply: Reply, choice: Body) -> Body:
    finish = "tool_calls" if reply.calls else "stop"
    return {
        "id": reply.id,
        "object": kind,
        "created": 0,
        "model": "m",
        "choices": [{"index": 0, **choice, "finish_reason": finish}],
        "usage": _USAGE,
    }


def _chat_whole(reply: Reply) -> Body:
    return _chat("chat.completion", reply, {"message": _chat_message(reply)})


def _chat_events(reply: Reply) -> Iterator[tuple[str, Body]]:
    yield "", _chat("chat.completion.chunk", reply, {"delta": _chat_message(reply)})


def _openai_refusal(_: OrderRule, words: str) -> Body:
    error = {"message": words, "type": "invalid_request_error", "param": "messages", "code": None}
    return {"error": error}


def _mistral_refusal(rule: OrderRule, words: str) -> Body:
    if rule.status == 422:
        place = ["body", "messages", int(words), "user", "name"]
        detail = {"type": "extra_forbidden", "loc": place, "msg": "Extra inputs are not permitted"}
        return {"detail": [detail]}
    kind = "invalid_request_message_order"
    return {"object": "error", "message": words, "type": kind, "param": None, "code": "3230"}


def _response_items(reply: Reply) -> list[Body]:
    if reply.calls:
        return [
            {
                "type": "function_call",
                "id": f"fc_{call.id}",
                "call_id": call.id,
                "name": call.name,
                "arguments": json.dumps(call.arguments),
                "status": "completed",
            }
            for call in reply.calls
        ]
    text = {"type": "output_text", "text": reply.text, "annotations": []}
    message = {
        "type": "message",
        "id": f"msg_{reply.id}",
        "role": "assistant",
        "status": "completed",
    }
    return [{**message, "content": [text]}]


def _responses_whole(reply: Reply) -> Body:
    usage = {
        "input_tokens": 1,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 1,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 2,
    }
    return {
        "id": f"resp_{reply.id}",
        "object": "response",
        "created_at": 0,
        "model": "m",
        "status": "completed",
        "error": None,
        "output": _response_items(reply),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": usage,
    }


def _responses_events(reply: Reply) -> Iterator[tuple[str, Body]]:
    whole = _responses_whole(reply)
    events: list[Body] = [{"type": "response.created", "response": {**whole, "output": []}}]
    for place, item in enumerate(whole["output"]):
        empty = {**item, "arguments": ""} if reply.calls else {**item, "content": []}
        at = {"output_index": place, "item_id": item["id"]}
        events.append({"type": "response.output_item.added", **at, "item": empty})
        if reply.calls:
            kind = "response.function_call_arguments.delta"
            events.append({"type": kind, **at, "delta": item["arguments"]})
        else:
            delta = {"content_index": 0, "delta": reply.text, "logprobs": []}
            events.append({"type": "response.output_text.delta", **at, **delta})
        events.append({"type": "response.output_item.done", **at, "item": item})
    events.append({"type": "response.completed", "response": whole})
    for number, event in enumerate(events):
        yield event["type"], {**event, "sequence_number": number}


def _anthropic_blocks(reply: Reply) -> list[Body]:
    if reply.calls:
        return [
            {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
            for call in reply.calls
        ]
    return [{"type": "text", "text": reply.text}]


def _anthropic_whole(reply: Reply) -> Body:
    return {
        "id": f"msg_{reply.id}",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": _anthropic_blocks(reply),
        "stop_reason": "tool_use" if reply.calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def _anthropic_events(reply: Reply) -> Iterator[tuple[str, Body]]:
    whole = _anthropic_whole(reply)
    start = {**whole, "content": [], "stop_reason": None}
    yield "message_start", {"type": "message_start", "message": start}
    for index, block in enumerate(whole["content"]):
        at = {"index": index}
        if reply.calls:
            empty = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        else:
            empty = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": reply.text}
        yield "content_block_start", {"type": "content_block_start", **at, "content_block": empty}
        yield "content_block_delta", {"type": "content_block_delta", **at, "delta": delta}
        yield "content_block_stop", {"type": "content_block_stop", **at}
    end = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield "message_delta", {"type": "message_delta", "delta": end, "usage": {"output_tokens": 1}}
    yield "message_stop", {"type": "message_stop"}


def _anthropic_refusal(_: OrderRule, words: str) -> Body:
    error = {"type": "invalid_request_error", "message": words}
    return {"type": "error", "error": error, "request_id": "req_1"}


def _gemini_whole(reply: Reply) -> Body:
    parts: list[Body] = [
        {"functionCall": {"name": call.name, "args": call.arguments, "id": call.id}}
        for call in reply.calls
    ]
    content = {"role": "model", "parts": parts or [{"text": reply.text}]}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    candidate = {"content": content, "finishReason": "STOP", "index": 0}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "m"}


def _gemini_events(reply: Reply) -> Iterator[tuple[str, Body]]:
    yield "", _gemini_whole(reply)


def _gemini_refusal(_: OrderRule, words: str) -> Body:
    return {"error": {"code": 400, "message": words, "status": "INVALID_ARGUMENT"}}


def _converse_whole(reply: Reply) -> Body:
    blocks: list[Body] = [
        {"toolUse": {"toolUseId": call.id, "name": call.name, "input": call.arguments}}
        for call in reply.calls
    ]
    message = {"role": "assistant", "content": blocks or [{"text": reply.text}]}
    return {
        "output": {"message": message},
        "stopReason": "tool_use" if reply.calls else "end_turn",
        "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2},
        "metrics": {"latencyMs": 1},
    }


def _converse_refusal(_: OrderRule, words: str) -> Body:
    return {"__type": "ValidationException", "message": words}


_CONVERSE = Api(_converse_whole, None, _converse_refusal)

APIS: dict[str, Api] = {
    "openai-chat": Api(_chat_whole, _chat_events, _openai_refusal, is_done_said=True),
    "openai-responses": Api(_responses_whole, _responses_events, _openai_refusal),
    "anthropic": Api(_anthropic_whole, _anthropic_events, _anthropic_refusal),
    "mistral": Api(_chat_whole, _chat_events, _mistral_refusal, is_done_said=True),
    "gemini": Api(_gemini_whole, _gemini_events, _gemini_refusal),
    "converse-claude": _CONVERSE,
    "converse-llama": _CONVERSE,
}
"""How each API answers, by its name."""
