"""The middleware that stores its reminders among the messages."""

from collections.abc import Callable
from typing import Any, Unpack

from langchain.agents.middleware import hook_config
from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime

from langchain_repeat_guard.core.config import RepeatGuardConfig
from langchain_repeat_guard.core.options import RepeatGuardOptions
from langchain_repeat_guard.history.carried import CHANNEL
from langchain_repeat_guard.history.delivery import Delivery
from langchain_repeat_guard.history.events import asend_event, send_event
from langchain_repeat_guard.history.guard import StateUpdate
from langchain_repeat_guard.middleware.base import GuardedAgentState, GuardMiddleware


class RepeatGuardMiddleware(GuardMiddleware):
    """Puts a reminder among an agent's messages when the model repeats itself.

    The reminder stands behind the results of the repeated call, before the model reads them, and
    stays in the state like any message. Right at any place in the list of middlewares. The chain
    lives in a private channel of the state, so that it survives resume, replay, forks and
    summaries. Adds one superstep per model call, and touches no tool call.

    Args:
        config: Settings, or single settings by name as `options`.
        is_user_prompt: Tells a user's prompt from other human messages. By default, a message
            without notification metadata (`additional_kwargs["lc_source"]`) is one.
        delivery: `"human_message"` adds a message of its own behind the tool messages.
            `"tool_message"` appends to the last of them, for models that refuse the former.
        options: Fields of `RepeatGuardConfig`.

    Raises:
        RepeatLimitError: In a run, at `limit` with `exit_behavior="error"`.
        TypeError: `config` comes together with options, or an option has a wrong type.
        ValueError: An option breaks its rule.

    Example:
        >>> from langchain.agents import create_agent
        >>> from langchain_core.language_models import FakeListChatModel
        >>> guard = RepeatGuardMiddleware(thresholds=(3, 6), exclude=("poll_*",))
        >>> agent = create_agent(FakeListChatModel(responses=["Done."]), middleware=[guard])
        >>> agent.invoke({"messages": [("user", "Go.")]})["messages"][-1].content
        'Done.'
    """

    def __init__(
        self,
        *,
        config: RepeatGuardConfig | None = None,
        is_user_prompt: Callable[[HumanMessage], bool] | None = None,
        delivery: Delivery = "human_message",
        **options: Unpack[RepeatGuardOptions],
    ) -> None:
        """Check the settings; see the class for what they mean."""
        super().__init__(config=config, is_user_prompt=is_user_prompt, delivery=delivery, **options)
        # To be able to end a run costs every step: only where it is asked.
        if self._guard.ends_at_limit and not isinstance(self, _EndingRepeatGuardMiddleware):
            self.__class__ = _ending(type(self))

    def before_model(
        self,
        state: GuardedAgentState,
        runtime: Runtime[Any],  # noqa: ARG002  part of the hook's signature
    ) -> dict[str, Any] | None:
        """Return the state update: the reminder that is due, and the chain; None if neither."""
        guard = self._guard
        run = guard.failsafe.run
        update = run(guard.update, state["messages"], state.get(CHANNEL))
        if update is None:
            return None
        if update.event is not None:
            run(send_event, update.event)
        return run(_as_hook_result, update)

    async def abefore_model(
        self,
        state: GuardedAgentState,
        runtime: Runtime[Any],  # noqa: ARG002  part of the hook's signature
    ) -> dict[str, Any] | None:
        """Do as `before_model` does, on the event loop."""
        guard = self._guard
        run = guard.failsafe.run
        update = run(guard.update, state["messages"], state.get(CHANNEL))
        if update is None:
            return None
        if update.event is not None:
            await guard.failsafe.arun(asend_event, update.event)
        return run(_as_hook_result, update)


class _EndingRepeatGuardMiddleware(RepeatGuardMiddleware):
    """Declares its jump: `create_agent` reads that off the class."""

    @hook_config(can_jump_to=["end"])
    def before_model(
        self, state: GuardedAgentState, runtime: Runtime[Any]
    ) -> dict[str, Any] | None:
        """Do as the middleware does; at the limit, end the run."""
        return super().before_model(state, runtime)

    @hook_config(can_jump_to=["end"])
    async def abefore_model(
        self, state: GuardedAgentState, runtime: Runtime[Any]
    ) -> dict[str, Any] | None:
        """Do as `before_model` does, on the event loop."""
        return await super().abefore_model(state, runtime)


def _ending(kind: type[RepeatGuardMiddleware]) -> type[RepeatGuardMiddleware]:
    """Return the class that ends runs in place of `kind`, which may be a user's own."""
    if kind is RepeatGuardMiddleware:
        return _EndingRepeatGuardMiddleware
    return type(kind.__name__, (_EndingRepeatGuardMiddleware, kind), {"__doc__": kind.__doc__})


def _as_hook_result(update: StateUpdate) -> dict[str, Any] | None:
    if update.is_at_limit:
        return {**update.values, "jump_to": "end"}
    return update.values or None
