"""The guard around a tools node."""

from collections.abc import Callable
from operator import is_not
from typing import Any, NamedTuple, NoReturn, Unpack

from langchain_core.messages import HumanMessage
from langchain_core.runnables import Runnable, RunnableConfig

from langchain_repeat_guard.core.config import RepeatGuardConfig
from langchain_repeat_guard.core.options import RepeatGuardOptions
from langchain_repeat_guard.errors import RepeatGuardSetupError
from langchain_repeat_guard.history.carried import CHANNEL
from langchain_repeat_guard.history.delivery import Delivery
from langchain_repeat_guard.history.events import ReminderEvent, asend_event, send_event
from langchain_repeat_guard.history.guard import Delivered, HistoryGuard, StateUpdate
from langchain_repeat_guard.history.outputs import parts_of
from langchain_repeat_guard.history.steps import Step
from langchain_repeat_guard.history.visits import part_of, with_part
from langchain_repeat_guard.history.whereabouts import graph_namespace
from langchain_repeat_guard.node.inner import as_tools_node, return_direct_tools
from langchain_repeat_guard.node.results import (
    extend,
    leaves_graph,
    messages_after,
    replace_message,
)
from langchain_repeat_guard.node.state import (
    NO_CHANNEL,
    get_messages,
    is_single_call,
    read_channel,
)


class _Reminded(NamedTuple):
    """The node's output with what is due, and what to tell listeners."""

    output: Any
    event: ReminderEvent | None


class RepeatGuardNode(Runnable[Any, Any]):
    """Wraps a tools node, and puts a reminder behind its results when the model repeats itself.

    Adds no superstep and no checkpoint. The wrapped node gets the state as it is, and its results,
    Commands, interrupts and exceptions pass through untouched. Without a channel (see
    `RepeatGuardState`) the chain is read from the messages, as far back as it reaches; a subgraph
    that is visited again with the messages of earlier visits, and no prompt between, needs one.

    A Send fan-out gives a tools node one call at a time; there it passes everything through, since
    no single call knows whether its step is complete. Use `RepeatReminderNode` there.

    Args:
        tools_node: A `ToolNode`, any runnable, or a function of the state, or of the state and
            `config`.
        config: Settings, or single settings by name as `options`.
        messages_key: The state's key for the messages.
        is_user_prompt: Tells a user's prompt from other human messages. By default, a message
            without notification metadata (`additional_kwargs["lc_source"]`) is one.
        delivery: `"human_message"` adds a message of its own behind the tool messages.
            `"tool_message"` appends to the last of them, for models that refuse the former; where
            the tools node has not returned that itself, the graph's messages need the reducer
            `add_messages` for it.
        options: Fields of `RepeatGuardConfig`.

    Raises:
        RepeatGuardSetupError: `tools_node` cannot be wrapped, or `exit_behavior` is `"end"`, which
            only the middlewares can keep.
        RepeatLimitError: In a run, at `limit` with `exit_behavior="error"`.
        TypeError: `config` comes together with options, or an option has a wrong type.
        ValueError: An option breaks its rule.

    Example:
        >>> from langchain_core.tools import tool
        >>> from langgraph.prebuilt import ToolNode
        >>> @tool
        ... def grep(q: str) -> str:
        ...     "Search."
        ...     return "nothing found"
        >>> node = RepeatGuardNode(ToolNode([grep]), thresholds=(3, 6))
    """

    def __init__(
        self,
        tools_node: Runnable[Any, Any] | Callable[..., Any],
        *,
        config: RepeatGuardConfig | None = None,
        messages_key: str = "messages",
        is_user_prompt: Callable[[HumanMessage], bool] | None = None,
        delivery: Delivery = "human_message",
        **options: Unpack[RepeatGuardOptions],
    ) -> None:
        """Check the settings and what is wrapped."""
        self._guard = HistoryGuard(
            type(self).__name__,
            config=config,
            options=options,
            messages_key=messages_key,
            is_user_prompt=is_user_prompt,
            delivery=delivery,
        )
        self._inner = as_tools_node(tools_node)
        self._return_direct = return_direct_tools(self._inner)

    @property
    def config(self) -> RepeatGuardConfig:
        """The settings in force."""
        return self._guard.config

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002  the name is Runnable's
        """Run the wrapped node and return its result, with the reminder if one is due."""
        output = self._inner.invoke(input, config, **kwargs)
        reminded = self._guard.failsafe.run(self._reminded, input, output, config)
        if reminded is None:
            return output
        if reminded.event is not None:
            self._guard.failsafe.run(send_event, reminded.event, config)
        return reminded.output

    async def ainvoke(
        self,
        input: Any,  # noqa: A002  the name is Runnable's
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Any:
        """Do as `invoke` does, asynchronously."""
        output = await self._inner.ainvoke(input, config, **kwargs)
        reminded = self._guard.failsafe.run(self._reminded, input, output, config)
        if reminded is None:
            return output
        if reminded.event is not None:
            await self._guard.failsafe.arun(asend_event, reminded.event, config)
        return reminded.output

    def __iter__(self) -> NoReturn:
        """Refuse to be a list of tools, which is what prebuilt agents would take this for.

        Raises:
            RepeatGuardSetupError: Always.
        """
        msg = (
            "A RepeatGuardNode is a node of a graph, not a list of tools. For create_react_agent "
            "pass pre_model_hook=RepeatReminderNode(), for create_agent "
            "middleware=[RepeatGuardMiddleware()]."
        )
        raise RepeatGuardSetupError(msg)

    def _reminded(self, state: Any, output: Any, config: RunnableConfig | None) -> _Reminded:
        key = self._guard.messages_key
        before = get_messages(state, key)
        is_list_state = before is state
        if before is None or (is_list_state and is_single_call(state)):
            self._explain_silence(state)
            return _Reminded(output, None)
        stored = NO_CHANNEL if is_list_state else read_channel(state)
        graph, carried = "", None
        if stored is not NO_CHANNEL:
            graph = graph_namespace(config)
            carried = self._guard.read_channel(part_of(stored, graph))
        verdict = self._guard.check(messages_after(before, output, key), carried)
        update: dict[str, Any] = {}
        if carried is not None and verdict.carried != carried:
            update[CHANNEL] = with_part(stored, graph, verdict.carried.to_dict())
        step = verdict.step
        event = None
        if step and verdict.due and not self._is_last_word(step, output):
            reminder = self._guard.deliver(verdict.due, verdict.message_id, step.answers[0])
            output, beside = self._merged(output, reminder)
            update |= beside.values
            event = beside.event
        return _Reminded(extend(output, update, key, is_list_state=is_list_state), event)

    def _merged(self, output: Any, reminder: Delivered) -> tuple[Any, StateUpdate]:
        """Return the output with the reminder in it, or beside it what stores the reminder."""
        if reminder.replaced is not None:
            key = self._guard.messages_key
            changed = replace_message(output, reminder.replaced, reminder.message, key)
            if any(map(is_not, parts_of(changed), parts_of(output))):
                return changed, StateUpdate({}, reminder.event)
        return output, self._guard.store(reminder)

    def _explain_silence(self, state: Any) -> None:
        if is_single_call(state):
            self._guard.failsafe.warn_once(
                "send",
                "got a single tool call from a Send fan-out and passes it through: no reminder "
                "can stand between parallel results. Put a RepeatReminderNode between the tools "
                "and the model, or use pre_model_hook or RepeatGuardMiddleware.",
            )
        else:
            self._guard.warn_of_missing_messages()

    def _is_last_word(self, step: Step, output: Any) -> bool:
        """Tell whether no model of this graph will read the results of the step."""
        if leaves_graph(output):
            return True
        return not self._return_direct.isdisjoint(call.name for call in step.calls)
