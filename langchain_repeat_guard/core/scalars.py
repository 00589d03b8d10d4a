"""Canonical text of single values: numbers, strings, dates, bytes and the like.

Values that JSON has give compact JSON with ECMAScript numbers, as the original plugin writes it.
All others give a form that no JSON value has, such as `date("2026-01-31")`. A subclass is taken
for the kind of value that it inherits from, as its `==` does.
"""

import contextlib
import datetime as dt
import decimal
import hashlib
import json
import math
import pathlib
import uuid
from collections.abc import Callable
from typing import Any

MOST_CONTAINERS = 300_000
"""Parts that share parts can multiply without end: a value of more containers is not compared."""

_BYTES_SHOWN = 256
_DECIMAL_DIGITS_OF_AN_INT = 4_000

_encode_string = json.JSONEncoder(ensure_ascii=False).encode


class NotComparableError(TypeError):
    """A value has no text that is equal exactly when the value is."""


def scalar_text(value: object) -> str | None:
    """Return the canonical text of a single value, or None for anything else."""
    kind = type(value)
    write = _WRITERS.get(kind) or _inherited_writer(kind)
    return write(value) if write else None


def string_text(value: str) -> str:
    """Return `value` as a JSON string: non-ASCII as it is, lone surrogates escaped."""
    text = _encode_string(join_surrogates(str.__str__(value)))
    return text if _is_encodable(text) else _escape_lone(text)


def join_surrogates(text: str) -> str:
    """Return `text` with each pair of surrogates joined to the one character it stands for."""
    if _is_encodable(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def as_json_number(value: float) -> float | None:
    """Return what the standard encoder writes as ECMAScript writes `value`; None for rare sizes."""
    size = abs(value)
    if size < 1e16 and value.is_integer():  # noqa: PLR2004  from here on `repr` has an exponent
        return int(value)
    if 1e-4 <= size < 1e16 or 0 < size < 1e-9 or 1e21 <= size < math.inf:  # noqa: PLR2004
        return value
    return None


def rare_number_text(value: float) -> str:
    """Write a float, for which `as_json_number` has no answer, as ECMAScript's toString does."""
    if math.isnan(value):
        return 'float("nan")'  # JavaScript has no say here: its JSON has no NaN
    sign = "-" if value < 0 else ""
    if math.isinf(value):
        return f"{sign}Infinity"
    mantissa, _, power = float.__repr__(abs(value)).partition("e")
    digits, exponent = mantissa.replace(".", ""), int(power)
    if exponent > 0:
        return f"{sign}{digits.ljust(exponent + 1, '0')}"
    if exponent > -7:  # noqa: PLR2004  the bound is ECMAScript's
        return f"{sign}0.{'0' * (-exponent - 1)}{digits}"
    return f"{sign}{mantissa}e{exponent}"


def _inherited_writer(kind: type) -> Callable[[Any], str] | None:
    return next((_WRITERS[base] for base in kind.__mro__ if base in _WRITERS), None)


def _is_encodable(text: str) -> bool:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return False
    return True


def _escape_lone(json_string: str) -> str:
    # Backslashes of the value itself are doubled, so that these escapes are told from them.
    return json_string.encode("utf-8", "backslashreplace").decode()


def _integer(value: int) -> str:
    try:
        return int.__repr__(value)
    except ValueError:  # longer than the interpreter's limit for decimal digits
        return hex(value)


def _float(value: float) -> str:
    value = float.__float__(value)
    number = as_json_number(value)
    return rare_number_text(value) if number is None else repr(number)


def _decimal(value: decimal.Decimal) -> str:
    """Write a Decimal as the number that it equals, where an int or a float equals it."""
    if value.is_nan():
        return f'decimal("{decimal.Decimal.__str__(value)}")'
    nearest = float(value)
    if value.is_infinite():
        return _float(nearest)
    if value.adjusted() < _DECIMAL_DIGITS_OF_AN_INT and value == value.to_integral_value():
        return _integer(int(value))
    if value == decimal.Decimal(nearest):
        return _float(nearest)
    sign, digits, exponent = value.as_tuple()
    text = "".join(map(str, digits))
    short = text.rstrip("0")
    return f'decimal("{"-" * sign}{short}e{int(exponent) + len(text) - len(short)}")'


def _complex(value: complex) -> str:
    if value.imag == 0:
        return _float(value.real)
    return f"complex({_float(value.real)},{_float(value.imag)})"


def _datetime(value: dt.datetime) -> str:
    if value.utcoffset() is not None:
        # At the very ends of the calendar there is no such moment in UTC.
        with contextlib.suppress(OverflowError):
            value = value.astimezone(dt.UTC)
    return f'datetime("{dt.datetime.isoformat(value)}")'


def _date(value: dt.date) -> str:
    return f'date("{dt.date.isoformat(value)}")'


def _time(value: dt.time) -> str:
    offset = value.utcoffset()
    if offset is None:
        return f'time("{dt.time.isoformat(value)}")'
    since_midnight = dt.timedelta(
        hours=value.hour,
        minutes=value.minute,
        seconds=value.second,
        microseconds=value.microsecond,
    )
    return f"time(utc,{_timedelta(since_midnight - offset)})"


def _timedelta(value: dt.timedelta) -> str:
    return f"timedelta({value.days},{value.seconds},{value.microseconds})"


def _bytes(value: bytes | bytearray | memoryview) -> str:
    data = memoryview(value)
    if data.format != "B" or data.ndim != 1:
        raise NotComparableError
    if data.nbytes <= _BYTES_SHOWN:
        return f'bytes("{data.hex()}")'
    digest = hashlib.sha256(data).hexdigest()
    return f'bytes(length={data.nbytes},sha256="{digest}")'


def _path(value: pathlib.PurePath) -> str:
    text = value.as_posix()
    if isinstance(value, pathlib.PureWindowsPath):
        return f"path(windows,{string_text(text.lower())})"
    return f"path(posix,{string_text(text)})"


_WRITERS: dict[type, Callable[[Any], str]] = {
    str: string_text,
    int: _integer,
    bool: lambda value: "true" if value else "false",
    type(None): lambda _: "null",
    float: _float,
    complex: _complex,
    decimal.Decimal: _decimal,
    dt.datetime: _datetime,
    dt.date: _date,
    dt.time: _time,
    dt.timedelta: _timedelta,
    bytes: _bytes,
    bytearray: _bytes,
    memoryview: _bytes,
    uuid.UUID: lambda value: f'uuid("{value.hex}")',
    pathlib.PurePath: _path,
}
