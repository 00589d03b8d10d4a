"""Which arguments are identical, whatever Python values they are."""

import array
import collections
import datetime as dt
import decimal
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import threading
import types
import uuid
from collections.abc import Iterator, Mapping
from typing import Any
from unittest import mock

import pytest
from helpers.argument_values import (
    Access,
    Colour,
    Level,
    Mode,
    Node,
    OpenModel,
    Pixel,
    Point,
    Secretive,
    Shade,
    Span,
    are_identical,
    count_after,
    detailed_reminder,
    nested,
    quoted,
)

from langchain_repeat_guard.core.arguments import SameArguments, fingerprint
from langchain_repeat_guard.core.canonical import write
from langchain_repeat_guard.core.scalars import NotComparableError

NOON = dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC)
EAST = dt.timezone(dt.timedelta(hours=2))
HUGE = 10**5_000
LONG_TEXT = "\u00e9" * 3_000_000
UUID = "12345678-1234-5678-1234-567812345678"


class Text(str):
    __slots__ = ()

    def __repr__(self) -> str:
        return "lie"

    __str__ = __repr__


class Whole(int):
    def __repr__(self) -> str:
        return "lie"

    __str__ = __repr__


class Real(float):
    def __repr__(self) -> str:
        return "lie"

    __str__ = __repr__


class View(Mapping[str, object]):
    """A mapping that is no dict."""

    def __init__(self, content: dict[str, object]) -> None:
        self._content = content

    def __getitem__(self, key: str) -> object:
        return self._content[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._content)

    def __len__(self) -> int:
        return len(self._content)


Pair = collections.namedtuple("Pair", "left right")  # noqa: PYI024  the plain form is wanted

EQUAL: dict[str, tuple[object, object]] = {
    "key-order": ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    "key-order-at-depth": ([{"a": {"x": 1, "y": 2}}], [{"a": {"y": 2, "x": 1}}]),
    "whole-float": ({"n": 3}, {"n": 3.0}),
    "minus-zero": (0, -0.0),
    "tuple-list": ({"a": (1, 2)}, {"a": [1, 2]}),
    "namedtuple-list": (Pair(1, 2), [1, 2]),
    "str-subclass": (Text("a"), "a"),
    "int-subclass": (Whole(7), 7),
    "float-subclass": (Real(1.5), 1.5),
    "str-subclass-as-key": ({Text("a"): 1}, {"a": 1}),
    "str-enum": (Mode.READ, "read"),
    "int-enum": (Level.LOW, 1),
    "enum": (Colour.GREEN, Colour["GREEN"]),
    "flag": (Access.READ | Access.WRITE, Access(3)),
    "ordered-dict": (collections.OrderedDict(a=1), {"a": 1}),
    "mapping": (View({"a": [1]}), {"a": [1]}),
    "read-only-mapping": (types.MappingProxyType({"a": 1}), {"a": 1}),
    "set": ({"x", "y", 3}, {3, "y", "x"}),
    "frozenset": ({1, 2}, frozenset({2, 1})),
    "set-of-sets": ({frozenset({1, 2}), 3}, {3, frozenset({2, 1})}),
    "date": (dt.date(2026, 1, 1), dt.date(2026, 1, 1)),
    "aware-datetimes": (NOON, NOON.astimezone(EAST)),
    "aware-times": (dt.time(12, tzinfo=dt.UTC), dt.time(14, tzinfo=EAST)),
    "timedelta": (dt.timedelta(days=1), dt.timedelta(hours=24)),
    "bytes": (b"a", bytearray(b"a")),
    "memoryview": (b"ab", memoryview(b"ab")),
    "long-bytes": (b"a" * 1_000, bytearray(b"a" * 1_000)),
    "decimal-spelling": (decimal.Decimal("1.10"), decimal.Decimal("1.1")),
    "decimal-int": (decimal.Decimal("3.00"), 3),
    "decimal-big-int": (decimal.Decimal(2**100 + 1), 2**100 + 1),
    "decimal-float": (decimal.Decimal("0.5"), 0.5),
    "decimal-zero": (decimal.Decimal("-0.0"), 0),
    "decimal-infinity": (decimal.Decimal("-Infinity"), float("-inf")),
    "decimal-nan": (decimal.Decimal("nan"), decimal.Decimal("nan")),
    "decimal-signalling-nan": (decimal.Decimal("snan"), decimal.Decimal("snan")),
    "complex-real": (complex(1.5, 0), 1.5),
    "complex": (complex(1, 2), complex(1, 2)),
    "nan": (float("nan"), json.loads("NaN")),
    "infinity": (float("inf"), json.loads("1e999")),
    "uuid": (uuid.UUID(UUID), uuid.UUID(UUID.replace("-", ""))),
    "path": (pathlib.PurePosixPath("a/./b"), pathlib.PurePosixPath("a//b")),
    "windows-path": (pathlib.PureWindowsPath("C:/A"), pathlib.PureWindowsPath(r"c:\a")),
    "model": (Point(x=1), Point(x=1.0)),
    "model-extra-order": (OpenModel(a=1, b=2), OpenModel(b=2, a=1)),
    "dataclass": (Span(1, [2]), Span(1, [2])),
    "dataclass-field-without-comparison": (Span(1, note="a"), Span(1, note="b")),
    "huge-int": (HUGE, 10**5_000),
    "int-keys": ({1: "a", 2: "b"}, {2: "b", 1: "a"}),
    "many-parts": (
        [{"a": n, "b": [n]} for n in range(50)],
        [{"b": [n], "a": n} for n in range(50)],
    ),
    "many-parts-with-floats": (
        [{"a": n, "b": [n / 2, 1e-7]} for n in range(50)],
        [{"b": (n / 2, 0.0000001), "a": float(n)} for n in range(50)],
    ),
    "many-parts-with-int-keys": (
        [[{n: n}] for n in range(50)],
        [[{n: 1.0 * n}] for n in range(50)],
    ),
    "many-parts-beyond-json": ([{n} for n in range(50)], [{1.0 * n} for n in range(50)]),
    "more-floats-than-containers-are-allowed": ([0.5] * 300_001, (0.5,) * 300_001),
    "many-deep-parts": ([nested(500, 1, list)] * 50, [nested(500, 1.0, list)] * 50),
    "mixed-keys": ({1: "a", "1": "b", None: "c"}, {None: "c", "1": "b", 1: "a"}),
    "tuple-keys": ({(1, "a"): 1}, {(1, "a"): 1}),
    "surrogate-pair": ("\ud83d\ude00", "\U0001f600"),
    "surrogate-pair-in-key": ({"\ud83d\ude00": 1, "\uffff": 2}, {"\U0001f600": 1, "\uffff": 2}),
    "keys-that-differ-in-spelling": (
        {"\ud83d\ude00": 1, "\U0001f600": 2},
        {"\U0001f600": 2, "\ud83d\ude00": 1},
    ),
}

DIFFERENT: dict[str, tuple[object, object]] = {
    "list-order": ([1, 2], [2, 1]),
    "true-one": (True, 1),
    "false-zero": ({"a": False}, {"a": 0}),
    "true-and-one-swapped": ({"a": 1, "b": True}, {"a": True, "b": 1}),
    "none-missing": ({"a": None}, {}),
    "none-text": (None, "null"),
    "empty-list-empty-object": ([], {}),
    "none-empty-object": (None, {}),
    "none-empty-text": (None, ""),
    "text-object": ('{"a":1}', {"a": 1}),
    "text-number": ("1", 1),
    "int-key-text-key": ({1: "a"}, {"1": "a"}),
    "none-key-text-key": ({None: 1}, {"null": 1}),
    "tuple-key-text-key": ({(1,): 1}, {"[1]": 1}),
    "int-neighbours": (2**53, 2**53 + 1),
    "huge-int": (HUGE, HUGE + 1),
    "huge-int-hex-text": (HUGE, hex(HUGE)),
    "composed-decomposed": ("\u00e9", "e\u0301"),
    "lone-surrogate-replacement": ("\ud800", "\ufffd"),
    "lone-surrogate-escaped-text": ("\ud800", "\\ud800"),
    "lone-surrogates": ("\ud800", "\ud801"),
    "rare-number-marked-text": (1e-7, "\udfff1e-7\udfff"),
    "rare-number-beside-marked-text": ([1e-7, "\udfff1e-7\udfff"], [1e-7, 1e-7]),
    "one-tuple-list": ((1,), [2]),
    "many-parts": ([[n] for n in range(50)], [[n] for n in range(49)] + [[0]]),
    "many-parts-true-one": ([[1]] * 50, [[1]] * 49 + [[True]]),
    "many-parts-int-key-text-key": ([{1: 1}] * 50, [{1: 1}] * 49 + [{"1": 1}]),
    "set-list": ({1}, [1]),
    "sets": ({1, 2}, {1, 3}),
    "dates": (dt.date(2026, 1, 1), dt.date(2026, 1, 2)),
    "date-text": (dt.date(2026, 1, 1), "2026-01-01"),
    "date-its-canonical-text": (dt.date(2026, 1, 1), 'date("2026-01-01")'),
    "date-midnight": (dt.date(2026, 1, 1), dt.datetime(2026, 1, 1)),  # noqa: DTZ001
    "aware-naive": (NOON, NOON.replace(tzinfo=None)),
    "microseconds": (NOON, NOON.replace(microsecond=1)),
    "same-clock-other-zone": (NOON, NOON.replace(tzinfo=EAST)),
    "times": (dt.time(12), dt.time(13)),
    "aware-naive-time": (dt.time(12), dt.time(12, tzinfo=dt.UTC)),
    "timedeltas": (dt.timedelta(1), dt.timedelta(0, 1)),
    "bytes": (b"a", b"b"),
    "bytes-text": (b"a", "a"),
    "long-bytes": (b"a" * 1_000, b"a" * 999 + b"b"),
    "decimals": (decimal.Decimal("0.1"), decimal.Decimal("0.2")),
    "decimal-near-float": (decimal.Decimal("0.1"), 0.1),
    "decimal-signs": (decimal.Decimal("0.1"), decimal.Decimal("-0.1")),
    "decimal-text": (decimal.Decimal("0.1"), "0.1"),
    "decimal-size": (decimal.Decimal("1e5000"), decimal.Decimal("1e5001")),
    "decimal-nan-zero": (decimal.Decimal("nan"), 0),
    "nan-none": (float("nan"), None),
    "nan-infinity": (float("nan"), float("inf")),
    "infinities": (float("inf"), float("-inf")),
    "infinity-text": (float("inf"), "Infinity"),
    "complex": (complex(1, 2), complex(1, 3)),
    "uuids": (uuid.UUID(UUID), uuid.UUID(int=1)),
    "uuid-text": (uuid.UUID(UUID), UUID),
    "path-text": (pathlib.PurePosixPath("a"), "a"),
    "path-flavours": (pathlib.PurePosixPath("a"), pathlib.PureWindowsPath("a")),
    "posix-path-case": (pathlib.PurePosixPath("A"), pathlib.PurePosixPath("a")),
    "enum-value": (Colour.RED, 1),
    "enums": (Colour.GREEN, Colour.BLUE),
    "enum-types": (Colour.RED, Shade.RED),
    "flags": (Access.READ, Access.READ | Access.WRITE),
    "models": (Point(x=1), Point(x=2)),
    "model-types": (Point(x=1), Pixel(x=1)),
    "model-dict": (Point(x=1, y=0), {"x": 1, "y": 0}),
    "model-extras": (OpenModel(a=1), OpenModel(a=2)),
    "dataclasses": (Span(1, 2), Span(1, 3)),
    "dataclass-dict": (Node(1), {"value": 1}),
    "cycle-text": ([1, "cycle(1)"], nested(1, 1, list)),
}


def cases(pairs: dict[str, tuple[object, object]]) -> list[Any]:
    return [pytest.param(*pair, id=name) for name, pair in pairs.items()]


@pytest.mark.parametrize(("first", "second"), cases(EQUAL))
def test_equal_values_are_identical(first: object, second: object) -> None:
    """Two calls are identical if their arguments are equal, alone or anywhere in a structure."""
    within = count_after({"deep": [0, first]}, {"deep": [0, second]})
    assert (count_after(first, second), within) == (2, 2)


@pytest.mark.parametrize(("first", "second"), cases(DIFFERENT))
def test_different_values_differ(first: object, second: object) -> None:
    """Two calls with different arguments start a new chain."""
    within = count_after({"deep": [0, first]}, {"deep": [0, second]})
    assert (count_after(first, second), within) == (1, 1)


@pytest.mark.parametrize(
    "value",
    [pytest.param(value, id=name) for name, (value, _) in {**EQUAL, **DIFFERENT}.items()],
)
def test_what_can_be_compared_can_be_quoted(value: object) -> None:
    """The detailed reminder quotes any value as UTF-8 text on one line, without an address."""
    text = quoted(value)
    assert text.encode().decode() == text
    assert "\n" not in text
    assert " at 0x" not in text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param({"b": [1, 2.0, 1.5], "a": None}, '{"a":null,"b":[1,2,1.5]}', id="json"),
        pytest.param(dt.date(2026, 1, 31), 'date("2026-01-31")', id="date"),
        pytest.param(NOON.astimezone(EAST), 'datetime("2026-01-31T12:00:00+00:00")', id="aware"),
        pytest.param(dt.datetime(1, 1, 1), 'datetime("0001-01-01T00:00:00")', id="naive"),  # noqa: DTZ001
        pytest.param(
            dt.datetime.min.replace(tzinfo=EAST),
            'datetime("0001-01-01T00:00:00+02:00")',
            id="no-such-moment-in-utc",
        ),
        pytest.param(dt.time(1, 2), 'time("01:02:00")', id="time"),
        pytest.param(dt.time(1, tzinfo=dt.UTC), "time(utc,timedelta(0,3600,0))", id="aware-time"),
        pytest.param(b"\x00\xff", 'bytes("00ff")', id="bytes"),
        pytest.param(
            b"a" * 257,
            "bytes(length=257,sha256="
            '"e8d95cc2b4bc198c54b40bd214df958afb65f5e73d2c2eafe0593cf5c635c1f0")',
            id="long-bytes",
        ),
        pytest.param({2, 1}, "set([1,2])", id="set"),
        pytest.param(decimal.Decimal("-1.20"), 'decimal("-12e-1")', id="decimal"),
        pytest.param(decimal.Decimal("1e9999"), 'decimal("1e9999")', id="huge-decimal"),
        pytest.param(complex(1, 2), "complex(1,2)", id="complex"),
        pytest.param(uuid.UUID(int=1), f'uuid("{1:032x}")', id="uuid"),
        pytest.param(pathlib.PurePosixPath("/A/b"), 'path(posix,"/A/b")', id="posix-path"),
        pytest.param(pathlib.PureWindowsPath("C:\\A"), 'path(windows,"c:/a")', id="windows-path"),
        pytest.param(float("nan"), 'float("nan")', id="nan"),
        pytest.param(float("-inf"), "-Infinity", id="infinity"),
        pytest.param(Colour.GREEN, 'helpers.argument_values.Colour("GREEN")', id="enum"),
        pytest.param(Access.WRITE, "helpers.argument_values.Access(2)", id="flag"),
        pytest.param(Point(x=[1]), 'helpers.argument_values.Point({"x":[1],"y":0})', id="model"),
        pytest.param(
            Span(1, 2), 'helpers.argument_values.Span({"end":2,"start":1})', id="dataclass"
        ),
        pytest.param({2: 1, "b": 2, "a": 3}, '{"a":3,"b":2,2:1}', id="keys"),
        pytest.param({"q": "\ud800\U0001f600"}, '{"q":"\\ud800\U0001f600"}', id="lone-surrogate"),
        pytest.param(16**5_000, f"0x1{'0' * 5_000}", id="more-digits-than-python-prints"),
    ],
)
def test_canonical_text(value: object, text: str) -> None:
    """What JSON has is compact JSON; everything else has a form that no JSON value has."""
    assert quoted(value) == text


def raiser(*names: str) -> object:
    """Return an object whose methods of these names raise."""

    def fail(*_: object) -> object:
        msg = "no"
        raise RuntimeError(msg)

    return type("Raiser", (), dict.fromkeys(names, fail))()


class LiesAboutItsClass:
    @property
    def __class__(self) -> type:
        msg = "no"
        raise RuntimeError(msg)

    @__class__.setter
    def __class__(self, value: object) -> None: ...


class BreaksOff(Mapping[str, object]):
    """A mapping that changes while it is read, as a tool in another thread can make it do."""

    def __getitem__(self, key: str) -> object:
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        msg = "dictionary changed size during iteration"
        raise RuntimeError(msg)

    def __len__(self) -> int:
        return 1


class ChangingDict(dict[str, object]):
    def items(self) -> Any:
        msg = "dictionary changed size during iteration"
        raise RuntimeError(msg)


class OddModule:
    pass


OddModule.__module__ = object()  # type: ignore[assignment]


def deep_set() -> object:
    value: frozenset[object] = frozenset()
    for _ in range(10_000):
        value = frozenset([value])
    return value


INCOMPARABLE: dict[str, object] = {
    "object": object(),
    "repr-raises": raiser("__repr__"),
    "str-raises": raiser("__str__"),
    "eq-raises": raiser("__eq__"),
    "hash-raises": raiser("__hash__"),
    "everything-raises": raiser("__repr__", "__str__", "__eq__", "__hash__", "__bool__", "__len__"),
    "attributes-raise": raiser("__getattribute__"),
    "class-raises": LiesAboutItsClass(),
    "mapping-raises": BreaksOff(),
    "dict-raises": ChangingDict(a=1),
    "class": OddModule,
    "function": are_identical,
    "lambda": lambda: None,
    "module": json,
    "lock": threading.Lock(),
    "generator": (number for number in range(3)),
    "exception": ValueError("a"),
    "ellipsis": ...,
    "mock-of-a-dict": mock.MagicMock(spec=dict),
    "mock-of-a-str": mock.MagicMock(spec=str),
    "view-of-wider-items": memoryview(array.array("i", [1])),
    "view-of-a-table": memoryview(b"abcd").cast("B", (2, 2)),
    "sets-deeper-than-the-stack": deep_set(),
    "dataclass-without-a-field": Node.__new__(Node),
}


@pytest.mark.parametrize(
    "value", [pytest.param(value, id=name) for name, value in INCOMPARABLE.items()]
)
@pytest.mark.parametrize(
    "place",
    [
        pytest.param(lambda value: value, id="alone"),
        pytest.param(lambda value: {"a": [1, value]}, id="in-json"),
        pytest.param(Span, id="in-a-dataclass"),
        pytest.param(lambda value: Point.model_construct(x=value), id="in-a-model"),
        pytest.param(lambda value: (1, {2: value}), id="beside-an-int-key"),
    ],
)
def test_what_has_no_value_equals_nothing(value: object, place: Any) -> None:
    """An object without a comparable value never raises, never extends a chain, is never quoted."""
    arguments = place(value)
    assert (count_after(arguments, arguments), detailed_reminder(arguments)) == (1, None)


def test_incomparable_key_equals_nothing() -> None:
    """A mapping with a key that has no value equals nothing, not even itself."""
    arguments = {object(): 1}
    assert count_after(arguments, arguments) == 1


def test_incomparable_calls_in_a_row_do_not_add_up() -> None:
    """No chain grows from calls that cannot be compared, not even of one and the same object."""
    assert detailed_reminder({"a": object()}) is None


def test_a_class_whose_module_is_no_name_is_refused() -> None:
    """A type name is built from strings only, so that no `repr` gets into a text."""
    shown = type("Odd", (Point,), {"__module__": "m"})
    shown.__module__ = object()  # type: ignore[assignment]
    assert fingerprint("tool", shown()) == ("", "")


def test_a_private_attribute_is_part_of_a_model() -> None:
    """Models differ where pydantic says so: in private attributes too."""
    first, second = Secretive(), Secretive()
    second._hidden = 1  # noqa: SLF001
    assert [are_identical(first, Secretive()), are_identical(first, second)] == [True, False]


@pytest.mark.parametrize(
    ("kind", "depth"),
    [
        *[(list, depth) for depth in (99, 100, 101, 900, 100_000)],
        (dict, 100_000),
        (tuple, 5_000),
        (Node, 20_000),
        (Point, 10_000),
    ],
)
def test_any_depth(kind: type, depth: int) -> None:
    """Deep values are compared down to the innermost one."""
    deep = nested(depth, 1, kind)
    assert count_after(deep, nested(depth, 1.0, kind)) == 2
    assert count_after(deep, nested(depth, 2, kind)) == 1


def test_depth_under_a_raised_recursion_limit() -> None:
    """A host that lifts Python's recursion limit does not get its stack overrun by the guard."""
    code = (
        "import sys; sys.setrecursionlimit(10**7)\n"
        "from langchain_repeat_guard.core.arguments import fingerprint\n"
        "value = 1\n"
        "for _ in range(100_000): value = {'a': [value]}\n"
        "print(len(fingerprint('tool', value)[1]))\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(  # noqa: S603  our own interpreter and code
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False
    )
    assert (done.returncode, done.stdout) == (0, f"{100_000 * 8 + 1}\n")


def test_little_stack_left() -> None:
    """Near the end of the stack the guard still does not raise."""

    def descend() -> int:
        try:
            return descend()
        except RecursionError:
            return len(fingerprint("tool", {"a": [{"b": 1.5}]}))

    assert descend() == 2


def cyclic_list(*members: object) -> list[object]:
    value = [*members]
    value.append(value)
    return value


def test_cycles() -> None:
    """A value that contains itself is compared by its shape."""
    assert are_identical(cyclic_list(1), cyclic_list(1))
    assert not are_identical(cyclic_list(1), cyclic_list(2))
    assert quoted(cyclic_list(1)) == "[1,cycle(1)]"


def test_cycle_through_other_kinds() -> None:
    """A cycle names how many levels up it leads, through mappings, models and dataclasses."""
    inner: dict[str, object] = {}
    span = Span(start=inner)
    inner["back"] = Point.model_construct(x=span)
    assert quoted([span]) == (
        '[helpers.argument_values.Span({"end":0,"start":{"back":helpers.argument_values.Point({"x":cycle(3),"y":0})}})]'
    )


def test_shared_parts_are_no_cycle() -> None:
    """A part that occurs twice is written twice: only what contains itself is a cycle."""
    part = {1: [2]}
    assert are_identical([part, part], [{1: [2]}, {1: [2]}])


def doubled(times: int, innermost: object) -> object:
    """Return a value that takes little memory, but whose text doubles with each level."""
    value = innermost
    for _ in range(times):
        value = [value, value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(doubled(90, []), id="few-parts"),
        pytest.param([doubled(90, [])] * 20, id="many-parts"),
        pytest.param(doubled(90, {1: 1}), id="beyond-json"),
    ],
)
def test_parts_that_multiply_without_end(value: object) -> None:
    """A value with more parts than a computer can visit equals nothing, and is left alone."""
    assert count_after(value, value) == 1


def test_parts_that_multiply_within_reason() -> None:
    """Shared parts are compared as if each stood alone."""
    assert are_identical(doubled(10, {"a": 1.0}), json.loads(json.dumps(doubled(10, {"a": 1}))))


def test_later_changes_do_not_reach_back() -> None:
    """The chain keeps nothing of the arguments: the caller may change them afterwards."""
    arguments = {"ids": [1]}
    key_before = fingerprint("tool", arguments)[0]
    arguments["ids"].append(2)
    assert (fingerprint("tool", {"ids": [1]})[0] == key_before, arguments) == (
        True,
        {"ids": [1, 2]},
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(("g", 11), ("g1", 1), id="digit"),
        pytest.param(("g", ""), ('g""', None), id="quotes"),
        pytest.param(("a\0b", 1), ("a", "b\0"), id="nul"),
        pytest.param(("\ud800", 1), ("\ufffd", 1), id="surrogate"),
        pytest.param(("Grep", 1), ("grep", 1), id="case"),
        pytest.param(("grep ", 1), ("grep", 1), id="space"),
    ],
)
def test_name_and_arguments_are_kept_apart(first: Any, second: Any) -> None:
    """The key tells the name from the arguments, and names are compared exactly."""
    assert fingerprint(*first)[0] != fingerprint(*second)[0]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        pytest.param({"q": "a"}, '{"q":"a"}', id="json"),
        pytest.param({"q": {"b", "a"}}, '{"q":set(["a","b"])}', id="set"),
        pytest.param({"q": LONG_TEXT}, f'{{"q":"{LONG_TEXT}"}}', id="large"),
    ],
)
def test_key_is_the_same_in_every_process(arguments: object, text: str) -> None:
    """The key is 128 bits of a hash of name and canonical text, so that any worker can go on."""
    expected = hashlib.sha256(b"grep\0" + text.encode()).hexdigest()[:32]
    assert fingerprint("grep", arguments) == (expected, text)


SAME_ARGUMENTS_CASES = [
    pytest.param({"a": 1, "b": "x"}, {"a": 1, "b": "x"}, True, id="same"),
    pytest.param({"a": 1, "b": "x"}, {"b": "x", "a": 1}, True, id="key-order"),
    pytest.param({"a": 1}, {"a": 1.0}, True, id="spelling"),
    pytest.param({"a": [1]}, {"a": [1]}, True, id="nested"),
    pytest.param("x", "x", True, id="text"),
    pytest.param({"a": 1}, {"a": True}, False, id="true-one"),
    pytest.param({"a": 1, "b": True}, {"b": 1, "a": True}, False, id="true-and-one-swapped"),
    pytest.param({"a": 1}, {"a": 2}, False, id="other-value"),
    pytest.param({"a": 1}, {"a": 1, "b": 1}, False, id="more-keys"),
    pytest.param({"a": object()}, {"a": 1}, False, id="incomparable"),
]


@pytest.mark.parametrize(("first", "second", "is_same"), SAME_ARGUMENTS_CASES)
def test_same_arguments(first: object, second: object, is_same: bool) -> None:
    """The shortcut for flat objects gives the verdict that the full comparison gives."""
    same = SameArguments("tool", first, fingerprint("tool", first)[0])
    assert (second in same) is is_same


def test_incomparable_arguments_are_not_the_same() -> None:
    """What equals nothing is not the same as itself either."""
    arguments = {"a": object()}
    assert arguments not in SameArguments("tool", arguments, "")


def test_the_careful_writer_says_what_it_cannot_compare() -> None:
    """An object without a value is refused by type, never by its `repr`."""
    with pytest.raises(NotComparableError):
        write(object())
