"""Canonical text of any Python value: equal values give equal text, different ones different text.

Objects are written with sorted keys and lists in their order, as the original plugin does it.
No `repr` or `str` of a user's class is ever asked: it may raise, lie, or show an address.

What cannot be compared honestly, and what happens to it:

- Objects without a value (plain objects, functions, classes, locks, generators), sets nested
  deeper than the stack, and more than 300,000 lists and objects: refused, they equal nothing.
- Dataclasses, models and enums are compared by the name of their type and their fields, so that
  two classes of one module and name are the same.
- A subclass of a built-in type is taken for that type; what it adds is not seen.
- From 1e21 on, an int and a float of the same size are spelt differently, and so differ.
- An int with more digits than the interpreter prints is spelt in hexadecimal: processes that share
  a chain have to share that limit.
"""

import dataclasses
import enum
import operator
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel

from langchain_repeat_guard.core.scalars import (
    MOST_CONTAINERS,
    NotComparableError,
    join_surrogates,
    scalar_text,
    string_text,
)

# A container as the writer sees it: what opens it, its members, each behind a prefix, what ends it.
_Container = tuple[str, Iterable[tuple[str, object]], str]


def write(value: object) -> str:
    """Return the canonical text of `value`, at any depth.

    Raises:
        NotComparableError: Some part has no honest text, or there are too many of them.
        Exception: Whatever an object among the arguments raises when it is looked at.
    """
    out: list[str] = []
    todo = _steps(("", [("", value)], ""))
    is_open: dict[int, tuple[int, object]] = {}
    while todo:
        action, item = todo.pop()
        if action == "text":
            out.append(item)
        elif action == "leave":
            del is_open[item]
        elif id(item) in is_open:
            out.append(f"cycle({len(is_open) - is_open[id(item)][0]})")
        elif len(out) > MOST_CONTAINERS:
            raise NotComparableError
        else:
            is_open[id(item)] = (len(is_open), item)
            todo.append(("leave", id(item)))
            todo += reversed(_steps(_container(item)))
    return "".join(out)


def _steps(container: _Container) -> list[tuple[str, Any]]:
    """Return what is to be written, in order: text as it is, and containers to be opened."""
    opening, members, closing = container
    steps: list[tuple[str, Any]] = []
    texts = [opening]
    comma = ""
    for prefix, member in members:
        text = scalar_text(member)
        if text is None:
            texts.append(f"{comma}{prefix}")
            steps += [("text", "".join(texts)), ("container", member)]
            texts = []
        else:
            texts.append(f"{comma}{prefix}{text}")
        comma = ","
    texts.append(closing)
    return [*steps, ("text", "".join(texts))]


def _container(value: Any) -> _Container:
    kind = type(value)
    if kind is dict:
        return "{", _entries(value), "}"
    if kind is list:
        return "[", _items(value), "]"
    return _special_container(value, kind)


def _special_container(value: Any, kind: type) -> _Container:
    if issubclass(kind, enum.Enum):
        identity = value.value if issubclass(kind, enum.Flag) else value.name
        return f"{_name_of(kind)}(", [("", identity)], ")"
    if issubclass(kind, BaseModel):
        return f"{_name_of(kind)}({{", _entries(_model_parts(value)), "})"
    if dataclasses.is_dataclass(kind):
        names = [field.name for field in dataclasses.fields(kind) if field.compare]
        return f"{_name_of(kind)}({{", _entries({n: getattr(value, n) for n in names}), "})"
    if issubclass(kind, Mapping):
        return "{", _entries(value), "}"
    if issubclass(kind, list | tuple):
        return "[", _items(value), "]"
    if issubclass(kind, set | frozenset):
        return f"set([{','.join(sorted(map(write, value)))}", (), "])"
    raise NotComparableError


def _items(members: Iterable[object]) -> Iterable[tuple[str, object]]:
    return (("", member) for member in members)


def _model_parts(model: BaseModel) -> dict[str, object]:
    # What pydantic itself compares: a cached property, for one, is no part of a model's value.
    fields = {name: model.__dict__[name] for name in type(model).model_fields}
    return {**fields, **(model.__pydantic_extra__ or {}), **(model.__pydantic_private__ or {})}


def _entries(mapping: Mapping[Any, object]) -> list[tuple[str, object]]:
    entries = [(*_key(key), member) for key, member in mapping.items()]
    entries.sort(key=operator.itemgetter(0))
    return [(f"{text}:", member) for _, text, member in entries]


def _key(key: object) -> tuple[tuple[str, ...], str]:
    """Return what a key is sorted by, and its text: strings first, by their characters."""
    if not isinstance(key, str):
        text = write(key)
        return ("other", text), text
    raw = str.__str__(key)
    # Keys that differ only in how a character is spelt still need one order.
    return ("", join_surrogates(raw), raw), string_text(raw)


def _name_of(kind: type) -> str:
    return kind.__module__ + "." + kind.__qualname__
