"""Long input is read in a memory that does not grow with it."""

import io
import json
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from helpers.recorded import GREP, READ, openai_run, openai_step

from langchain_repeat_guard.scanning import RunRecord, Summary, scan
from langchain_repeat_guard.scanning.formats.documents import read_documents

RUN = openai_run(*[GREP] * 4, READ)
LANGSMITH = {"run_type": "chain", "inputs": {}, "outputs": {"messages": RUN}}


def run_lines(count: int) -> Iterator[str]:
    """Yield a run a line."""
    for number in range(count):
        yield json.dumps({"run_id": str(number), "messages": RUN}) + "\n"


def array_of_runs(count: int) -> Iterator[str]:
    """Yield one array, indented."""
    yield "[\n"
    for number in range(count):
        yield json.dumps({"run_id": str(number), "messages": RUN}, indent=1) + ",\n"
    yield "[]\n]\n"


def array_in_one_line(count: int) -> Iterator[str]:
    """Yield one array without a line break."""
    yield "["
    for number in range(count):
        yield json.dumps({"run_id": str(number), "messages": RUN}) + ","
    yield "[]]"


def message_lines(count: int) -> Iterator[str]:
    """Yield one endless run, a message a line."""
    for _ in range(count):
        for message in openai_step(GREP) + openai_step(READ):
            yield json.dumps(message) + "\n"


def traces(count: int) -> Iterator[str]:
    """Yield runs of LangSmith, each a trace of its own."""
    for number in range(count):
        yield json.dumps({**LANGSMITH, "id": str(number), "trace_id": str(number)}) + "\n"


class Stream(io.RawIOBase):
    """A file that is made while it is read."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        self._rest = b""
        self.size = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while len(self._rest) < len(buffer) and (line := next(self._lines, "")):
            self._rest += line.encode()
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        self.size += size
        return size


def peak(lines: Iterator[str]) -> tuple[int, int]:
    """Return the most memory in use while scanning, and the length of the input."""
    raw = Stream(lines)
    stream: Any = io.BufferedReader(raw, 1 << 16)
    tracemalloc.start()
    try:
        summary = Summary.of(scan(read_documents(stream, "stream")))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert summary.problem_count == 0
    assert summary.calls > 0
    return most, raw.size


LAYOUTS = [run_lines, array_of_runs, message_lines, traces]


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda one: one.__name__)
def test_memory_does_not_grow_with_the_input(layout: Callable[[int], Iterator[str]]) -> None:
    """Eight times the input takes the same memory."""
    few, short = peak(layout(150))
    many, long = peak(layout(1200))
    assert long > 7 * short
    assert many < 1.2 * few + 200_000


def test_first_line_of_any_length_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    """An array that is one long line is taken apart like any other."""
    module = "langchain_repeat_guard.scanning.formats.json_values._LONGEST_FIRST_LINE"
    monkeypatch.setattr(module, 1 << 16)
    few, short = peak(array_in_one_line(150))
    many, long = peak(array_in_one_line(1200))
    assert long > 7 * short
    assert many < 1.2 * few + 200_000


def test_broken_line_of_a_long_file_is_not_collected(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cut first line does not make the reader look for its end through the whole file."""

    def lines(count: int) -> Iterator[str]:
        yield '{"messages": [\n'
        yield from run_lines(count)

    def most(count: int) -> int:
        stream: Any = io.BufferedReader(Stream(lines(count)), 1 << 16)
        tracemalloc.start()
        try:
            runs = sum(isinstance(one, RunRecord) for one in scan(read_documents(stream, "stream")))
            assert runs == count
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert most(1200) < 1.2 * most(150) + 200_000
