"""Canonical text of plain JSON values, by the standard encoder, which is fast.

What the encoder would write otherwise than the canonical form is refused, never approximated.
"""

import json
from collections.abc import Collection, Iterable, Iterator
from itertools import chain, count
from typing import Any

from langchain_repeat_guard.core.scalars import (
    MOST_CONTAINERS,
    NotComparableError,
    as_json_number,
    rare_number_text,
)

JSON_SCALARS = frozenset({str, int, bool, type(None)})
_STRING = frozenset({str})
_LISTS = frozenset({list, tuple})
_PLAIN = _LISTS | {dict, float}

# So many parts are looked at together; fewer are faster looked at one by one.
_MANY = 16

# Far below where the encoder, which recurses in C, could exhaust the stack.
_DEEPEST = 100

# Encloses a number that the encoder spells otherwise. No text that can be encoded holds it.
_MARK = "\udfff"

# Cycles never reach the encoder: what is deep is refused before.
_encode = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), check_circular=False
).encode


def write_plain(value: object) -> str:
    """Return the canonical text of `value`, if it is made of what `json.loads` returns.

    Lone surrogates stay as they are, so that the text of a value with one cannot be encoded.

    Raises:
        NotComparableError: Some part is of another type, NaN, or deep.
        ValueError: An integer has too many digits.
    """
    rare: list[str] = []
    text = _encode(_for_encoder(value, rare, count(), 0))
    if not rare:
        return text
    if text.count(_MARK) != 2 * len(rare):
        raise NotComparableError  # a string among the values holds the mark too
    return text.replace(f'"{_MARK}', "").replace(f'{_MARK}"', "")


def _for_encoder(value: Any, rare: list[str], opened: Iterator[int], depth: int) -> Any:
    """Return `value` with floats as the encoder has to be given them, or refuse it."""
    kind = type(value)
    if kind is dict and _STRING.issuperset(map(type, value)):
        if _is_encoded_as_it_is(value.values()):
            return value
        deeper = _deeper(opened, depth)
        return {
            key: part if type(part) in JSON_SCALARS else _for_encoder(part, rare, opened, deeper)
            for key, part in value.items()
        }
    if kind is list or kind is tuple:
        if _is_encoded_as_it_is(value):
            return value
        deeper = _deeper(opened, depth)
        return [
            part if type(part) in JSON_SCALARS else _for_encoder(part, rare, opened, deeper)
            for part in value
        ]
    if kind is float:
        number = as_json_number(value)
        return _marked(value, rare) if number is None else number
    if kind in JSON_SCALARS:
        return value
    raise NotComparableError


def _deeper(opened: Iterator[int], depth: int) -> int:
    if depth >= _DEEPEST or next(opened) >= MOST_CONTAINERS:
        raise NotComparableError
    return depth + 1


def _is_encoded_as_it_is(parts: Collection[Any]) -> bool:
    return JSON_SCALARS.issuperset(map(type, parts)) or (
        len(parts) >= _MANY and not _has_floats(parts)
    )


def _has_floats(parts: Iterable[Any]) -> bool:
    """Tell whether there are floats anywhere in `parts`, all of which must be plain.

    One level of nesting after another, as a visit to each part would cost more than the encoding.
    """
    has_floats = False
    visited = 0
    level = [*parts]
    for _ in range(_DEEPEST):
        level = [part for part in level if type(part) not in JSON_SCALARS]
        kinds = set(map(type, level))
        if not kinds:
            return has_floats
        has_floats = has_floats or float in kinds
        dicts = [part for part in level if type(part) is dict] if dict in kinds else []
        lists = [part for part in level if type(part) in _LISTS]
        visited += len(dicts) + len(lists)
        if not kinds <= _PLAIN or visited > MOST_CONTAINERS:
            break
        if not _STRING.issuperset(map(type, chain.from_iterable(dicts))):
            break
        level = [*chain.from_iterable(lists), *chain.from_iterable(map(dict.values, dicts))]
    raise NotComparableError


def _marked(value: float, rare: list[str]) -> str:
    if value != value:  # noqa: PLR0124  NaN, whose text has quotes, which would be escaped
        raise NotComparableError
    text = f"{_MARK}{rare_number_text(value)}{_MARK}"
    rare.append(text)
    return text
