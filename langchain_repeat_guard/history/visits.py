"""The chains of several graphs under one state key, which subgraphs share with their parents.

The outermost graph's chain is the value itself; those of visits to subgraphs stand in it under a
key of their own, so that neither a visit nor the parent goes on with the other's.
"""

import hashlib
from typing import Any

from langchain_core.runnables import RunnableConfig

from langchain_repeat_guard.history.whereabouts import graph_namespace

VISITS = "visits"
"""Key of the visits' chains in the state channel. Absent in the outermost graph's own value."""

_REMEMBERED_VISITS = 4
_DIGEST_CHARS = 8


def current_visit(config: RunnableConfig | None) -> str:
    """Return what tells the visit that a node runs in from others; empty in the outermost graph."""
    namespace = graph_namespace(config)
    return hashlib.sha256(namespace.encode()).hexdigest()[:_DIGEST_CHARS] if namespace else ""


def part_of(stored: Any, visit: str) -> Any:
    """Return what the channel holds for `visit`, as it is; None where it holds nothing for it."""
    if not isinstance(stored, dict):
        return stored
    if not visit:
        return {key: value for key, value in stored.items() if key != VISITS}
    visits = stored.get(VISITS)
    return visits.get(visit) if isinstance(visits, dict) else None


def with_part(stored: Any, visit: str, part: dict[str, Any]) -> dict[str, Any]:
    """Return the channel's value once `part` is what it holds for `visit`.

    The outermost graph drops the others: when it goes on, the visits are over.
    """
    if not visit:
        return part
    outer = stored if isinstance(stored, dict) else {}
    visits = outer.get(VISITS)
    others = {**visits} if isinstance(visits, dict) else {}
    others.pop(visit, None)
    kept = dict([*others.items()][1 - _REMEMBERED_VISITS :])
    return {**outer, VISITS: {**kept, visit: part}}
