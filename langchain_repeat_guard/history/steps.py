"""One agent's steps, read from its messages, newest first."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    ToolMessage,
    convert_to_messages,
)

from langchain_repeat_guard.history.calls import (
    IssuedCall,
    all_answered,
    calls_of,
    well_formed_calls_of,
)
from langchain_repeat_guard.history.delivery import carries_reminder, is_reminder

IsUserPrompt = Callable[[HumanMessage], bool]


@dataclass(frozen=True, slots=True)
class Step:
    """A model's message with tool calls, and the tool messages that answer it."""

    message_id: str | None
    """Id of the AIMessage, if it has one."""

    position: int
    """Index of the AIMessage in the history."""

    calls: Sequence[IssuedCall]
    answers: Sequence[ToolMessage]
    """Newest first."""

    awaited: Sequence[IssuedCall]
    """The calls without whose answers the step is not complete."""

    @property
    def token(self) -> str:
        """What tells this step from others: the message's id, or its position without one."""
        return self.message_id or f"#{self.position}"

    @property
    def is_complete(self) -> bool:
        """Whether every call that awaits one has its answer."""
        return all_answered(self.awaited, self.answers)

    @property
    def is_reminded(self) -> bool:
        """Whether a tool message of the step carries a reminder already."""
        return any(map(carries_reminder, self.answers))


@dataclass(frozen=True, slots=True)
class Prompt:
    """A message from the user: the chain starts anew."""

    message_id: str


@dataclass(frozen=True, slots=True)
class Closing:
    """Something after which the step before it takes no reminder: an answer, or a reminder."""


_CLOSING = Closing()


def was_written_by_user(message: HumanMessage) -> bool:
    """Tell whether `message` is a user's prompt: it carries no notification metadata.

    LangChain marks what a harness writes in the user's name (summaries, notes) by `lc_source`.
    """
    return not message.additional_kwargs.get("lc_source")


def read_back(
    messages: Sequence[Any], is_user_prompt: IsUserPrompt, *, repairs_malformed: bool = False
) -> Iterator[Step | Prompt | Closing]:
    """Yield what `messages` hold of an agent's steps, newest first, as far as the caller reads.

    Tool messages belong to the nearest AIMessage with tool calls before them. Messages that are
    neither steps nor prompts (system, summaries, other notes) are passed over. Where the host
    repairs malformed calls, a step awaits the answers of its well-formed calls only.
    """
    answers: list[ToolMessage] = []
    for index in range(len(messages) - 1, -1, -1):
        message = as_message(messages[index])
        if isinstance(message, ToolMessage):
            answers.append(message)
        elif isinstance(message, AIMessage):
            if message.tool_calls or message.invalid_tool_calls:
                calls = calls_of(message)
                awaited = calls
                if repairs_malformed and message.tool_calls and message.invalid_tool_calls:
                    awaited = well_formed_calls_of(message)
                yield Step(message.id or None, index, calls, answers, awaited)
                answers = []
            else:
                yield _CLOSING
        elif isinstance(message, HumanMessage):
            if is_reminder(message):
                yield _CLOSING
            elif is_user_prompt(message):
                yield Prompt(message.id or "")


def as_message(message: Any) -> BaseMessage:
    """Return a message of a state without `add_messages`, which may hold dicts and tuples."""
    if isinstance(message, BaseMessage):
        return message
    return convert_to_messages([message])[0]
