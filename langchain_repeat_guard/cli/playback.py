"""A recorded run of an agent, and the model and tools that play it back."""

from collections.abc import Sequence
from importlib.resources import files
from typing import Annotated, Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool, InjectedToolCallId, StructuredTool
from pydantic import BaseModel
from typing_extensions import override

END_OF_RECORDING = "(the recording ends here)"
"""What the recorded model says once it has played everything."""


class RecordedCall(BaseModel, frozen=True, extra="forbid"):
    """A tool call that a model made, and what it got."""

    id: str
    name: str
    arguments: dict[str, Any]
    result: str


class RecordedStep(BaseModel, frozen=True, extra="forbid"):
    """One message of a model: what it said and which tools it called."""

    text: str
    calls: tuple[RecordedCall, ...]


class RecordingSource(BaseModel, frozen=True, extra="forbid"):
    """Where a recording comes from, and under which licence."""

    name: str
    run: str
    model: str
    url: str
    license: str
    copyright: str
    license_file: str
    changes: str


class RecordedRun(BaseModel, frozen=True, extra="forbid"):
    """A recorded run of an agent."""

    source: RecordingSource
    summary: str
    task: str
    steps: tuple[RecordedStep, ...]


def load_recording() -> RecordedRun:
    """Return the run that ships with this package.

    Example:
        >>> load_recording().task
        'Which continent has the most diverse languages?'
    """
    data = files("langchain_repeat_guard.cli").joinpath("data", "demo_run.json")
    return RecordedRun.model_validate_json(data.read_text(encoding="utf-8"))


class RecordedModel(BaseChatModel):
    """A chat model that says what the recorded model said, whatever it is told.

    It plays the step whose number is the number of AIMessages that it gets, so that a resumed run
    goes on where it stopped.
    """

    run: RecordedRun

    @property
    def _llm_type(self) -> str:
        return "recorded"

    @override
    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: str | None = None, **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Return the model as it is: what it calls is in the recording."""
        return self

    @override
    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        played = sum(isinstance(message, AIMessage) for message in messages)
        return ChatResult(generations=[ChatGeneration(message=self._message(played))])

    def _message(self, index: int) -> AIMessage:
        if index >= len(self.run.steps):
            return AIMessage(END_OF_RECORDING)
        step = self.run.steps[index]
        calls = [
            {"name": call.name, "args": call.arguments, "id": call.id, "type": "tool_call"}
            for call in step.calls
        ]
        return AIMessage(step.text, id=f"step-{index + 1}", tool_calls=calls)


def replaying_tools(run: RecordedRun) -> list[BaseTool]:
    """Return a tool for each name in the recording; a call gets the result recorded for its id."""
    results = {call.id: call.result for step in run.steps for call in step.calls}
    names = {call.name: None for step in run.steps for call in step.calls}
    return [_replaying_tool(name, results) for name in names]


class _AnyArguments(BaseModel, extra="ignore"):
    """Takes the recorded arguments, whatever their names, and hands on none of them."""

    tool_call_id: Annotated[str, InjectedToolCallId]


def _replaying_tool(name: str, results: dict[str, str]) -> BaseTool:
    def replay(tool_call_id: str) -> str:
        return results[tool_call_id]

    return StructuredTool(
        name=name,
        description="Returns what the tool of the recorded run returned.",
        args_schema=_AnyArguments,
        func=replay,
    )
