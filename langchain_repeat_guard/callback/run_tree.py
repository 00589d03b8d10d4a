"""Which run is which: LangChain's runs as a tree, and the agent that a run belongs to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

from langchain_repeat_guard.callback.ledger import Ledger

Kind = Literal["chain", "tool"]

_GRAPH_STEP = "graph:step:"
_START = "__start__"


@dataclass(eq=False, slots=True)
class Run:
    """One run of a chain or tool that has not ended."""

    run_id: UUID
    parent: "Run | None"
    kind: Kind
    name: str | None
    root: "Run"
    task: "Run | None"
    """The nearest run that is a graph's task, this one included."""

    is_nested: bool
    """Whether a tool of the same agent is at work above: its inner calls are not the agent's."""

    metadata: Mapping[str, Any]
    is_task: bool = False
    is_executor: bool = False
    """Whether this is an `AgentExecutor`, which announces its calls itself."""

    ledger: Ledger | None = None
    """The account of the agent whose own run this is."""

    tree: dict[int, "Run"] = field(default_factory=dict)
    """On a root: all runs below it that have not ended."""

    @property
    def namespace(self) -> str:
        """A task's own checkpoint namespace; unlike `checkpoint_ns` it is right at any depth."""
        return str(self.metadata.get("langgraph_checkpoint_ns") or "")

    @property
    def step(self) -> int:
        """A task's superstep."""
        return int(self.metadata.get("langgraph_step") or 0)

    @property
    def node(self) -> str | None:
        """The name of the node that a task runs."""
        node = self.metadata.get("langgraph_node")
        return None if node is None else str(node)

    @property
    def is_entrypoint(self) -> bool:
        """Whether a task is the body of a functional workflow, which calls models in a loop."""
        return _START in (self.metadata.get("langgraph_triggers") or ())

    @property
    def agent_run(self) -> "Run | None":
        """The run of the agent whose calls stand directly below this run, if there is one."""
        if self.is_executor:
            return self
        if self.task is None:
            return None if self.kind == "tool" else self
        if self.is_nested or self.kind == "tool":
            return None
        return self.task.parent


class RunTree:
    """The runs that have started and not ended, at most `max_runs` of them, oldest given up."""

    def __init__(self, max_runs: int) -> None:
        """Start empty."""
        self._max_runs = max_runs
        self._runs: dict[int, Run] = {}
        self._roots: dict[int, Run] = {}

    def __len__(self) -> int:
        """Count the runs held."""
        return len(self._runs)

    def get(self, run_id: UUID | None) -> Run | None:
        """Return the run with `run_id` if it is held."""
        return None if run_id is None else self._runs.get(run_id.int)

    def start(
        self,
        run_id: UUID,
        parent_run_id: UUID | None,
        kind: Kind,
        name: str | None,
        tags: Sequence[str] | None,
        metadata: Mapping[str, Any] | None,
    ) -> Run | None:
        """Add a run and return it, or None if it is known: the handler is attached twice."""
        key = run_id.int
        if key in self._runs:
            return None
        parent = self.get(parent_run_id)
        run = _child(run_id, parent, kind, name, metadata or {}) if parent else None
        if run is None:
            run = _root(run_id, kind, name, metadata or {})
            self._roots[key] = run
        if tags and run.parent and any(tag.startswith(_GRAPH_STEP) for tag in tags):
            run.is_task, run.task, run.is_nested = True, run, False
        self._runs[key] = run
        run.root.tree[key] = run
        if len(self._runs) > self._max_runs:
            self._give_up_oldest()
        return run

    def end(self, run_id: UUID) -> Run | None:
        """Take the run out and return it, or None if it is not held. A root takes its tree along."""
        run = self._runs.pop(run_id.int, None)
        if run is None:
            return None
        run.root.tree.pop(run_id.int, None)
        if run.parent is None:
            self._forget_tree(run)
        return run

    def _give_up_oldest(self) -> None:
        self._forget_tree(next(iter(self._roots.values())))

    def _forget_tree(self, root: Run) -> None:
        self._roots.pop(root.run_id.int, None)
        for key in root.tree:
            self._runs.pop(key, None)
        root.tree.clear()


def _root(run_id: UUID, kind: Kind, name: str | None, metadata: Mapping[str, Any]) -> Run:
    # A root is its own root, which its constructor cannot say.
    run = Run(run_id, None, kind, name, None, None, is_nested=False, metadata=metadata)  # type: ignore[arg-type]
    run.root = run
    return run


def _child(
    run_id: UUID, parent: Run, kind: Kind, name: str | None, metadata: Mapping[str, Any]
) -> Run:
    is_nested = parent.is_nested or parent.kind == "tool"
    return Run(run_id, parent, kind, name, parent.root, parent.task, is_nested, metadata)
