"""A chat model that plays a script inside real agents, and short ways to write its messages."""

import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from itertools import count
from typing import Any, Self

from langchain_core.callbacks import (
    AsyncCallbackManagerForLLMRun,
    CallbackManagerForLLMRun,
)
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    InvalidToolCall,
    ToolCall,
)
from langchain_core.messages.tool import (
    invalid_tool_call,
    tool_call,
    tool_call_chunk,
)
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from pydantic import Field, PrivateAttr, SkipValidation

Turn = AIMessage | Callable[[list[BaseMessage]], AIMessage]


class ScriptedModel(BaseChatModel):
    """Answers each request with the next turn of `script`, and remembers every request.

    A turn is a message, or a function that makes one of the request's messages and may raise. A
    `script` that is a single function answers every request, so that agents may share the model.
    """

    script: SkipValidation[Sequence[Turn] | Callable[[list[BaseMessage]], AIMessage]] = ()
    requests: list[list[BaseMessage]] = Field(default_factory=list)
    bound_tools: list[Any] = Field(default_factory=list)
    _turns: Iterator[int] = PrivateAttr(default_factory=count)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_options: Any) -> Self:
        """Remember `tools`; the script goes on."""
        self.bound_tools.append(list(tools))
        return self

    def _answer(self, messages: list[BaseMessage]) -> AIMessage:
        self.requests.append(list(messages))
        turn: Turn
        if callable(self.script):
            turn = self.script
        else:
            place = next(self._turns)
            if place >= len(self.script):
                msg = f"The script of {len(self.script)} turns is over."
                raise AssertionError(msg)
            turn = self.script[place]
        message = turn if isinstance(turn, AIMessage) else turn(messages)
        return message.model_copy(deep=True)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._answer(messages))])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return self._generate(messages)

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for chunk in _chunks(self._answer(messages)):
            if run_manager:
                run_manager.on_llm_new_token(str(chunk.message.content), chunk=chunk)
            yield chunk

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in _chunks(self._answer(messages)):
            if run_manager:
                await run_manager.on_llm_new_token(str(chunk.message.content), chunk=chunk)
            yield chunk


def call(name: str, args: dict[str, Any] | None = None, id: str | None = "") -> ToolCall:  # noqa: A002
    """Return one tool call; the empty id is replaced by `says` with one of its own."""
    return tool_call(name=name, args=args or {}, id=id)


def malformed(name: str, raw: str, id: str = "bad") -> InvalidToolCall:  # noqa: A002
    """Return a call whose arguments are no JSON."""
    return invalid_tool_call(name=name, args=raw, id=id, error="not JSON")


_ids = count()


def says(
    text: str = "",
    *calls: ToolCall | InvalidToolCall,
    id: str | None = None,  # noqa: A002
) -> AIMessage:
    """Return a model's message. Calls without an id get one that no other call has."""
    for one in calls:
        if one["id"] == "":
            one["id"] = f"call_{next(_ids)}"
    return AIMessage(
        text,
        id=id,
        tool_calls=[one for one in calls if one.get("type") == "tool_call"],
        invalid_tool_calls=[one for one in calls if one.get("type") == "invalid_tool_call"],
    )


def asks(*calls: ToolCall | InvalidToolCall, id: str | None = None) -> AIMessage:  # noqa: A002
    """Return a model's message that holds nothing but calls."""
    return says("", *calls, id=id)


def repeats(times: int, name: str, args: dict[str, Any] | None = None) -> list[AIMessage]:
    """Return `times` messages with one identical call each, under ids of their own."""
    return [asks(call(name, args)) for _ in range(times)]


def _chunks(message: AIMessage) -> Iterator[ChatGenerationChunk]:
    """Split `message` as providers do: text first, then one chunk per call."""
    if message.content or not (message.tool_calls or message.invalid_tool_calls):
        yield ChatGenerationChunk(message=AIMessageChunk(content=message.content, id=message.id))
    both: list[Any] = [*message.tool_calls, *message.invalid_tool_calls]
    for index, one in enumerate(both):
        args = one["args"] if isinstance(one["args"], str) else json.dumps(one["args"])
        chunk = tool_call_chunk(name=one["name"], args=args, id=one["id"], index=index)
        yield ChatGenerationChunk(
            message=AIMessageChunk(content="", id=message.id, tool_call_chunks=[chunk])
        )
