"""The requests of six chat APIs, read as turns of one shape, so that one table fits all."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

Role = Literal["system", "user", "assistant", "tool"]
Kind = Literal["text", "call", "result"]
Request = dict[str, Any]


@dataclass(frozen=True)
class Part:
    """One piece of a turn: text, a tool call, or a tool's result; calls and results have an id."""

    kind: Kind
    id: str = ""


@dataclass(frozen=True)
class Turn:
    """One message on the wire."""

    role: Role
    parts: tuple[Part, ...]
    name: str | None = None

    def ids(self, kind: Kind) -> list[str]:
        """Return the ids of the parts of one kind, in order."""
        return [part.id for part in self.parts if part.kind == kind]


def openai_chat(request: Request) -> list[Turn]:
    """Read a request to OpenAI chat completions, or to Mistral, which has the same shape."""
    return [_chat_turn(message) for message in request["messages"]]


def _chat_turn(message: dict[str, Any]) -> Turn:
    role = message["role"]
    name = message.get("name")
    if role == "tool":
        return Turn("tool", (Part("result", message["tool_call_id"]),), name)
    text = (Part("text"),) if message.get("content") else ()
    calls = tuple(Part("call", call["id"]) for call in message.get("tool_calls") or ())
    return Turn("system" if role == "developer" else role, text + calls, name)


def openai_responses(request: Request) -> list[Turn]:
    """Read a request to OpenAI's responses: each item is a turn, neighbouring calls are one."""
    turns: list[Turn] = []
    for item in request["input"]:
        kind = item.get("type", "message")
        if kind == "function_call":
            call = Part("call", item["call_id"])
            if turns and turns[-1].ids("call"):
                turns[-1] = Turn("assistant", (*turns[-1].parts, call))
            else:
                turns.append(Turn("assistant", (call,)))
        elif kind == "function_call_output":
            turns.append(Turn("tool", (Part("result", item["call_id"]),)))
        elif kind == "message":
            role = "system" if item["role"] == "developer" else item["role"]
            turns.append(Turn(role, (Part("text"),), item.get("name")))
    return turns


def anthropic(request: Request) -> list[Turn]:
    """Read a request to Anthropic's messages."""
    return [_anthropic_turn(message) for message in request["messages"]]


def _anthropic_turn(message: dict[str, Any]) -> Turn:
    content = message["content"]
    blocks = [{"type": "text"}] if isinstance(content, str) else content
    parts = []
    for block in blocks:
        if block["type"] == "tool_use":
            parts.append(Part("call", block["id"]))
        elif block["type"] == "tool_result":
            parts.append(Part("result", block["tool_use_id"]))
        else:
            parts.append(Part("text"))
    return Turn(message["role"], tuple(parts), message.get("name"))


def gemini(request: Request) -> list[Turn]:
    """Read a request to Gemini's generateContent, which pairs calls and results by position."""
    return [_gemini_turn(content) for content in request["contents"]]


def _gemini_turn(content: dict[str, Any]) -> Turn:
    parts = []
    for part in content["parts"]:
        if "functionCall" in part:
            parts.append(Part("call", part["functionCall"]["name"]))
        elif "functionResponse" in part:
            parts.append(Part("result", part["functionResponse"]["name"]))
        else:
            parts.append(Part("text"))
    role: Role = "assistant" if content["role"] == "model" else "user"
    return Turn(role, tuple(parts))


def converse(request: Request) -> list[Turn]:
    """Read a request to Bedrock Converse."""
    return [_converse_turn(message) for message in request["messages"]]


def _converse_turn(message: dict[str, Any]) -> Turn:
    parts = []
    for block in message["content"]:
        if "toolUse" in block:
            parts.append(Part("call", block["toolUse"]["toolUseId"]))
        elif "toolResult" in block:
            parts.append(Part("result", block["toolResult"]["toolUseId"]))
        else:
            parts.append(Part("text"))
    return Turn(message["role"], tuple(parts))


READERS: dict[str, Callable[[Request], list[Turn]]] = {
    "openai-chat": openai_chat,
    "openai-responses": openai_responses,
    "anthropic": anthropic,
    "mistral": openai_chat,
    "gemini": gemini,
    "converse-claude": converse,
    "converse-llama": converse,
}
"""How each API's requests are read, by the API's name."""
