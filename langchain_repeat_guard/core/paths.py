"""Arguments with some of them left out."""

from collections.abc import Iterable, Sequence
from typing import Any

from langchain_repeat_guard.core.patterns import matches_any


def without(arguments: Any, paths: Iterable[str]) -> Any:
    """Return `arguments` without what the dotted `paths` name. The original stays as it is."""
    for path in paths:
        arguments = _drop(arguments, path.split("."))
    return arguments


def _drop(value: Any, path: Sequence[str]) -> Any:
    key, *rest = path
    if isinstance(value, dict):
        if not rest:
            return {name: part for name, part in value.items() if not _is_named(name, key)}
        return {
            name: _drop(part, rest) if _is_named(name, key) else part
            for name, part in value.items()
        }
    if isinstance(value, list | tuple):
        if not rest:
            return [part for index, part in enumerate(value) if not _is_named(str(index), key)]
        return [
            _drop(part, rest) if _is_named(str(index), key) else part
            for index, part in enumerate(value)
        ]
    return value


def _is_named(name: object, key: str) -> bool:
    return isinstance(name, str) and matches_any((key,), name)
