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

__all__ = [
    "Chain",
    "MissingExtraError",
    "Reminder",
    "RepeatGuardConfig",
    "RepeatGuardError",
    "RepeatGuardSetupError",
    "RepeatGuardStateError",
    "observe",
]
