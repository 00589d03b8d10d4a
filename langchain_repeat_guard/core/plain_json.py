"""Canonical text of plain JSON values, by the standard encoder, which is fast.

What the encoder would write otherwise than the canonical form is refused, never approximated.
"""

import json
from typing import Any

from langchain_repeat_guard.core.scalars import (
    NotComparableError,
    as_json_number,
    rare_number_text,
)

JSON_SCALARS = frozenset({str, int, bool, type(None)})
_STRING_KEYS = frozenset({str})

# Far below where the encoder, which recurses in C, could exhaust the stack.
_DEEPEST = 100

# Encloses a number that the encoder spells otherwise. No text that can be encoded holds it.
_MARK = "\udfff"

_encode = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode


def write_plain(value: object) -> str:
    """Return the canonical text of `value`, if it is made of what `json.loads` returns.

    Lone surrogates stay as they are, so that the text of a value with one cannot be encoded.

    Raises:
        NotComparableError: Some part is of another type, NaN, or deep.
        ValueError: An integer has too many digits.
    """
    rare: list[str] = []
    text = _encode(_for_encoder(value, rare, 0))
    if not rare:
        return text
    if text.count(_MARK) != 2 * len(rare):
        raise NotComparableError  # a string among the values holds the mark too
    return text.replace(f'"{_MARK}', "").replace(f'{_MARK}"', "")


def _for_encoder(value: Any, rare: list[str], depth: int) -> Any:
    kind = type(value)
    if kind is dict and depth < _DEEPEST and _STRING_KEYS.issuperset(map(type, value)):
        if JSON_SCALARS.issuperset(map(type, value.values())):
            return value
        deeper = depth + 1
        return {
            key: member if type(member) in JSON_SCALARS else _for_encoder(member, rare, deeper)
            for key, member in value.items()
        }
    if (kind is list or kind is tuple) and depth < _DEEPEST:
        if JSON_SCALARS.issuperset(map(type, value)):
            return value
        deeper = depth + 1
        return [
            member if type(member) in JSON_SCALARS else _for_encoder(member, rare, deeper)
            for member in value
        ]
    if kind is float:
        number = as_json_number(value)
        return _marked(value, rare) if number is None else number
    if kind in JSON_SCALARS:
        return value
    raise NotComparableError


def _marked(value: float, rare: list[str]) -> str:
    if value != value:  # noqa: PLR0124  NaN, whose text has quotes, which would be escaped
        raise NotComparableError
    text = f"{_MARK}{rare_number_text(value)}{_MARK}"
    rare.append(text)
    return text
