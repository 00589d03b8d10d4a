"""An advisory loop-breaker for tool-calling agents on LangChain and LangGraph."""

from importlib import import_module
from typing import TYPE_CHECKING

from langchain_repeat_guard.core.chain import Chain, observe
from langchain_repeat_guard.core.config import RepeatGuardConfig
from langchain_repeat_guard.core.reminder import Reminder
from langchain_repeat_guard.errors import (
    MissingExtraError,
    RepeatGuardError,
    RepeatGuardSetupError,
    RepeatGuardStateError,
)

if TYPE_CHECKING:
    from langchain_repeat_guard.history.delivery import is_reminder as is_reminder
    from langchain_repeat_guard.node import RepeatGuardNode as RepeatGuardNode
    from langchain_repeat_guard.node import RepeatGuardState as RepeatGuardState
    from langchain_repeat_guard.node import RepeatReminderNode as RepeatReminderNode
    from langchain_repeat_guard.scanning import read_runs as read_runs
    from langchain_repeat_guard.scanning import scan as scan

__all__ = [
    "Chain",
    "MissingExtraError",
    "Reminder",
    "RepeatGuardConfig",
    "RepeatGuardError",
    "RepeatGuardNode",
    "RepeatGuardSetupError",
    "RepeatGuardState",
    "RepeatGuardStateError",
    "RepeatReminderNode",
    "is_reminder",
    "observe",
    "read_runs",
    "scan",
]

# Loaded on first use: LangChain and LangGraph take seconds to import.
_ON_FIRST_USE = {
    "RepeatGuardNode": "node",
    "RepeatGuardState": "node",
    "RepeatReminderNode": "node",
    "is_reminder": "history.delivery",
    "read_runs": "scanning",
    "scan": "scanning",
}

if not TYPE_CHECKING:  # so that a misspelt name stays an error for type checkers

    def __getattr__(name: str) -> object:
        if name in _ON_FIRST_USE:
            module = import_module(f"{__name__}.{_ON_FIRST_USE[name]}")
            return getattr(module, name)
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)

    def __dir__() -> list[str]:
        return sorted({*globals(), *_ON_FIRST_USE})
