"""How a watcher that cannot deliver hands what it finds to a node that can."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from langchain_core.runnables import RunnableConfig

from langchain_repeat_guard.core.config import RepeatGuardConfig
from langchain_repeat_guard.history.delivery import DueReminder


@dataclass(frozen=True, slots=True)
class TakenReminders:
    """What a watcher has found due for the agent that a node belongs to."""

    due: Sequence[DueReminder]
    message_id: str
    """Id of the step's AIMessage, or of what stands for it; makes the reminder's id."""


@runtime_checkable
class FindsReminders(Protocol):
    """A watcher of runs, such as `RepeatGuardCallbackHandler`."""

    @property
    def config(self) -> RepeatGuardConfig:
        """The settings by which it counts."""

    def take_due(
        self, config: RunnableConfig, messages: Sequence[Any] = ()
    ) -> TakenReminders | None:
        """Hand over what is due for the agent whose node was called with `config`, once."""
