"""Tells people and programs about reminders: a function, a list, the log, the run's own stream."""

import asyncio
import inspect
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from langchain_repeat_guard.callback.agents import Report
from langchain_repeat_guard.callback.issued import DueStep
from langchain_repeat_guard.callback.records import ReminderRecord
from langchain_repeat_guard.core.failsafe import FailOpen, logger
from langchain_repeat_guard.core.reminder import one_line, printable
from langchain_repeat_guard.history.delivery import reminder_id
from langchain_repeat_guard.history.events import reminder_event, send_event

OnReminder = Callable[[ReminderRecord], Awaitable[None] | None]

_UNNAMED_GRAPH = "LangGraph"


class Reporter:
    """Reports reminders by all the ways that the user has asked for."""

    def __init__(
        self, failsafe: FailOpen, on_reminder: OnReminder | None, keep_reminders: int
    ) -> None:
        """Report nothing yet."""
        self.records: deque[ReminderRecord] = deque(maxlen=keep_reminders)
        self._failsafe = failsafe
        self._on_reminder = on_reminder
        self._tasks: set[asyncio.Task[None]] = set()

    def tell(self, report: Report) -> None:
        """Report what is due. A failure of one way does not stop the others."""
        for step in report.steps:
            for record in _records(report, step):
                self.records.append(record)
                self._failsafe.run(_log, record)
                if self._on_reminder:
                    self._failsafe.run(self._call, self._on_reminder, record)
            if not report.is_delivered:
                due = [one.reminder for one in step.due]
                self._failsafe.run(send_event, reminder_event(due, step.message_id))

    def _call(self, on_reminder: OnReminder, record: ReminderRecord) -> None:
        result = on_reminder(record)
        if not inspect.isawaitable(result):
            return
        awaited = self._guarded(result)
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            asyncio.run(awaited)
            return
        task = loop.create_task(awaited)
        self._tasks.add(task)  # or the loop would let it be collected
        task.add_done_callback(self._tasks.discard)

    async def _guarded(self, result: Awaitable[None]) -> None:
        try:
            await result
        except Exception as error:  # noqa: BLE001  the law: no fault here may stop an agent
            self._failsafe.run(_raise, error)


def _log(record: ReminderRecord) -> None:
    logger.warning("reminder: %s, agent run %s", one_line(record.summary), record.agent_run_id)


def _raise(error: Exception) -> None:
    raise error


def _records(report: Report, step: DueStep) -> Sequence[ReminderRecord]:
    agent = report.agent
    thread_id = agent.metadata.get("thread_id")
    where: dict[str, Any] = {
        "reminder_id": reminder_id(step.message_id),
        "run_id": report.root.run_id,
        "agent_run_id": agent.run_id,
        "thread_id": None if thread_id is None else str(thread_id),
        "agent_name": None if agent.name == _UNNAMED_GRAPH else agent.name,
    }
    return [
        ReminderRecord(
            tool=one.reminder.reminder.tool,
            count=one.reminder.reminder.count,
            threshold=one.reminder.reminder.threshold,
            text=one.reminder.reminder.message_text,
            tool_call_id=printable(one.reminder.tool_call_id) or None,
            arguments=one.arguments,
            **where,
        )
        for one in step.due
    ]
