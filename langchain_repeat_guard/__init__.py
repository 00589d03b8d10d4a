"""An advisory loop-breaker for tool-calling agents on LangChain and LangGraph."""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from langchain_repeat_guard.core.chain import Chain, observe
from langchain_repeat_guard.core.config import RepeatGuardConfig, ToolOverride
from langchain_repeat_guard.core.options import RepeatGuardOptions
from langchain_repeat_guard.core.reminder import Reminder
from langchain_repeat_guard.errors import (
    MissingExtraError,
    RepeatGuardError,
    RepeatGuardSetupError,
    RepeatGuardStateError,
    RepeatLimitError,
)

if TYPE_CHECKING:
    __version__: str

    from langchain_repeat_guard.callback import ReminderRecord as ReminderRecord
    from langchain_repeat_guard.callback import (
        RepeatGuardCallbackHandler as RepeatGuardCallbackHandler,
    )
    from langchain_repeat_guard.history.delivery import is_reminder as is_reminder
    from langchain_repeat_guard.history.events import REMINDER_EVENT as REMINDER_EVENT
    from langchain_repeat_guard.history.events import ReminderEvent as ReminderEvent
    from langchain_repeat_guard.middleware import RepeatGuardMiddleware as RepeatGuardMiddleware
    from langchain_repeat_guard.middleware import (
        TransientRepeatGuardMiddleware as TransientRepeatGuardMiddleware,
    )
    from langchain_repeat_guard.node import RepeatGuardNode as RepeatGuardNode
    from langchain_repeat_guard.node import RepeatGuardState as RepeatGuardState
    from langchain_repeat_guard.node import RepeatReminderNode as RepeatReminderNode
    from langchain_repeat_guard.scanning import read_runs as read_runs
    from langchain_repeat_guard.scanning import scan as scan

__all__ = [
    "REMINDER_EVENT",
    "Chain",
    "MissingExtraError",
    "Reminder",
    "ReminderEvent",
    "ReminderRecord",
    "RepeatGuardCallbackHandler",
    "RepeatGuardConfig",
    "RepeatGuardError",
    "RepeatGuardMiddleware",
    "RepeatGuardNode",
    "RepeatGuardOptions",
    "RepeatGuardSetupError",
    "RepeatGuardState",
    "RepeatGuardStateError",
    "RepeatLimitError",
    "RepeatReminderNode",
    "ToolOverride",
    "TransientRepeatGuardMiddleware",
    "is_reminder",
    "observe",
    "read_runs",
    "scan",
]

# Loaded on first use: LangChain and LangGraph take seconds to import.
_ON_FIRST_USE = {
    "RepeatGuardMiddleware": "middleware",
    "REMINDER_EVENT": "history.events",
    "ReminderEvent": "history.events",
    "ReminderRecord": "callback",
    "RepeatGuardCallbackHandler": "callback",
    "RepeatGuardNode": "node",
    "RepeatGuardState": "node",
    "RepeatReminderNode": "node",
    "TransientRepeatGuardMiddleware": "middleware",
    "is_reminder": "history.delivery",
    "read_runs": "scanning",
    "scan": "scanning",
}

if not TYPE_CHECKING:  # so that a misspelt name stays an error for type checkers
    if find_spec("langchain") is None:
        # Named without their extra, they raise: `import *` and `help()` touch all that is listed.
        __all__ = [name for name in __all__ if _ON_FIRST_USE.get(name) != "middleware"]

    def __getattr__(name: str) -> object:
        if name == "__version__":
            from importlib.metadata import version  # noqa: PLC0415  takes time, is seldom asked

            return version("langchain-repeat-guard")
        if name in _ON_FIRST_USE:
            module = import_module(f"{__name__}.{_ON_FIRST_USE[name]}")
            return getattr(module, name)
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__, "__version__"})
