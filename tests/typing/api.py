"""How users' code is typed: read by type checkers, and never run."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, assert_type

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import ToolNode

from langchain_repeat_guard import (
    REMINDER_EVENT,
    Chain,
    Reminder,
    ReminderEvent,
    ReminderRecord,
    RepeatGuardCallbackHandler,
    RepeatGuardConfig,
    RepeatGuardMiddleware,
    RepeatGuardNode,
    RepeatGuardState,
    RepeatReminderNode,
    ToolOverride,
    TransientRepeatGuardMiddleware,
    is_reminder,
    observe,
    read_runs,
    scan,
)
from langchain_repeat_guard.scanning import FoundReminder


def count_calls() -> Reminder | None:
    """Drive the core by hand."""
    config = RepeatGuardConfig(thresholds=(2, 4), include=("grep",), arguments_preview_chars=80)
    assert_type(config.thresholds, tuple[int, ...])
    chain, reminder = observe(Chain(), "grep", {"pattern": "x"}, config=config)
    assert_type(chain, Chain)
    assert_type(reminder, Reminder | None)
    chain = Chain.from_dict(chain.to_dict())
    if reminder is not None:
        assert_type(reminder.count, int)
        assert_type(reminder.text, str)
    return reminder


async def page(record: ReminderRecord) -> None:
    """Be an async hook."""
    assert_type(record.tool, str)
    assert_type(record.count, int)


def listen() -> RunnableConfig:
    """Attach the callback handler to a run."""
    handler = RepeatGuardCallbackHandler(thresholds=(3,), on_reminder=page, max_runs=100)
    assert_type(handler.reminders, Sequence[ReminderRecord])
    assert_type(handler.config, RepeatGuardConfig)
    names: list[str] = []
    RepeatGuardCallbackHandler(on_reminder=lambda record: names.append(record.tool))
    return {"callbacks": [handler]}


class State(RepeatGuardState):
    """A user's state that carries the guard's channel."""

    messages: Annotated[list[AnyMessage], add_messages]
    topic: str


class MixedState(MessagesState, RepeatGuardState):
    """The same on top of LangGraph's own state."""


def wrap_tools_node(tools: Sequence[BaseTool]) -> Any:
    """Put both nodes into a graph."""
    StateGraph(MixedState).add_node("tools", RepeatGuardNode(ToolNode(tools)))
    builder = StateGraph(State)
    builder.add_node("tools", RepeatGuardNode(ToolNode(tools), thresholds=(3, 5)))
    builder.add_node("remind", RepeatReminderNode(config=RepeatGuardConfig()))
    builder.add_node("report", RepeatReminderNode(handler=RepeatGuardCallbackHandler()))
    builder.add_edge(START, "tools")
    return builder.compile()


def written_by_user(message: HumanMessage) -> bool:
    """Be a rule of the host."""
    return message.name != "harness"


def guard_agent(model: BaseChatModel, tools: Sequence[BaseTool]) -> int:
    """List a middleware, and count its reminders in the result."""
    stored = RepeatGuardMiddleware(thresholds=(3, 5), is_user_prompt=written_by_user)
    assert_type(stored, RepeatGuardMiddleware)
    transient = TransientRepeatGuardMiddleware(config=RepeatGuardConfig(), delivery="tool_message")
    create_agent(model, tools, middleware=[transient])
    agent = create_agent(model, tools, middleware=[stored])
    output = agent.invoke({"messages": [HumanMessage("go")]})
    return sum(is_reminder(message) for message in output["messages"])


def read_event(event: ReminderEvent) -> str:
    """Read what a stream carries."""
    assert_type(event["reminder_id"], str)
    return REMINDER_EVENT


def look_at_records(path: Path) -> list[str]:
    """Scan files of recorded runs."""
    records = scan(read_runs([path, "more.jsonl"]), RepeatGuardConfig(thresholds=(2,)))
    return [record.reminder.summary for record in records if isinstance(record, FoundReminder)]


def refused() -> None:
    """What a checker refuses: each line below needs its ignore."""
    observe(Chain(), "grep", {})  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    RepeatGuardMiddleware(delivery="email")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def set_options() -> None:
    """Settings by name are known to type checkers; misspelt ones are refused."""
    RepeatGuardMiddleware(thresholds=[3, 6], exclude=("poll_*",), counting="since_new_call")
    RepeatReminderNode(
        overrides={"shell": {"thresholds": (5, 10)}}, limit=20, exit_behavior="error"
    )
    RepeatGuardConfig(overrides={"shell": ToolOverride(thresholds=(5, 10))})
    RepeatGuardMiddleware(treshold=(3,))  # type: ignore[call-arg]
    RepeatGuardCallbackHandler(thresholds="3")  # type: ignore[arg-type]
