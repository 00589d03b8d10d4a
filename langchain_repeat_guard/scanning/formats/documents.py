"""JSON values as runs, recognised by what is in them."""

from collections.abc import Iterator
from typing import Any, BinaryIO

from langchain_repeat_guard.scanning.formats.json_values import Broken, Value, read_values
from langchain_repeat_guard.scanning.formats.langsmith import TraceCollector, is_langsmith_run
from langchain_repeat_guard.scanning.formats.messages import UNREADABLE, form_of
from langchain_repeat_guard.scanning.records import Place, Problem
from langchain_repeat_guard.scanning.runs import Run

_RUN_ID_KEYS = ("run_id", "id", "trace_id", "task_id", "name")
# Where others put the state of a run: LangGraph's API, a dumped prompt, a checkpoint.
_HOLDERS = ("values", "kwargs", "channel_values", "state", "outputs", "output")


class _Reader:
    """Turns the values of one file into runs, and keeps what spans several of them."""

    def __init__(self, values: Iterator[Value | Broken], source: str) -> None:
        self._values = values
        self._source = source
        self._traces = TraceCollector(source)

    def read(self) -> Iterator[Run | Problem]:
        ahead: Value | Broken | None = next(self._values, None)
        while ahead is not None:
            if isinstance(ahead, Value) and _is_message(ahead.data):
                conversation = _Conversation(ahead, self._values, self._source)
                yield Run(conversation, Place(self._source, ahead.array or ahead.line))
                ahead = conversation.finish()
                continue
            if isinstance(ahead, Broken):
                yield _problem(self._source, ahead)
            else:
                yield from self._whatever_is_in(ahead)
            ahead = next(self._values, None)
        yield from self._traces.finish()

    def _whatever_is_in(self, value: Value) -> Iterator[Run | Problem]:
        try:
            yield from self._runs_of(value.data, value.line)
        except UNREADABLE as error:
            reason = f"malformed ({type(error).__name__})"
            yield Problem(Place(self._source, value.line), reason)

    def _runs_of(self, data: object, line: int) -> Iterator[Run | Problem]:
        if is_langsmith_run(data):
            yield from self._traces.add(data, line)
        elif (messages := _messages_of(data)) is not None:
            place = Place(self._source, line, _run_id(data), _thread_id(data))
            yield Run(messages, place)
        elif isinstance(data, list) and data and not any(map(form_of, data)):
            for member in data:
                yield from self._runs_of(member, line)
        elif isinstance(data, list):
            yield Run(data, Place(self._source, line))
        else:
            yield Problem(Place(self._source, line), "no run: a JSON value without messages")


class _Conversation:
    """Messages that follow each other as values of a file: one run, read as it is asked for."""

    def __init__(self, first: Value, values: Iterator[Value | Broken], source: str) -> None:
        self._next: Value | Broken | None = first
        self._array = first.array
        self._values = values
        self._source = source

    def __iter__(self) -> Iterator[object]:
        while (value := self._next) is not None:
            if isinstance(value, Broken):
                self._next = next(self._values, None)
                yield _problem(self._source, value)
            elif value.array == self._array and _is_message(value.data):
                self._next = next(self._values, None)
                yield value.data
            else:
                return

    def finish(self) -> Value | Broken | None:
        """Pass over what nobody asked for, and return what stands behind the conversation."""
        for _ in self:
            pass
        return self._next


def read_documents(stream: BinaryIO, source: str) -> Iterator[Run | Problem]:
    """Yield the runs of a JSON or JSON Lines file.

    A line, or a member of an array at the top, is a run: an object with `messages`, or a list of
    messages. Messages that stand alone, one after another, are one run together. The runs of
    LangSmith that belong to one trace are put together.

    Args:
        stream: The file, unpacked.
        source: Its name, for the places.
    """
    return _Reader(read_values(stream), source).read()


def _is_message(data: object) -> bool:
    return isinstance(data, dict) and "messages" not in data and form_of(data) is not None


def _messages_of(data: object) -> list[Any] | None:
    if not isinstance(data, dict):
        return None
    if isinstance(messages := data.get("messages"), list):
        return messages
    for holder in map(data.get, _HOLDERS):
        if isinstance(holder, dict) and isinstance(messages := holder.get("messages"), list):
            return messages
    return None


def _run_id(data: object) -> str:
    if isinstance(data, dict):
        for name in _RUN_ID_KEYS:
            if isinstance(value := data.get(name), str | int) and value != "":
                return str(value)
    return ""


def _thread_id(data: object) -> str:
    value = data.get("thread_id") if isinstance(data, dict) else None
    return str(value) if isinstance(value, str | int) else ""


def _problem(source: str, broken: Broken) -> Problem:
    return Problem(Place(source, broken.line), broken.reason)
