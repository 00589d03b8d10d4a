"""The callback handler: LangChain's events in, reports out."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Unpack
from uuid import UUID

from langchain_core.agents import AgentAction
from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.outputs import LLMResult
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import get_callback_manager_for_config
from langgraph.callbacks import GraphCallbackHandler

from langchain_repeat_guard.callback.agents import AgentWatch, Report
from langchain_repeat_guard.callback.issued import DueStep, Rules
from langchain_repeat_guard.callback.records import ReminderRecord
from langchain_repeat_guard.callback.reporting import OnReminder, Reporter
from langchain_repeat_guard.core.checks import flag_option, function_option, number_option
from langchain_repeat_guard.core.config import RepeatGuardConfig
from langchain_repeat_guard.core.failsafe import FailOpen
from langchain_repeat_guard.core.limit import refuse_to_end_runs
from langchain_repeat_guard.core.options import RepeatGuardOptions
from langchain_repeat_guard.errors import RepeatLimitError
from langchain_repeat_guard.history.handover import TakenReminders
from langchain_repeat_guard.history.steps import was_written_by_user
from langchain_repeat_guard.history.whereabouts import task_namespace


class RepeatGuardCallbackHandler(GraphCallbackHandler):
    """Watches every agent of a run for repeated tool calls, and reports them.

    Attach it to a run, `config={"callbacks": [handler]}`, or to a graph, `graph.with_config(...)`.
    One handler serves any number of runs, threads and agents at once; each agent has its own
    chain. It counts what the models issue, whatever becomes of the calls. LangChain hands callbacks
    copies, so a handler cannot put a message in front of the model: it reports. A
    `RepeatReminderNode(handler=handler)` delivers what it finds.

    A chain lives in memory as long as the agent's run. Where that pauses by an interrupt and has a
    thread, the run that resumes it in this process goes on with it (the newest 1,000 threads).

    Args:
        config: Settings, or single settings by name as `options`.
        on_reminder: Called with a `ReminderRecord` for each reminder. An async function is awaited
            in a task of the run's event loop, or, in a sync run, at once.
        include_arguments: Give records the call's arguments. Otherwise they are held only while the
            node that has issued them runs.
        keep_reminders: How many of the latest records `reminders` holds.
        is_user_prompt: Tells a user's prompt from other human messages. By default, a message
            without notification metadata (`additional_kwargs["lc_source"]`) is one.
        max_runs: How many unfinished runs to hold, nested ones included. Beyond it, the oldest
            are given up: their calls count no more.
        options: Fields of `RepeatGuardConfig`. With `limit`, `exit_behavior="error"` is the only
            thing that a callback can do, and its default here: the run ends by a
            `RepeatLimitError`, for agents that nothing else can stop.

    Raises:
        RepeatGuardSetupError: `exit_behavior` is `"end"`, which no callback can keep.
        RepeatLimitError: In a run, at `limit`.
        TypeError: `config` comes together with options, or an option has a wrong type.
        ValueError: An option breaks its rule.

    Example:
        >>> from langchain_core.runnables import RunnableLambda
        >>> from langchain_core.tools import tool
        >>> @tool
        ... def grep(pattern: str) -> str:
        ...     "Search for a pattern."
        ...     return "nothing found"
        >>> agent = RunnableLambda(lambda text: [grep.invoke({"pattern": text}) for _ in range(3)])
        >>> handler = RepeatGuardCallbackHandler()
        >>> agent.invoke("cats", {"callbacks": [handler]})
        ['nothing found', 'nothing found', 'nothing found']
        >>> [record.summary for record in handler.reminders]
        ['grep × 3']
    """

    run_inline = True
    """Handle events where they happen: in a worker thread they could overtake each other."""

    def __init__(
        self,
        *,
        config: RepeatGuardConfig | None = None,
        on_reminder: OnReminder | None = None,
        include_arguments: bool = False,
        keep_reminders: int = 100,
        is_user_prompt: Callable[[HumanMessage], bool] | None = None,
        max_runs: int = 10_000,
        **options: Unpack[RepeatGuardOptions],
    ) -> None:
        """Check the settings; see the class for what they mean."""
        adapter = type(self).__name__
        self.config: RepeatGuardConfig = _checked_config(adapter, config, options)
        function_option("on_reminder", on_reminder)
        function_option("is_user_prompt", is_user_prompt)
        self._settings: dict[str, Any] = {
            "config": self.config,
            "on_reminder": on_reminder,
            "include_arguments": include_arguments,
            "keep_reminders": keep_reminders,
            "is_user_prompt": is_user_prompt,
            "max_runs": max_runs,
        }
        self.raise_error: bool = self.config.limit is not None
        self._failsafe = FailOpen(adapter)
        self._reporter = Reporter(
            self._failsafe, on_reminder, number_option("keep_reminders", keep_reminders, 1)
        )
        self._watch = AgentWatch(
            Rules(self.config, flag_option("include_arguments", include_arguments)),
            is_user_prompt or was_written_by_user,
            number_option("max_runs", max_runs, 1),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle the settings: a copy watches no run yet, and has reported nothing."""
        return _with_settings, (type(self), self._settings)

    @property
    def reminders(self) -> Sequence[ReminderRecord]:
        """The latest records, oldest first."""
        return tuple(self._reporter.records)

    @property
    def live_runs(self) -> int:
        """How many unfinished runs and interrupted threads are held in memory."""
        return len(self._watch)

    @property
    def ignore_retriever(self) -> bool:
        """Retrievers call no tools."""
        return True

    @property
    def ignore_retry(self) -> bool:
        """A retried call is one call."""
        return True

    @property
    def ignore_custom_event(self) -> bool:
        """Events of others say nothing about calls."""
        return True

    def take_due(
        self, config: RunnableConfig, messages: Sequence[Any] = ()
    ) -> TakenReminders | None:
        """Hand what is due over to a node of the agent, which then delivers it and sends the event.

        Args:
            config: The config that the node was called with.
            messages: The agent's messages, if its state has any; they may show answers that no
                callback saw.

        Returns:
            The reminders, once; again only where the same task of the node is retried. None if
            nothing is due behind the last message, or the handler does not watch the run.
        """
        return self._failsafe.run(self._take_due, config, messages)

    def on_chain_start(
        self,
        serialized: dict[str, Any] | None,  # noqa: ARG002
        inputs: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """See a graph, a task, a plan or a part of one start."""
        self._tell(
            self._failsafe.run(
                self._watch.chain_started,
                run_id,
                parent_run_id,
                name=kwargs.get("name"),
                tags=tags,
                metadata=metadata,
                inputs=inputs,
            )
        )

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **_: Any) -> None:
        """See it end, with what it has written."""
        self._tell(self._failsafe.run(self._watch.chain_ended, run_id, outputs))

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        """See it fail, or pause."""
        self._tell(self._failsafe.run(self._watch.chain_failed, run_id, error))

    def on_chat_model_start(
        self,
        serialized: dict[str, Any],  # noqa: ARG002
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,  # noqa: ARG002
        parent_run_id: UUID | None = None,
        metadata: dict[str, Any] | None = None,
        **_: Any,
    ) -> None:
        """See what a chat model is shown. What is due is reported now."""
        shown = messages[0] if messages else None
        self._tell(self._failsafe.run(self._watch.model_started, parent_run_id, shown, metadata))

    def on_llm_start(
        self,
        serialized: dict[str, Any],  # noqa: ARG002
        prompts: list[str],  # noqa: ARG002
        *,
        run_id: UUID,  # noqa: ARG002
        parent_run_id: UUID | None = None,
        metadata: dict[str, Any] | None = None,
        **_: Any,
    ) -> None:
        """See a text model start. What is due is reported now."""
        self._tell(self._failsafe.run(self._watch.model_started, parent_run_id, None, metadata))

    def on_llm_end(
        self,
        response: LLMResult,
        *,
        run_id: UUID,  # noqa: ARG002
        parent_run_id: UUID | None = None,
        **_: Any,
    ) -> None:
        """See the calls that a model issues."""
        self._failsafe.run(self._watch.model_ended, parent_run_id, response)

    def on_tool_start(
        self,
        serialized: dict[str, Any] | None,
        input_str: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        inputs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """See a call carried out."""
        self._failsafe.run(
            self._watch.tool_started,
            run_id,
            parent_run_id,
            name=(serialized or {}).get("name") or kwargs.get("name") or "",
            inputs=inputs,
            input_str=input_str,
            tool_call_id=kwargs.get("tool_call_id"),
        )

    def on_tool_end(self, output: Any, *, run_id: UUID, **_: Any) -> None:  # noqa: ARG002
        """See a call answered."""
        self._tell(self._failsafe.run(self._watch.tool_ended, run_id))

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        """See a call fail."""
        self._tell(self._failsafe.run(self._watch.tool_ended, run_id, error))

    def on_agent_action(self, action: AgentAction, *, run_id: UUID, **_: Any) -> None:
        """See the call that an `AgentExecutor` is about to carry out."""
        self._tell(self._failsafe.run(self._watch.agent_acted, run_id, action))

    def on_interrupt(self, event: Any) -> None:
        """See a graph pause."""
        self._failsafe.run(self._watch.interrupted, event.run_id)

    def _take_due(self, config: RunnableConfig, messages: Sequence[Any]) -> TakenReminders | None:
        run_id = get_callback_manager_for_config(config).parent_run_id
        report, steps = self._watch.take_due(run_id, task_namespace(config), messages)
        if report:
            self._failsafe.run(self._reporter.tell, report)
        return _taken(steps) if steps else None

    def _tell(self, report: Report | None) -> None:
        if report is None:
            return
        self._failsafe.run(self._reporter.tell, report)
        if report.at_limit and self.config.limit:
            tool, count = report.at_limit
            raise RepeatLimitError(tool=tool, count=count, limit=self.config.limit)


def _with_settings(
    kind: type[RepeatGuardCallbackHandler], settings: dict[str, Any]
) -> RepeatGuardCallbackHandler:
    return kind(**settings)


def _taken(steps: Sequence[DueStep]) -> TakenReminders:
    due = [one.reminder for step in steps for one in step.due]
    return TakenReminders(due, steps[-1].message_id)


def _checked_config(
    adapter: str, config: RepeatGuardConfig | None, options: Mapping[str, Any]
) -> RepeatGuardConfig:
    default = {} if config else {"exit_behavior": "error"}
    checked = RepeatGuardConfig.resolve(config, {**default, **options})
    refuse_to_end_runs(adapter, checked, options)
    return checked
