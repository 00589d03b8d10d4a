"""What the handler reports about one reminder."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class ReminderRecord:
    """One reminder, and where in the run it belongs.

    Example:
        >>> from uuid import UUID
        >>> record = ReminderRecord(
        ...     tool="grep", count=3, threshold=3, text="You are repeating ...",
        ...     reminder_id="repeat_guard:run-1", run_id=UUID(int=1), agent_run_id=UUID(int=2),
        ... )
        >>> record.summary
        'grep × 3'
    """

    tool: str
    """Name of the repeated tool."""

    count: int
    """How many identical calls there are, as `counting` counts them."""

    threshold: int
    """The count that earned the reminder: the same number as `count`."""

    text: str = field(repr=False)
    """What a node or middleware would tell the model. The detailed form quotes the arguments."""

    reminder_id: str
    """The id that the delivered message has, too: equal ids are one reminder, replayed."""

    run_id: UUID
    """The outermost run: the trace, where a tracer keeps one."""

    agent_run_id: UUID
    """The agent's own run: of its graph, its `AgentExecutor`, or the chain that calls its tools."""

    thread_id: str | None = None
    """The thread, where the run has one."""

    tool_call_id: str | None = None
    """Id of the call, where the model gave one."""

    agent_name: str | None = None
    """The agent's name, where it has one."""

    arguments: Any = field(default=None, repr=False)
    """The call's arguments; None unless the handler was told to pass them on."""

    @property
    def summary(self) -> str:
        """One line for people, such as `grep × 3`. Holds no arguments."""
        return f"{self.tool} × {self.count}"
