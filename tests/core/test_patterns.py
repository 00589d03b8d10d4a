"""Which tool names a pattern matches."""

import re
import sys
from types import FrameType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langchain_repeat_guard.core.patterns import matches_any


@pytest.mark.parametrize(
    ("pattern", "name", "matches"),
    [
        pytest.param("grep", "grep", True, id="whole-name"),
        pytest.param("grep", "egrep", False, id="not-a-part"),
        pytest.param("grep", "grep\n", False, id="not-before-a-line-end"),
        pytest.param("grep", "Grep", False, id="case"),
        pytest.param("web_*", "web_search", True, id="prefix"),
        pytest.param("web_*", "web_", True, id="star-matches-nothing"),
        pytest.param("web_*", "web", False, id="prefix-too-long"),
        pytest.param("*_search", "web_search", True, id="suffix"),
        pytest.param("a*b*c", "a1b2c", True, id="pieces"),
        pytest.param("a*b*c", "a1c2b", False, id="pieces-out-of-order"),
        pytest.param("*a*a*", "ba", False, id="a-piece-counts-once"),
        pytest.param("ab*ba", "aba", False, id="ends-do-not-overlap"),
        pytest.param("ab*ba", "abba", True, id="ends-may-touch"),
        pytest.param("a*bc*c", "abc", False, id="middle-and-end-do-not-overlap"),
        pytest.param("*", "", True, id="star-empty-name"),
        pytest.param("", "", True, id="empty-pattern-empty-name"),
        pytest.param("", "a", False, id="empty-pattern"),
        pytest.param("a**b", "ab", True, id="two-stars"),
        pytest.param("a*b", "a\n\r\u2028\u2029\x85b", True, id="line-breaks"),
        pytest.param("\ud83d*", "\U0001f600", False, id="no-half-characters"),
        pytest.param("gre?", "grep", False, id="question-mark"),
        pytest.param("[g]rep", "grep", False, id="brackets"),
        pytest.param("gr.p", "grep", False, id="dot"),
        pytest.param("(grep)+$", "grep", False, id="regular-expression"),
        pytest.param(r"a\*", r"a\x", True, id="backslash-escapes-nothing"),
        pytest.param(r"a\*", "a*", False, id="no-literal-star"),
    ],
)
def test_pattern(pattern: str, name: str, matches: bool) -> None:
    """`*` is any run of characters, all else is itself, and the whole name has to match."""
    assert matches_any([pattern], name) is matches


def test_one_of_several_patterns_is_enough() -> None:
    """A name is matched if one of the patterns matches it; no pattern matches nothing."""
    assert [matches_any(patterns, "ls") for patterns in (["grep", "l*"], ["grep"], [])] == [
        True,
        False,
        False,
    ]


SHORT = st.text("ab*", max_size=7)


@settings(max_examples=300, deadline=None)
@given(SHORT, st.text("ab", max_size=9))
def test_agrees_with_a_regular_expression(pattern: str, name: str) -> None:
    """The verdict is that of the pattern as a regular expression."""
    expression = ".*".join(map(re.escape, pattern.split("*")))
    assert matches_any([pattern], name) is bool(re.fullmatch(expression, name, re.DOTALL))


@pytest.mark.parametrize(
    ("pattern", "name", "matches"),
    [
        pytest.param("*a*a*a*a*a*b", "a" * 100_000, False, id="end-is-missing"),
        pytest.param("*a*a*a*a*a*b*", "a" * 100_000, False, id="last-piece-is-missing"),
        pytest.param("*a" * 5_000 + "*b*c", "a" * 100_000 + "c", False, id="many-stars"),
        pytest.param("*" * 100_000 + "b", "a" * 100_000 + "b", True, id="only-stars"),
        pytest.param("*ab" * 30_000 + "*", "ab" * 30_000, True, id="many-pieces"),
        pytest.param(f"*{'a' * 5_000}b*c", "a" * 100_000 + "c", False, id="long-piece"),
    ],
)
def test_no_input_backtracks(pattern: str, name: str, matches: bool) -> None:
    """Inputs that would keep a backtracking matcher busy for ever are decided at once."""
    assert matches_any([pattern], name) is matches


def searches(pattern: str, name: str) -> int:
    """Count the calls into C, such as `str.find`, that a verdict takes."""
    count = 0

    def profile(_: FrameType, event: str, __: object) -> None:
        nonlocal count
        count += event == "c_call"

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        matches_any([pattern], name)
    finally:
        sys.setprofile(before)
    return count


def test_one_search_per_piece() -> None:
    """The work is one search per piece of the pattern, however long the name is."""
    short, long = searches("*a*a*b*", "a" * 10), searches("*a*a*b*", "a" * 100_000)
    more_pieces = searches("*a*a*a*a*b*", "a" * 100_000)
    assert (short, more_pieces - long) == (long, 4)
