"""One agent's steps, read from its messages, newest first."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from langchain_core.messages import (
    AIMessage,
    HumanMessage,
    ToolCall,
    ToolMessage,
    convert_to_messages,
)

from langchain_repeat_guard.history.calls import (
    IssuedCall,
    all_answered,
    calls_of,
    well_formed_calls_of,
)
from langchain_repeat_guard.history.delivery import HumanKind, carries_reminder, human_kind
from langchain_repeat_guard.history.tokens import token_at

_TOOL = frozenset({"tool", "ToolMessageChunk"})
_AI = frozenset({"ai", "AIMessageChunk"})
_HUMAN = frozenset({"human", "HumanMessageChunk"})

IsUserPrompt = Callable[[HumanMessage], bool]


@dataclass(frozen=True, slots=True)
class Step:
    """A model's message with tool calls, and the tool messages that answer it."""

    message: AIMessage
    token: str
    """What tells the step from others: the message's id, or where it stands if it has none."""

    answers: Sequence[ToolMessage]
    """Newest first."""

    repairs_malformed: bool = False
    """Whether the host answers malformed calls before a model sees them."""

    @property
    def calls(self) -> Sequence[IssuedCall]:
        """The calls in the order in which the model issued them."""
        return calls_of(self.message)

    @property
    def is_complete(self) -> bool:
        """Whether every call has its answer."""
        return self.answers_all(self.calls)

    def answers_all(self, calls: Sequence[IssuedCall]) -> bool:
        """Tell whether the step is complete; `calls` are all of its calls."""
        if self.repairs_malformed and self.message.tool_calls and self.message.invalid_tool_calls:
            calls = well_formed_calls_of(self.message)
        return all_answered(calls, self.answers)

    @property
    def is_reminded(self) -> bool:
        """Whether a tool message of the step carries a reminder already."""
        return any(map(carries_reminder, self.answers))

    @property
    def only_call(self) -> ToolCall | None:
        """The call of a complete step with one call, as most are; None for any other step."""
        match self.message.tool_calls, self.message.invalid_tool_calls, self.answers:
            case [call], [], [answer] if call["id"] and call["id"] == answer.tool_call_id:
                return call
        return None


@dataclass(frozen=True, slots=True)
class Prompt:
    """A message from the user: the chain starts anew."""

    message_id: str


@dataclass(frozen=True, slots=True)
class Closing:
    """Something after which the step before it takes no reminder: an answer, or a reminder."""

    is_answer: bool = field(default=True, compare=False)


_ANSWER, _REMINDER = Closing(), Closing(is_answer=False)


def was_written_by_user(message: HumanMessage) -> bool:
    """Tell whether `message` is a user's prompt: it carries no notification metadata.

    LangChain marks what a harness writes in the user's name (summaries, notes) by `lc_source`.
    """
    return not message.additional_kwargs.get("lc_source")


def kind_of(
    message: HumanMessage, is_user_prompt: IsUserPrompt, own_texts: tuple[str, ...] = ()
) -> HumanKind:
    """Tell what a human message is. `is_user_prompt` is asked about what is no reminder."""
    source = message.additional_kwargs.get("lc_source")
    return human_kind(message.content, source, own_texts, partial(is_user_prompt, message))


def read_back(
    messages: Sequence[Any],
    is_user_prompt: IsUserPrompt,
    *,
    own_texts: tuple[str, ...] = (),
    repairs_malformed: bool = False,
) -> Iterator[Step | Prompt | Closing]:
    """Yield what `messages` hold of an agent's steps, newest first, as far as the caller reads.

    Tool messages belong to the nearest AIMessage with tool calls before them. Messages that are
    neither steps nor prompts (system, summaries, other notes) are passed over.
    """
    answers: list[ToolMessage] = []
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        try:
            kind = message.type
        except AttributeError:  # a state without the reducer add_messages: a dict or a tuple
            message = convert_to_messages([message])[0]
            kind = message.type
        if kind in _TOOL:
            answers += [message]
        elif kind in _AI:
            if message.tool_calls or message.invalid_tool_calls:
                yield Step(
                    message, message.id or token_at(index, message), answers, repairs_malformed
                )
                answers = []
            else:
                yield _ANSWER
        elif kind in _HUMAN:
            human = kind_of(message, is_user_prompt, own_texts)
            if human == "reminder":
                yield _REMINDER
            elif human == "prompt":
                yield Prompt(message.id or "")
