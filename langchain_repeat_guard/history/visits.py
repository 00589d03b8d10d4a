"""The chains of several graphs under one state key, which subgraphs share with their parents.

The outermost graph's chain is the value itself; those of visits to subgraphs stand in it under a
key of their own, so that neither a visit nor the parent goes on with the other's.
"""

from collections.abc import Iterator
from typing import Any

from langchain_repeat_guard.history.tokens import short_digest

VISITS = "visits"
"""Key of the visits' chains in the state channel. Absent in the outermost graph's own value."""

_STATEFUL = "*"


def part_of(stored: Any, namespace: str) -> Any:
    """Return what the channel holds for a graph, as it is; None where it holds nothing for it.

    Args:
        stored: The channel's value.
        namespace: The graph's checkpoint namespace, which tells a visit from others.
    """
    if not isinstance(stored, dict) or (not namespace and VISITS not in stored):
        return stored
    if not namespace:
        return {key: value for key, value in stored.items() if key != VISITS}
    visits = stored.get(VISITS)
    return visits.get(_key(namespace)) if isinstance(visits, dict) else None


def with_part(stored: Any, namespace: str, part: dict[str, Any]) -> dict[str, Any]:
    """Return the channel's value once `part` is what it holds for the graph with this namespace.

    Of the others, those stay that go on: the graphs around it, and subgraphs with a memory.
    """
    if not namespace and not (isinstance(stored, dict) and VISITS in stored):
        return part
    outer = {**stored} if isinstance(stored, dict) else {}
    visits = outer.pop(VISITS, None)
    around = {_key(one) for one in _around(namespace)}
    kept = {
        key: value
        for key, value in (visits.items() if isinstance(visits, dict) else ())
        if key in around or str(key).startswith(_STATEFUL)
    }
    if namespace:
        kept[_key(namespace)] = part
    else:
        outer = part
    return {**outer, VISITS: kept} if kept else outer


def _around(namespace: str) -> Iterator[str]:
    while namespace := namespace.rpartition("|")[0]:
        yield namespace


def _key(namespace: str) -> str:
    # Where no task id is part of a namespace, all visits have it, and go on with each other.
    digest = short_digest(namespace)
    return digest if ":" in namespace else _STATEFUL + digest
