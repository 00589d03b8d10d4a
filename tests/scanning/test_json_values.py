"""JSON in all its layouts, whole or broken, is read as a stream."""

import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langchain_repeat_guard.scanning.formats.json_values import Broken, Value, read_values


def values(text: bytes) -> list[tuple[int, Any]]:
    """Return line and value, or line and reason, of all that is in `text`."""
    found = read_values(io.BufferedReader(io.BytesIO(text)))
    return [(one.line, one.data if isinstance(one, Value) else one.reason) for one in found]


DOCUMENTS = st.lists(
    st.recursive(
        st.one_of(st.integers(), st.text(), st.floats(allow_nan=False), st.none()),
        lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)),
        max_leaves=5,
    ),
    max_size=5,
)


@settings(max_examples=80, deadline=None)
@given(documents=DOCUMENTS, indent=st.sampled_from([None, 0, 2]), ascii_only=st.booleans())
def test_all_layouts_give_the_same_values(
    documents: list[Any], indent: int | None, *, ascii_only: bool
) -> None:
    """Lines, values one after another and one array hold the same values, however indented."""

    def write(value: object) -> str:
        return json.dumps(value, indent=indent, ensure_ascii=ascii_only)

    one_after_another = "\n".join(map(write, documents)).encode()
    if not any(isinstance(one, list) for one in documents):  # those are taken apart
        assert [data for _, data in values(one_after_another)] == documents
    in_an_array = write([{"member": one} for one in documents]).encode()
    read = [data for _, data in values(in_an_array)]
    if read and isinstance(read[0], list):  # a first line that holds all of it
        (read,) = read
    assert read == [{"member": one} for one in documents]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(b"", [], id="empty"),
        pytest.param(b"\n \n", [], id="blank"),
        pytest.param(b'\xef\xbb\xbf{"a": 1}\n', [(1, {"a": 1})], id="byte-order-mark"),
        pytest.param(b'{"a": 1}\r\n\r\n{"b": 2}', [(1, {"a": 1}), (3, {"b": 2})], id="windows"),
        pytest.param(
            b'{"a": 1}\n{"b": \n{"c": 3}\n',
            [
                (1, {"a": 1}),
                (2, "not valid JSON: Expecting ',' delimiter (line 4, column 1)"),
                (3, {"c": 3}),
            ],
            id="cut-line",
        ),
        pytest.param(
            b'{"a": 1}\n{"b": }\n{"c": 3}\n',
            [(1, {"a": 1}), (2, "not valid JSON: Expecting value (column 7)"), (3, {"c": 3})],
            id="broken-line",
        ),
        pytest.param(
            b'{"a": 1}\n{"b": "\xff"}\n{"c": 3}\n',
            [(1, {"a": 1}), (2, "not UTF-8 (byte 8 of the line)"), (3, {"c": 3})],
            id="no-utf-8",
        ),
        pytest.param(
            b'{"a":\n{"c": 3}\n{"d": 4}\n',
            [
                (1, "not valid JSON: Expecting ',' delimiter (line 3, column 1)"),
                (2, {"c": 3}),
                (3, {"d": 4}),
            ],
            id="cut-first-line",
        ),
        pytest.param(
            b'[\n  {"a": 1},\n  {"b": },\n  {"c": 3}\n]\n',
            [
                (2, {"a": 1}),
                (3, "not valid JSON: Expecting value (line 3, column 9)"),
                (4, {"c": 3}),
            ],
            id="broken-member-of-an-array",
        ),
        pytest.param(
            b'[\n{"a": 1},\n{"b": 2}',
            [(2, {"a": 1}), (3, {"b": 2}), (3, "not valid JSON: the file ends inside an array")],
            id="array-without-end",
        ),
        pytest.param(
            b'{\n"a": 1,\n"b" 2,\n"c": {\n"x": 1}}\n',
            [(1, "not valid JSON: Expecting ':' delimiter (line 3, column 5)")],
            id="broken-document-is-one-problem",
        ),
        pytest.param(
            b"nothing\nof the kind",
            [(1, "not valid JSON: Expecting value (line 1, column 1)")],
            id="no-json-at-all",
        ),
    ],
)
def test_lines_and_breaks(text: bytes, expected: list[tuple[int, Any]]) -> None:
    """What is broken is told with its line, and costs itself."""
    assert values(text) == expected


def test_value_longer_than_the_window_is_whole() -> None:
    """A value is read however often the window has to grow for it."""
    long = {"text": "x" * 300_000, "list": list(range(30_000))}
    text = json.dumps([long, {"short": 1}], indent=1).encode()
    assert [data for _, data in values(text)] == [long, {"short": 1}]


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a": 1}\n' + "[" * 100_000], ids=["first-line", "later-line"]
)
def test_endless_nesting_is_a_problem(text: str) -> None:
    """Hostile depth costs its line, and nothing crashes."""
    last = list(read_values(io.BufferedReader(io.BytesIO(text.encode()))))[-1]
    assert isinstance(last, Broken)


def test_members_of_an_array_know_their_array() -> None:
    """Members of one array can be told from values that stand alone."""
    text = b'[\n{"a": 1},\n{"b": 2}\n]\n{"c":\n3}'
    read = read_values(io.BufferedReader(io.BytesIO(text)))
    assert [one.array for one in read if isinstance(one, Value)] == [1, 1, None]
