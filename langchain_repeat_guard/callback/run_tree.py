"""Which run is which: LangChain's runs as a tree, and the agent that a run belongs to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

from langchain_repeat_guard.callback.issued import IssuedStep, LooseCall
from langchain_repeat_guard.callback.ledger import Ledger
from langchain_repeat_guard.callback.parking import Parked

Kind = Literal["chain", "tool"]

_GRAPH_STEP = "graph:step:"
_START = "__start__"
_WRAPPER = "RunnableSequence"


@dataclass(eq=False, slots=True)
class Run:
    """A run of a chain or tool that has not ended."""

    run_id: UUID
    parent: "Run | None"
    kind: Kind
    name: str | None
    metadata: Mapping[str, Any]
    task: "Run | None" = None
    """The nearest run that is a graph's task, this one included."""

    is_task: bool = False
    is_nested: bool = False
    """Whether a tool of the same agent is at work above: its inner calls are not the agent's."""

    is_executor: bool = False
    """Whether this is an `AgentExecutor`, which announces its calls itself."""

    resumes: bool = False
    """Whether this run was started without new input."""

    ledger: Ledger | None = None
    """The account of the agent whose own run this is."""

    parked: Parked = field(default_factory=dict)
    """On the run of an outermost graph: what interrupted agents below it have left."""

    host: "Run | None" = None
    """For a tool's run: the agent that has called it."""

    issued: tuple[IssuedStep, int] | None = None
    """For a tool's run: the call that it executes."""

    loose: LooseCall | None = None
    """For a tool's run: its call, where no message has announced it."""

    calls_announced: int = 0
    """For an `AgentExecutor`: how many calls it has announced."""

    calls_over: int = 0
    """For an `AgentExecutor`: how many of the calls that are not counted have ended."""

    tree: "dict[int, Run]" = field(default_factory=dict)
    """On a root: all runs of its tree that have not ended."""

    @property
    def root(self) -> "Run":
        """The outermost run above this one."""
        run = self
        while run.parent:
            run = run.parent
        return run

    @property
    def namespace(self) -> str:
        """The checkpoint namespace of the task at work, right at any depth."""
        return str(self.metadata.get("langgraph_checkpoint_ns") or "")

    @property
    def step(self) -> int:
        """The superstep."""
        return int(self.metadata.get("langgraph_step") or 0)

    @property
    def node(self) -> str | None:
        """The name of the graph's node."""
        return self.metadata.get("langgraph_node")

    @property
    def is_entrypoint(self) -> bool:
        """Whether a task is the body of a functional workflow, where code calls the model."""
        return _START in (self.metadata.get("langgraph_triggers") or ())

    @property
    def outermost_graph(self) -> "Run":
        """The outermost graph above a graph's run, or itself."""
        run = self
        while run.task and run.task.parent:
            run = run.task.parent
        return run

    @property
    def task_id(self) -> int | None:
        """The id of the task that does this run again if it fails.

        None where there is no task, or where a `@task` keeps the results of this run.
        """
        if self.task is None or self.namespace != self.task.namespace:
            return None
        return self.task.run_id.int

    def find_host(self) -> "Run | None":
        """Return the run of the agent whose model and tools run directly below this run.

        A graph is an agent; without one it is the chain that calls the tools.
        """
        if executor := self._executor():
            return executor
        if self.kind == "tool":
            return None
        if self.task:
            return None if self.is_nested else self.task.parent
        run = self
        while run.name == _WRAPPER and run.parent and run.parent.kind == "chain":
            run = run.parent
        return run

    def _executor(self) -> "Run | None":
        """Return the `AgentExecutor` that this run belongs to, if any, in the same task or tool."""
        run: Run | None = self
        while run and run.kind == "chain" and not run.is_task:
            if run.is_executor:
                return run
            run = run.parent
        return None


class RunTree:
    """The runs that have started and not ended, at most `max_runs`; the oldest tree is given up."""

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
        *,
        name: str | None,
        tags: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Run | None:
        """Add a run and return it, or None if it is known: the handler is attached twice."""
        key = run_id.int
        if key in self._runs:
            return None
        parent = self._runs.get(parent_run_id.int) if parent_run_id else None
        run = Run(run_id, parent, kind, name, metadata or {})
        if parent is None:
            self._roots[key] = run
        elif tags and any(tag.startswith(_GRAPH_STEP) for tag in tags):
            run.is_task, run.task = True, run
        else:
            run.task = parent.task
            run.is_nested = parent.is_nested or parent.kind == "tool"
        self._runs[key] = run
        run.root.tree[key] = run
        if len(self._runs) > self._max_runs:
            self._forget_tree(next(iter(self._roots.values())))
        return run

    def end(self, run_id: UUID) -> Run | None:
        """Take the run out and return it, None if it is not held. A root takes its tree along."""
        run = self._runs.pop(run_id.int, None)
        if run is None:
            return None
        if run.parent is None:
            self._forget_tree(run)
        else:
            run.root.tree.pop(run_id.int, None)
        return run

    def _forget_tree(self, root: Run) -> None:
        self._roots.pop(root.run_id.int, None)
        for key in root.tree:
            self._runs.pop(key, None)
        root.tree = {}
