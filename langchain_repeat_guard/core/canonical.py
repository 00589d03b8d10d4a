"""Canonical text of any Python value: equal values give equal text, different ones different text.

JSON values give compact JSON with sorted keys and ECMAScript numbers, as the original plugin
writes it. Everything else gives a form that no JSON value has, such as `date("2026-01-31")`.
No `repr` or `str` of a user's class is ever asked: it may raise, lie, or show an address.
"""

import dataclasses
import datetime
import decimal
import enum
import hashlib
import json
import math
import pathlib
import re
import uuid
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel

from langchain_repeat_guard.core.reminder import join_surrogates

JSON_SCALARS = frozenset({str, int, bool, type(None)})
_STRING_KEYS = frozenset({str})
_FLOAT_REPR_IS_ECMASCRIPT_FROM = 1e-4
_FLOAT_REPR_IS_ECMASCRIPT_UNTIL = 1e16
_BYTES_SHOWN = 256
_SURROGATES = re.compile("[\ud800-\udfff]")

_encode_string = json.JSONEncoder(ensure_ascii=False).encode

# A container as the writer sees it: what opens it, its members, each behind a prefix, what ends it.
_Container = tuple[str, Iterable[tuple[str, object]], str]


class NotComparableError(TypeError):
    """A value has no text that is equal exactly when the value is."""


def for_json_encoder(value: Any) -> Any:
    """Return `value` such that the standard encoder writes the canonical text, or raise.

    Floats that ECMAScript writes without a fraction become ints; nothing else is changed.

    Raises:
        NotComparableError: The encoder would write something else than the canonical text.
        RecursionError: `value` is very deep or contains itself.
    """
    kind = type(value)
    if kind is dict:
        if not _STRING_KEYS.issuperset(map(type, value)):
            raise NotComparableError
        if JSON_SCALARS.issuperset(map(type, value.values())):
            return value
        return {key: for_json_encoder(member) for key, member in value.items()}
    if kind is list or kind is tuple:
        if JSON_SCALARS.issuperset(map(type, value)):
            return value
        return [for_json_encoder(member) for member in value]
    if kind is float:
        return _encodable_float(value)
    if kind in JSON_SCALARS:
        return value
    raise NotComparableError


def _encodable_float(value: float) -> float:
    size = abs(value)
    if size < _FLOAT_REPR_IS_ECMASCRIPT_UNTIL:
        if value.is_integer():
            return int(value)
        if size >= _FLOAT_REPR_IS_ECMASCRIPT_FROM:
            return value
    raise NotComparableError


def write(value: object) -> str:
    """Return the canonical text of `value`, at any depth.

    Raises:
        NotComparableError: Some part has no honest text.
        Exception: Whatever an object among the arguments raises when it is looked at.
    """
    out: list[str] = []
    todo: list[tuple[str, Any]] = [("value", value)]
    is_open: dict[int, tuple[int, object]] = {}
    while todo:
        action, item = todo.pop()
        if action == "text":
            out.append(item)
        elif action == "leave":
            del is_open[item]
        elif (scalar := _scalar(item)) is not None:
            out.append(scalar)
        elif id(item) in is_open:
            out.append(f"cycle({len(is_open) - is_open[id(item)][0]})")
        else:
            opening, members, closing = _container(item)
            is_open[id(item)] = (len(is_open), item)
            out.append(opening)
            todo += [("leave", id(item)), ("text", closing)]
            todo += reversed(_with_commas(members))
    return "".join(out)


def _with_commas(members: Iterable[tuple[str, object]]) -> list[tuple[str, object]]:
    steps: list[tuple[str, object]] = []
    for prefix, member in members:
        text = "," + prefix if steps else prefix
        steps += [("text", text), ("value", member)]
    return steps


def _scalar(value: Any) -> str | None:  # noqa: PLR0911  one line per kind of value reads best
    if value is None:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, str):
        return _string(str.__str__(value))
    if isinstance(value, int):
        return _integer(value)
    if isinstance(value, float):
        return _float(float.__float__(value))
    for kind, text in _TEXT_OF.items():
        if isinstance(value, kind):
            return text(value)
    return None


def _container(value: Any) -> _Container:  # noqa: PLR0911  one line per kind of value reads best
    if isinstance(value, Mapping):
        return "{", _entries(value), "}"
    if isinstance(value, list | tuple):
        return "[", (("", member) for member in value), "]"
    if isinstance(value, set | frozenset):
        return f"set([{','.join(sorted(map(write, value)))}", (), "])"
    if isinstance(value, enum.Enum):
        return f"{_type_name(value)}(", [("", value.value)], ")"
    if isinstance(value, BaseModel):
        fields = {**vars(value), **(value.__pydantic_extra__ or {})}
        return f"{_type_name(value)}({{", _entries(fields), "})"
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value) if field.compare]
        fields = {name: getattr(value, name) for name in names}
        return f"{_type_name(value)}({{", _entries(fields), "})"
    raise NotComparableError(type(value).__name__)


def _entries(mapping: Mapping[Any, object]) -> list[tuple[str, object]]:
    keyed = [(_key(key), member) for key, member in mapping.items()]
    keyed.sort(key=lambda entry: entry[0])
    return [(f"{text}:", member) for (_, _, text), member in keyed]


def _key(key: object) -> tuple[bool, str, str]:
    # Strings first, in the order of their characters, as the standard encoder sorts them.
    if isinstance(key, str):
        plain = join_surrogates(str.__str__(key))
        return False, plain, _string(plain)
    text = write(key)
    return True, text, text


def _string(value: str) -> str:
    text = _encode_string(join_surrogates(value))
    if text.isascii():
        return text
    return _SURROGATES.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _integer(value: int) -> str:
    try:
        return int.__repr__(value)
    except ValueError:  # longer than the interpreter's limit for decimal digits
        return hex(value)


def _float(value: float) -> str:
    """Write a float as ECMAScript's Number::toString does."""
    if math.isnan(value):
        return 'float("nan")'  # JavaScript has no say here: its JSON has no NaN
    sign = "-" if value < 0 else ""
    if math.isinf(value):
        return f"{sign}Infinity"
    if value == 0:
        return "0"
    digits, exponent = _shortest_digits(abs(value))
    point = exponent + 1
    if -7 < exponent < 0:  # noqa: PLR2004  the bounds are ECMAScript's
        return f"{sign}0.{'0' * -point}{digits}"
    if 0 <= exponent < 21:  # noqa: PLR2004
        whole, rest = digits[:point].ljust(point, "0"), digits[point:]
        return f"{sign}{whole}.{rest}" if rest else f"{sign}{whole}"
    mantissa = f"{digits[0]}.{digits[1:]}" if digits[1:] else digits
    return f"{sign}{mantissa}e{exponent:+d}"


def _shortest_digits(value: float) -> tuple[str, int]:
    """Return the significant digits of a positive float, and the decimal exponent of the first."""
    mantissa, _, exponent = float.__repr__(value).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    leading_zeros = len(whole + fraction) - len(digits)
    return digits.rstrip("0"), int(exponent or 0) + len(whole) - 1 - leading_zeros


def _decimal(value: decimal.Decimal) -> str:
    """Write a Decimal as the number that it equals, where an int or float equals it."""
    if not value.is_finite():
        return f'decimal("{value}")'
    if value == 0:
        return "0"
    if value.adjusted() < 21 and value == value.to_integral_value():  # noqa: PLR2004
        return _integer(int(value))
    sign, digits, exponent = value.as_tuple()
    text = "".join(map(str, digits)).lstrip("0")
    short = text.rstrip("0")
    power = int(exponent) + len(text) - len(short)
    return f'decimal("{"-" * sign}{short}e{power}")'


def _datetime(value: datetime.datetime) -> str:
    if value.utcoffset() is not None:
        try:
            value = value.astimezone(datetime.UTC)
        except OverflowError:
            pass  # at the very ends of the calendar there is no such moment in UTC
    return f'datetime("{datetime.datetime.isoformat(value)}")'


def _bytes(value: bytes | bytearray | memoryview) -> str:
    data = memoryview(value)
    if data.nbytes <= _BYTES_SHOWN:
        return f'bytes("{data.hex()}")'
    digest = hashlib.sha256(data).hexdigest()
    return f'bytes(length={data.nbytes},sha256="{digest}")'


def _path(value: pathlib.PurePath) -> str:
    flavour = "windows" if isinstance(value, pathlib.PureWindowsPath) else "posix"
    return f"path({flavour},{_string(pathlib.PurePath.as_posix(value))})"


def _type_name(value: object) -> str:
    kind = type(value)
    return f"{kind.__module__}.{kind.__qualname__}"


_TEXT_OF: dict[Any, Any] = {
    decimal.Decimal: _decimal,
    datetime.datetime: _datetime,
    datetime.date: lambda value: f'date("{datetime.date.isoformat(value)}")',
    datetime.time: lambda value: f'time("{datetime.time.isoformat(value)}")',
    datetime.timedelta: lambda value: (
        f"timedelta({value.days},{value.seconds},{value.microseconds})"
    ),
    (bytes, bytearray, memoryview): _bytes,
    uuid.UUID: lambda value: f'uuid("{value.hex}")',
    pathlib.PurePath: _path,
    complex: lambda value: f"complex({_float(value.real)},{_float(value.imag)})",
}
