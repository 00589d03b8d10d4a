"""Where among LangGraph's nested graphs the code in progress runs."""

from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config


def task_namespace(config: RunnableConfig | None = None) -> str:
    """Return the checkpoint namespace of the task in progress; empty outside of any graph.

    Args:
        config: The node's config; the current one where None.
    """
    return str(_metadata(config).get("langgraph_checkpoint_ns") or "")


def graph_namespace(config: RunnableConfig | None = None) -> str:
    """Return the checkpoint namespace of the graph that runs now; empty for the outermost one.

    Each visit of a subgraph has one of its own, which stays the same when the visit is resumed or
    replayed. A subgraph that is compiled with `checkpointer=True` has one for all its visits.

    Args:
        config: The node's config; the current one where None.
    """
    # A task's namespace ends in its node and task id.
    return task_namespace(config).rpartition("|")[0]


def in_another_graph() -> bool:
    """Tell whether the graph that runs now is part of another one."""
    return bool(graph_namespace())


def is_first_superstep() -> bool:
    """Tell whether no node of the graph that runs now has run before, in this visit."""
    return bool(_metadata(None).get("langgraph_step") == 1)


def _metadata(config: RunnableConfig | None) -> dict[str, Any]:
    return (config or ensure_config()).get("metadata") or {}
