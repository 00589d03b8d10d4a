"""The guard as a node of its own, between tools and model."""

from collections.abc import Callable
from functools import cache
from typing import Any, Unpack, cast, get_type_hints

from langchain_core.messages import HumanMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import ensure_config, get_callback_manager_for_config
from typing_extensions import TypedDict

from langchain_repeat_guard.core.config import RepeatGuardConfig
from langchain_repeat_guard.core.options import RepeatGuardOptions
from langchain_repeat_guard.history.carried import CHANNEL
from langchain_repeat_guard.history.delivery import Delivery
from langchain_repeat_guard.history.events import asend_event, send_event
from langchain_repeat_guard.history.guard import HistoryGuard, StateUpdate
from langchain_repeat_guard.history.handover import FindsReminders
from langchain_repeat_guard.history.outputs import get_key
from langchain_repeat_guard.history.visits import part_of, with_part
from langchain_repeat_guard.history.whereabouts import graph_namespace
from langchain_repeat_guard.node.hooks import (
    Hook,
    checked_schema,
    join_updates,
    state_for_hook,
    state_schema_of,
)
from langchain_repeat_guard.node.inner import as_hook
from langchain_repeat_guard.node.state import get_messages

_NOTHING = StateUpdate({})


class ReminderNodeState(TypedDict):
    """What the node reads and writes. LangGraph adds the channel to the graph that it joins."""

    # A plain list fits whatever reducer the graph's own state gives its messages.
    messages: list[Any]
    repeat_guard: dict[str, Any]


class RepeatReminderNode(Runnable[Any, Any]):
    """Puts a reminder behind the newest tool results when the model repeats itself.

    Stands between tools and model, or is the `pre_model_hook` of `create_react_agent`. It brings
    its own state channel, so that the chain survives resume, replay, and deleted messages; nothing
    has to be added to the graph's state. Adds one superstep per model call.

    The graph's messages need a reducer that appends, such as `add_messages` or `operator.add`: in
    a state without one, any node's update replaces the whole list. A conditional edge behind this
    node is given what the node reads; one that needs other keys annotates its parameter with the
    graph's state.

    Args:
        config: Settings, or single settings by name as `options`.
        messages_key: The state's key for the messages. A state without it is left alone, with one
            warning.
        is_user_prompt: Tells a user's prompt from other human messages. By default, a message
            without notification metadata (`additional_kwargs["lc_source"]`) is one.
        delivery: `"human_message"` adds a message of its own behind the tool messages.
            `"tool_message"` appends to the last of them, for models that refuse the former; the
            graph's messages need the reducer `add_messages` for it.
        handler: A `RepeatGuardCallbackHandler` that watches the run. The node then delivers what
            the handler finds, under the handler's settings, and keeps no chain of its own: for
            agents whose tools are called without messages.
        hook: Another `pre_model_hook`, which then runs in this node, behind the guard. It reads the
            state with the reminder already in it, and what it returns is joined to the guard's
            update, `llm_input_messages` included.
        state_schema: The state that `hook` reads; only with a hook. By default, what its first
            parameter is annotated with; without annotation, the messages alone.
        options: Fields of `RepeatGuardConfig`.

    Raises:
        RepeatGuardSetupError: `hook` cannot run inside another node, or `exit_behavior` is `"end"`,
            which only the middlewares can keep.
        RepeatLimitError: In a run, at `limit` with `exit_behavior="error"`.
        TypeError: `config` comes together with options, or an option has a wrong type.
        ValueError: An option breaks its rule.

    Example:
        >>> from langgraph.graph import MessagesState, StateGraph
        >>> graph = StateGraph(MessagesState)
        >>> node = RepeatReminderNode(thresholds=(3, 6))
        >>> _ = graph.add_node("remind", node)
    """

    def __init__(
        self,
        *,
        config: RepeatGuardConfig | None = None,
        messages_key: str = "messages",
        is_user_prompt: Callable[[HumanMessage], bool] | None = None,
        delivery: Delivery = "human_message",
        handler: FindsReminders | None = None,
        hook: Hook | None = None,
        state_schema: type[Any] | None = None,
        **options: Unpack[RepeatGuardOptions],
    ) -> None:
        """Check the settings."""
        self._guard = HistoryGuard(
            type(self).__name__,
            config=config,
            options=options,
            messages_key=messages_key,
            is_user_prompt=is_user_prompt,
            delivery=delivery,
        )
        self._handler = _checked_handler(handler, config or is_user_prompt or options)
        self._hook = None if hook is None else as_hook(hook)
        self._hook_schema = checked_schema(state_schema, hook) or state_schema_of(hook)
        # LangGraph reads the schema off the `__call__` of the class.
        if self._hook_schema or messages_key != "messages":
            schema = cast("Any", self._hook_schema)
            self.__class__ = _class_for(type(self), messages_key, schema)

    @property
    def config(self) -> RepeatGuardConfig:
        """The settings in force: those of the handler, if there is one."""
        return (self._handler or self._guard).config

    @property
    def input_schema(self) -> type[Any]:
        """The state that the node reads, for `add_node(..., input_schema=node.input_schema)`."""
        schema: type[Any] = type(self).__call__.__annotations__["state"]
        return schema

    def __call__(self, state: ReminderNodeState) -> Any:
        """Do as `invoke` does, for a node that is called as a function."""
        return self.invoke(state)

    def invoke(
        self,
        input: Any,  # noqa: A002  the name is Runnable's
        config: RunnableConfig | None = None,
        **_: Any,
    ) -> Any:
        """Return the update of a state: the reminder that is due, the chain, and the hook's own."""
        run = self._guard.failsafe.run
        update = run(self._update, input, config) or _NOTHING
        if update.event is not None:
            run(send_event, update.event, config)
        if self._hook is None:
            return run(self._as_output, input, update)
        output = self._hook.invoke(self._state_for_hook(input, update), config)
        return join_updates(update.values, output, self._guard.messages_key)

    async def ainvoke(
        self,
        input: Any,  # noqa: A002  the name is Runnable's
        config: RunnableConfig | None = None,
        **_: Any,
    ) -> Any:
        """Do as `invoke` does, asynchronously."""
        run = self._guard.failsafe.run
        update = run(self._update, input, config) or _NOTHING
        if update.event is not None:
            await self._guard.failsafe.arun(asend_event, update.event, config)
        if self._hook is None:
            return run(self._as_output, input, update)
        output = await self._hook.ainvoke(self._state_for_hook(input, update), config)
        return join_updates(update.values, output, self._guard.messages_key)

    def _as_output(self, state: Any, update: StateUpdate) -> Any:
        """Return the update; in a state that is a list of messages, those messages alone."""
        key = self._guard.messages_key
        return update.values.get(key, []) if isinstance(state, list) else update.values

    def _state_for_hook(self, state: Any, update: StateUpdate) -> Any:
        return state_for_hook(state, update.values, self._guard.messages_key, self._hook_schema)

    def _update(self, state: object, config: RunnableConfig | None) -> StateUpdate:
        messages = get_messages(state, self._guard.messages_key)
        if messages is None:
            self._guard.warn_of_missing_messages()
            return _NOTHING
        if self._handler is None:
            return self._own_update(messages, get_key(state, CHANNEL), graph_namespace(config))
        taken = self._handler.take_due(ensure_config(config), messages)
        if taken is None and not _watches(self._handler, config):
            self._guard.failsafe.warn_once(
                "handler",
                "was given a handler that does not watch this run. Pass it to the run as well: "
                'config={"callbacks": [handler]}.',
            )
        return self._guard.update_with(taken, messages)

    def _own_update(self, messages: list[Any], stored: object, graph: str) -> StateUpdate:
        update = self._guard.update(messages, part_of(stored, graph))
        if CHANNEL in update.values:
            update.values[CHANNEL] = with_part(stored, graph, update.values[CHANNEL])
        return update


def _watches(handler: object, config: RunnableConfig | None) -> bool:
    manager = get_callback_manager_for_config(ensure_config(config))
    return any(one is handler for one in manager.handlers)


def _checked_handler(handler: object, settings: object) -> FindsReminders | None:
    if handler is None:
        return None
    if not isinstance(handler, FindsReminders):
        msg = f"handler must be a RepeatGuardCallbackHandler, got {type(handler).__name__}"
        raise TypeError(msg)
    if settings:
        msg = "With handler=, give config, is_user_prompt and options to the handler: it counts."
        raise TypeError(msg)
    return handler


@cache
def _class_for(
    kind: type[RepeatReminderNode], messages_key: str, hook_schema: Any
) -> type[RepeatReminderNode]:
    """Return `kind`, which may be a user's own, for a state with another key, or with more keys."""
    if kind.__call__ is not RepeatReminderNode.__call__:
        return kind  # it declares what it reads itself
    hints = get_type_hints(hook_schema, include_extras=True) if hook_schema else {}
    # Through Any: a type checker wants literal keys, and this one is known at run time only.
    make_schema: Any = TypedDict
    schema = make_schema(
        "ReminderNodeState", {**hints, messages_key: list[Any], CHANNEL: dict[str, Any]}
    )

    def __call__(self: RepeatReminderNode, state: Any) -> Any:  # noqa: N807
        return RepeatReminderNode.__call__(self, state)

    __call__.__annotations__["state"] = schema
    return type(kind.__name__, (kind,), {"__call__": __call__, "__doc__": kind.__doc__})
