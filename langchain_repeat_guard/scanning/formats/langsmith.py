"""Runs exported from LangSmith, put together to what each agent of a trace did.

An export holds one object for each model call, tool call, node and graph. A finished agent has its
whole history in the outputs of its graph. One that failed has none, and failed agents are those one
looks for: their history is read from the longest request that their model got.
"""

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from langchain_repeat_guard.scanning.formats.messages import (
    UNREADABLE,
    Reading,
    form_of,
    read_message,
)
from langchain_repeat_guard.scanning.records import Place, Problem
from langchain_repeat_guard.scanning.runs import Run

_OPEN_TRACES = 64
_THREAD_KEYS = ("thread_id", "session_id", "conversation_id")
_TASK_TAG = "graph:step:"
_INNER_TAGS = (_TASK_TAG, "seq:step:", "langsmith:hidden")


def is_langsmith_run(data: object) -> TypeGuard[dict[str, Any]]:
    """Tell whether `data` is a run of LangSmith, as its client's objects are written as JSON."""
    return (
        isinstance(data, dict)
        and isinstance(data.get("run_type"), str)
        and ("inputs" in data or "outputs" in data)
    )


@dataclass(slots=True)
class _History:
    """Messages of an agent, and where in the trace they were found."""

    messages: list[Any]
    order: str


@dataclass(slots=True)
class _Trace:
    """What is known of a trace so far. Agents are told apart by their checkpoint namespace."""

    place: Place
    finished: dict[tuple[str, str], _History] = field(default_factory=dict)
    requests: dict[tuple[str, str], _History] = field(default_factory=dict)
    answers: dict[str, Any] = field(default_factory=dict)

    def runs(self) -> Iterator[Run | Problem]:
        """Yield a run for each agent."""
        done = {namespace for namespace, _ in self.finished}
        open_ends = {key: found for key, found in self.requests.items() if key[0] not in done}
        for history in open_ends.values():
            history.messages += self._missing_answers(history.messages)
        if not self.finished and not open_ends:
            yield Problem(self.place, "no run: a trace without messages")
        for (namespace, _), history in {**self.finished, **open_ends}.items():
            place = self.place
            where = Place(place.source, place.line, place.run_id, place.thread_id, namespace)
            yield Run(_since_last_prompt(history.messages), where)

    def _missing_answers(self, messages: list[Any]) -> list[Any]:
        """Return the tool messages of the last step, which no later request holds."""
        last = _read(messages[-1]) if messages else None
        calls = last.calls if last else ()
        return [self.answers[call.id] for call in calls if call.id in self.answers]


class TraceCollector:
    """Takes the runs of an export in any order, and gives agents' histories trace by trace."""

    def __init__(self, source: str) -> None:
        """Start an export that comes from `source`."""
        self._source = source
        self._traces: OrderedDict[str, _Trace] = OrderedDict()

    def add(self, run: dict[str, Any], line: int) -> Iterator[Run | Problem]:
        """Take a run, with those below it, and yield what is complete because of it.

        Only the traces seen last are kept open, so that memory does not grow with the export.
        """
        self._take(run, str(run.get("trace_id") or run.get("id") or ""), line)
        while len(self._traces) > _OPEN_TRACES:
            yield from self._traces.popitem(last=False)[1].runs()

    def finish(self) -> Iterator[Run | Problem]:
        """Yield what is still open."""
        while self._traces:
            yield from self._traces.popitem(last=False)[1].runs()

    def _take(self, run: dict[str, Any], trace_id: str, line: int) -> None:
        metadata = _mapping(_mapping(run.get("extra")).get("metadata"))
        thread = next((str(metadata[key]) for key in _THREAD_KEYS if metadata.get(key)), "")
        trace = self._traces.get(trace_id)
        if trace is None:
            trace = self._traces[trace_id] = _Trace(Place(self._source, line, trace_id, thread))
        self._traces.move_to_end(trace_id)
        _note(trace, run, metadata)
        for child in run.get("child_runs") or ():
            if is_langsmith_run(child):
                self._take(child, trace_id, line)


def _note(trace: _Trace, run: dict[str, Any], metadata: Mapping[str, Any]) -> None:
    namespace = str(metadata.get("langgraph_checkpoint_ns") or "")
    outputs = _mapping(run.get("outputs"))
    order = str(run.get("dotted_order") or run.get("start_time") or "")
    match run["run_type"]:
        case "llm":
            if messages := [*_request_of(_mapping(run.get("inputs"))), *_response_of(outputs)]:
                is_in_graph = "langgraph_checkpoint_ns" in metadata
                agent = namespace.rpartition("|")[0]
                beginning = "" if is_in_graph else str(messages[:2])
                _keep_longest(trace.requests, (agent, beginning), _History(messages, order))
        case "tool":
            answer = outputs.get("output")
            form = form_of(answer)
            if form and (call_id := form[1].get("tool_call_id")):
                trace.answers[str(call_id)] = answer
        case _:
            history: Any = outputs.get("messages")
            if _is_agent(run) and isinstance(history, list) and any(map(form_of, history)):
                key = (namespace, str(run.get("id") or ""))
                trace.finished[key] = _History(history, order)


def _is_agent(run: dict[str, Any]) -> bool:
    """Tell a graph from its nodes and from what runs inside them."""
    tags = [tag for tag in run.get("tags") or () if isinstance(tag, str)]
    return not any(tag.startswith(_INNER_TAGS) for tag in tags)


def _keep_longest(
    histories: dict[tuple[str, str], _History], key: tuple[str, str], history: _History
) -> None:
    known = histories.get(key)
    if known is None or (len(history.messages), history.order) > (len(known.messages), known.order):
        histories[key] = history


def _request_of(inputs: Mapping[str, Any]) -> list[Any]:
    messages: Any = inputs.get("messages")
    if isinstance(messages, list) and messages and isinstance(messages[0], list):
        messages = messages[0]  # LangChain's models take batches
    return messages if isinstance(messages, list) and any(map(form_of, messages)) else []


def _response_of(outputs: Mapping[str, Any]) -> list[Any]:
    match outputs:
        case {"generations": [[{"message": message}, *_], *_]}:
            found = message
        case {"choices": [{"message": message}, *_]}:
            found = message
        case _:
            found = outputs.get("message", outputs)
    return [found] if form_of(found) else []


def _since_last_prompt(messages: list[Any]) -> list[Any]:
    """Leave out earlier turns of the thread: they have traces of their own."""
    for index in range(len(messages) - 1, -1, -1):
        message = _read(messages[index])
        if message and message.kind == "prompt":
            return messages[index:]
    return messages


def _read(message: object) -> Reading | None:
    """Return what a message means; None for a malformed one, which the scan tells."""
    try:
        return read_message(message)
    except UNREADABLE:
        return None


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
