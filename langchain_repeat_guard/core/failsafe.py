"""Nothing that goes wrong in the guard reaches the agent."""

import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import ParamSpec, TypeVar

from langchain_repeat_guard.errors import RepeatLimitError

logger: logging.Logger = logging.getLogger("langchain_repeat_guard")

P = ParamSpec("P")
T = TypeVar("T")


class FailOpen:
    """Runs the guard's own code for one adapter; a failure is logged once and costs a reminder."""

    def __init__(self, adapter: str) -> None:
        """Remember which `adapter` to name in the log."""
        self._adapter = adapter
        self._said: dict[str, object] = {}

    def run(self, check: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | None:
        """Return what `check` returns, or None where it raises."""
        try:
            return check(*args, **kwargs)
        except RepeatLimitError:
            raise  # what the user has asked for
        except Exception as error:  # noqa: BLE001  the law: no fault of ours may stop an agent
            self._warn_of_failure(error)
            return None

    async def arun(
        self, check: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs
    ) -> T | None:
        """Do as `run` does, for a coroutine function."""
        try:
            return await check(*args, **kwargs)
        except RepeatLimitError:
            raise  # what the user has asked for
        except Exception as error:  # noqa: BLE001  the law: no fault of ours may stop an agent
            self._warn_of_failure(error)
            return None

    def _warn_of_failure(self, error: Exception) -> None:
        # The message of the error is left out: it may quote a call's arguments.
        self.warn_once(
            "failure",
            f"skipped a check after {type(error).__name__} at {_place(error)}. "
            "The agent goes on; a reminder may be missing.",
        )

    def warn_once(self, topic: str, text: str) -> None:
        """Log `text` the first time that this adapter has something to say about `topic`."""
        mine = object()
        # One step for all threads, and no lock, which could not be copied with an adapter.
        if self._said.setdefault(topic, mine) is mine:
            with suppress(Exception):  # a host's log handler may raise, too
                logger.warning("%s %s", self._adapter, text)


def _place(error: Exception) -> str:
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    if trace is None:
        return "an unknown place"
    return f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
