"""Runs made from public bug reports, and where their reminders stand."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from langchain_repeat_guard import is_reminder

_FILE = Path(__file__).parent.parent / "data" / "reports.jsonl"


@dataclass(frozen=True)
class Report:
    """One run of the file."""

    id: str
    messages: list[AnyMessage]
    options: dict[str, Any]
    reminders: list[tuple[int, int, str]]
    """Index of the tool message in front of a reminder, length of the chain, tool."""

    def steps(self) -> Iterator[tuple[list[AnyMessage], list[ToolMessage]]]:
        """Yield what is there when the tools run, and what they answer."""
        until: list[AnyMessage] = []
        answers: list[ToolMessage] = []
        for message in self.messages:
            if isinstance(message, ToolMessage) and until and isinstance(until[-1], AIMessage):
                answers.append(message)
                continue
            if answers:
                yield until, answers
                until, answers = [], []
            until.append(message)
        yield until, answers


def reports() -> Iterator[Report]:
    """Yield the runs that the file gives as messages."""
    for line in _FILE.read_text("utf-8").splitlines():
        record = json.loads(line)
        if isinstance(record["input"], list):
            yield Report(
                id=record["id"],
                messages=[_message(index, one) for index, one in enumerate(record["input"])],
                options=_options(**record.get("options", {})),
                reminders=[
                    (one["after_index"], one["run_length"], one["tool"])
                    for one in record["reminders"]
                ],
            )


def _options(*, ignore_args: Sequence[str] = (), **same: Any) -> dict[str, Any]:
    """Return the guard's settings; the file gives some by descriptive names."""
    return {**same, "ignore_arguments": {"*": ignore_args}} if ignore_args else same


def found(messages: Sequence[AnyMessage]) -> list[tuple[int, int, str]]:
    """Return where reminders stand among `messages`, as a report says it."""
    places: list[tuple[int, int, str]] = []
    for index, message in enumerate(messages):
        if is_reminder(message) and "lc_data" in message.additional_kwargs:
            assert isinstance(messages[index - 1], ToolMessage)
            last = message.additional_kwargs["lc_data"]["reminders"][-1]
            places.append((index - 1 - len(places), last["count"], last["tool"]))
    return places


def _message(index: int, record: dict[str, Any]) -> AnyMessage:
    extra = dict(record.get("additional_kwargs", {}))
    match record["role"]:
        case "user":
            if record.get("synthetic"):
                extra.setdefault("lc_source", "harness")
            return HumanMessage(record["content"], id=f"user-{index}", additional_kwargs=extra)
        case "ai":
            return AIMessage(
                record["content"],
                id=record.get("id", f"ai-{index}"),
                tool_calls=record.get("tool_calls", []),
            )
        case "tool":
            return ToolMessage(
                record["content"],
                id=f"tool-{index}",
                tool_call_id=record["tool_call_id"],
                status=record.get("status", "success"),
            )
    raise ValueError(record["role"])
