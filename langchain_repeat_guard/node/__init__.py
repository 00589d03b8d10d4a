"""The guard in a LangGraph graph: around the tools node, or as a node of its own."""

from langchain_repeat_guard.node.reminder_node import RepeatReminderNode
from langchain_repeat_guard.node.state import RepeatGuardState
from langchain_repeat_guard.node.wrapper import RepeatGuardNode

__all__ = ["RepeatGuardNode", "RepeatGuardState", "RepeatReminderNode"]
