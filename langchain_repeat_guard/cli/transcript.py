"""What an agent did, step by step, read from the requests that its model received."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from typing_extensions import override

from langchain_repeat_guard.core.chain import Chain, observe
from langchain_repeat_guard.core.config import RepeatGuardConfig
from langchain_repeat_guard.history.delivery import is_reminder


@dataclass(frozen=True, slots=True)
class SeenReminder:
    """A reminder as the model received it."""

    text: str
    details: Sequence[dict[str, Any]]
    """For each repeated call of the step: tool, count, threshold, tool_call_id, summary."""


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A tool call of a step."""

    tool: str
    arguments: dict[str, Any]
    count: int | None
    """How many identical calls there are, this one included; None if it is not tracked."""

    result: str


@dataclass(frozen=True, slots=True)
class StepRecord:
    """What the model asked for in one message, and what it received before its next call."""

    step: int
    calls: Sequence[CallRecord]
    reminder: SeenReminder | None
    """The reminder that stands directly in front of the model's next call."""


@dataclass(frozen=True, slots=True)
class LiveRun:
    """What a live model did in one run."""

    steps: Sequence[StepRecord]
    model_calls: int
    """How often the model was asked."""

    calls: int
    """Tool calls made."""

    longest_repeat: int
    """The most identical tool calls in a row."""

    reminders: int
    """Reminders that the model received."""

    ended_by_itself: bool
    """Whether it answered before the number of model calls ran out."""

    final_answer: str


class ReceivedRequests(BaseCallbackHandler):
    """Keeps what LangChain hands to the chat model in each call."""

    run_inline = True

    def __init__(self) -> None:
        """Start with no requests."""
        self.requests: list[list[BaseMessage]] = []

    @override
    def on_chat_model_start(
        self, serialized: dict[str, Any], messages: list[list[BaseMessage]], **kwargs: Any
    ) -> None:
        """Keep the messages of this request."""
        self.requests.append(list(messages[0]))


@dataclass(slots=True)
class Transcript:
    """Turns requests into steps, one at a time."""

    config: RepeatGuardConfig
    _read: int = 0
    _steps: int = 0
    _chain: Chain = field(default_factory=Chain)

    def next_steps(self, request: Sequence[BaseMessage]) -> Iterator[StepRecord]:
        """Yield the steps that `request` holds beyond those of the request before it.

        A reminder counts as seen only where it is the last message of the request: directly in
        front of the model's next call.
        """
        news = request[self._read :]
        self._read = len(request)
        results = {
            message.tool_call_id: str(message.text)
            for message in news
            if isinstance(message, ToolMessage)
        }
        for message in news:
            if isinstance(message, AIMessage) and message.tool_calls:
                self._steps += 1
                calls = [self._call(call, results) for call in message.tool_calls]
                yield StepRecord(self._steps, calls, _reminder(request[-1]))

    def _call(self, call: Any, results: dict[str, str]) -> CallRecord:
        name, arguments = call["name"], call["args"]
        self._chain, _ = observe(self._chain, name, arguments, config=self.config)
        count = self._chain.count if self.config.tracks(name) else None
        return CallRecord(name, arguments, count, results.get(call["id"], ""))


def steps_of(
    requests: Sequence[Sequence[BaseMessage]], config: RepeatGuardConfig
) -> list[StepRecord]:
    """Return the steps of a whole run, given its requests, oldest first."""
    transcript = Transcript(config)
    return [step for request in requests for step in transcript.next_steps(request)]


def _reminder(message: BaseMessage) -> SeenReminder | None:
    if not is_reminder(message):
        return None
    details = message.additional_kwargs.get("lc_data", {}).get("reminders", [])
    return SeenReminder(str(message.text), details)
