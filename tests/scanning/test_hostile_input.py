"""Whatever a file holds, a scan tells what it cannot read, and never fails."""

import io
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from langchain_repeat_guard.scanning import Problem, RunRecord, Summary, scan
from langchain_repeat_guard.scanning.formats.documents import read_documents

WORDS = st.sampled_from(
    [
        "user",
        "assistant",
        "tool",
        "ai",
        "human",
        "constructor",
        "AIMessage",
        "llm",
        "chain",
        "{",
        "",
    ]
)
KEYS = st.sampled_from(
    [
        *(
            "role",
            "type",
            "content",
            "data",
            "kwargs",
            "lc",
            "id",
            "tool_calls",
            "function",
            "name",
        ),
        *(
            "arguments",
            "args",
            "tool_call_id",
            "agent",
            "messages",
            "run_type",
            "inputs",
            "outputs",
        ),
        *("child_runs", "tags", "extra", "metadata", "additional_kwargs", "lc_source", "trace_id"),
        *("invalid_tool_calls", "custom", "generations", "choices", "message", "output", "values"),
    ]
)
VALUES = st.recursive(
    st.one_of(WORDS, st.integers(-1, 2), st.none(), st.booleans(), st.floats()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=5)),
    max_leaves=12,
)
MESSAGES = st.fixed_dictionaries(
    {"role": WORDS}, optional=dict.fromkeys(("content", "tool_calls", "id", "agent"), VALUES)
)
CALLS = st.fixed_dictionaries({"id": VALUES, "name": VALUES, "arguments": VALUES})
ANSWERED = st.builds(
    lambda call, agent: [
        {"role": "assistant", "content": None, "tool_calls": [call], "agent": agent},
        {"role": "tool", "content": "", "tool_call_id": call["id"], "agent": agent},
    ],
    CALLS,
    VALUES,
)


def scanned(documents: list[Any]) -> Summary:
    """Scan `documents` as the lines of a file."""
    text = "\n".join(map(json.dumps, documents)).encode()
    stream: Any = io.BufferedReader(io.BytesIO(text))
    return Summary.of(scan(read_documents(stream, "file")))


@settings(max_examples=300, deadline=None)
@given(documents=st.lists(st.one_of(VALUES, MESSAGES, ANSWERED), min_size=1, max_size=4))
def test_any_json_is_a_run_or_a_problem(documents: list[Any]) -> None:
    """Each document that is no run is told; nothing is raised."""
    summary = scanned(documents)
    assert summary.runs or summary.problem_count or documents == [[]]


@settings(max_examples=100, deadline=None)
@given(text=st.one_of(st.binary(), st.text().map(str.encode)))
def test_any_bytes_are_told(text: bytes) -> None:
    """Text that is no JSON gives problems, and no run."""
    stream: Any = io.BufferedReader(io.BytesIO(text))
    for record in scan(read_documents(stream, "file")):
        assert isinstance(record, Problem | RunRecord)
