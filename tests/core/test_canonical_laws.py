"""Laws of the canonical text, over generated values."""

import datetime as dt
import decimal
import itertools
import json
import math
from collections.abc import Callable
from typing import Any

import pytest
from helpers.argument_values import (
    Node,
    Point,
    are_identical,
    quoted,
    with_keys_reversed,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from langchain_repeat_guard.core.arguments import SameArguments, fingerprint
from langchain_repeat_guard.core.canonical import write
from langchain_repeat_guard.core.plain_json import write_plain

settings.register_profile("core", max_examples=150, deadline=None)
few = settings(settings.get_profile("core"))


def nesting(leaves: st.SearchStrategy[Any], keys: st.SearchStrategy[str]) -> Any:
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
        max_leaves=10,
    )


ANY_TEXT = st.text(st.characters(), max_size=6)
KEYS = st.text(max_size=4)
SIMPLE = st.none() | st.booleans() | st.integers() | st.text(max_size=6)
FLOATS = st.floats(allow_nan=False)
SIMPLE_JSON = nesting(SIMPLE, KEYS)
# From 2**53 on, ECMAScript fills up digits with zeros, which an exact int does not.
EXACT_JSON = nesting(SIMPLE | st.floats(-(2.0**53), 2.0**53), KEYS)
JSON = nesting(SIMPLE | FLOATS, KEYS)
JSON_WITH_SURROGATES = nesting(SIMPLE | FLOATS | ANY_TEXT, ANY_TEXT)


@few
@given(SIMPLE_JSON)
def test_text_of_json_without_floats(value: Any) -> None:
    """The text is compact JSON with sorted keys, non-ASCII as it is."""
    compact = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    assert quoted(value) == compact


def ecmascript(value: float) -> str:
    """Spell a finite float as ECMAScript does, by decimal arithmetic."""
    if value == 0:
        return "0"
    number = decimal.Decimal(repr(value)).normalize()
    if -6 <= number.adjusted() < 21:
        return format(number, "f")
    sign, digits, _ = number.as_tuple()
    first, *rest = map(str, digits)
    mantissa = f"{first}.{''.join(rest)}" if rest else first
    return f"{'-' * sign}{mantissa}e{number.adjusted():+}"


POWERS_OF_TEN = [float(f"{digits}e{power}") for digits in ("1", "-1.5") for power in range(-12, 25)]
LIMITS = [5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 9.99e-7, 123456789012345680000.0]


@few
@given(st.sampled_from(POWERS_OF_TEN + LIMITS) | st.floats(allow_nan=False, allow_infinity=False))
def test_text_of_floats(value: float) -> None:
    """Numbers are spelt as ECMAScript's Number::toString does, alone and in a structure."""
    spelt = ecmascript(value)
    assert (quoted(value), quoted({"a": [value]})) == (spelt, f'{{"a":[{spelt}]}}')


@pytest.mark.parametrize("value", POWERS_OF_TEN + LIMITS)
def test_text_of_every_size_of_float(value: float) -> None:
    """The bounds between plain and exponent spelling are ECMAScript's."""
    assert (quoted(value), write(value)) == (ecmascript(value), ecmascript(value))


@few
@given(JSON)
def test_both_writers_agree(value: Any) -> None:
    """On JSON values, the fast writer gives the text that the careful one gives."""
    assert write_plain(value) == write(value)


@few
@given(JSON, st.integers(14, 18))
def test_both_writers_agree_on_many_parts(value: Any, size: int) -> None:
    """They agree on long lists and large objects too."""
    for many in ([value] * size, {str(number): [value] for number in range(size)}):
        assert write_plain(many) == write(many)


@few
@given(JSON_WITH_SURROGATES)
def test_any_json_text_encodes(value: Any) -> None:
    """No string makes a text that UTF-8 cannot carry, and equality survives."""
    quoted(value).encode()
    assert are_identical(value, with_keys_reversed(value))


@few
@given(EXACT_JSON)
def test_the_text_says_it_all(value: Any) -> None:
    """Nothing is lost: the text of a JSON value parses to an equal value."""
    assert json.loads(quoted(value)) == value


@few
@given(JSON)
def test_key_order_never_matters(value: Any) -> None:
    """Reversing the keys of every object leaves the fingerprint unchanged."""
    assert fingerprint("tool", with_keys_reversed(value)) == fingerprint("tool", value)


@few
@given(st.lists(JSON, min_size=2, max_size=4))
def test_list_order_matters(value: list[Any]) -> None:
    """A list and its reverse are identical only where each member equals its opposite."""
    is_palindrome = [*map(write, value)] == [*map(write, reversed(value))]
    assert are_identical({"a": value}, {"a": value[::-1]}) is is_palindrome


@few
@given(JSON, JSON)
def test_a_string_is_never_parsed(value: Any, other: Any) -> None:
    """The text of a value, as a string, is not that value."""
    assert not are_identical(write(value), value if not isinstance(value, str) else [other])


@few
@given(JSON, JSON)
def test_the_shortcut_agrees(first: Any, second: Any) -> None:
    """Whether arguments are the same is what their fingerprints say, shortcut or not."""
    key = fingerprint("tool", first)[0]
    expected = key == fingerprint("tool", second)[0]
    assert (second in SameArguments("tool", first, key)) is expected


@few
@given(JSON)
def test_observing_changes_nothing(value: Any) -> None:
    """Arguments are only read."""
    before = json.dumps(value)
    quoted(value)
    assert json.dumps(value) == before


UNORDERED = st.integers(-3, 3) | st.sampled_from("ab")
MANY_KINDS = [
    st.integers(-3, 3),
    st.integers(2**53, 2**53 + 2),
    st.sampled_from([0.5, 1.0, 1e-7, 1e17, math.inf]),
    st.decimals(-1, 1, places=1),
    st.text("ab\u00e9", max_size=2),
    st.binary(max_size=1),
    st.dates(dt.date(2026, 1, 1), dt.date(2026, 1, 3)),
    st.datetimes(
        dt.datetime(2026, 1, 1),  # noqa: DTZ001  Hypothesis adds the zone
        dt.datetime(2026, 1, 1, 0, 0, 0, 2),  # noqa: DTZ001
        timezones=st.sampled_from([dt.UTC, dt.timezone(dt.timedelta(microseconds=1))]),
    ),
    st.frozensets(UNORDERED, max_size=3),
    st.uuids(version=4),
    st.builds(Node, st.integers(0, 2)),
    st.builds(Point, x=st.integers(0, 2), y=st.sampled_from("ab")),
    st.dictionaries(UNORDERED, st.integers(0, 1), max_size=2),
    st.complex_numbers(max_magnitude=1, allow_nan=False).map(
        lambda value: complex(round(value.real), round(value.imag))
    ),
]
ANYTHING = st.recursive(
    st.one_of(MANY_KINDS),
    lambda inner: st.lists(inner, max_size=2) | st.builds(Node, inner) | st.builds(Point, x=inner),
    max_leaves=4,
)


@settings(max_examples=400, deadline=None)
@given(ANYTHING, ANYTHING)
def test_identical_exactly_where_python_says_equal(first: Any, second: Any) -> None:
    """Beyond JSON, two values are identical exactly if they are equal."""
    assert are_identical(first, second) is bool(first == second)
    assert are_identical({"a": first}, {"a": second}) is bool(first == second)


def kinds_in_pairs() -> list[Any]:
    values: list[tuple[str, Callable[[], object]]] = [
        ("int", lambda: 1),
        ("text", lambda: "1"),
        ("bytes", lambda: b"1"),
        ("list", lambda: [1]),
        ("set", lambda: {1}),
        ("dict", lambda: {1: 1}),
        ("date", lambda: dt.date(2026, 1, 1)),
        ("dataclass", lambda: Node(1)),
        ("model", lambda: Point(x=1)),
        ("decimal", lambda: decimal.Decimal("1.5")),
        ("nan", lambda: math.nan),
        ("complex", lambda: 1j),
    ]
    return [
        pytest.param(first(), second(), id=f"{one}-{other}")
        for (one, first), (other, second) in itertools.combinations(values, 2)
    ]


@pytest.mark.parametrize(("first", "second"), kinds_in_pairs())
def test_kinds_never_collide(first: object, second: object) -> None:
    """Values of different kinds are never identical."""
    assert not are_identical(first, second)
