"""The guard as a LangChain callback handler: it sees every agent, and reports."""

from langchain_repeat_guard.callback.handler import RepeatGuardCallbackHandler
from langchain_repeat_guard.callback.records import ReminderRecord

__all__ = ["ReminderRecord", "RepeatGuardCallbackHandler"]
