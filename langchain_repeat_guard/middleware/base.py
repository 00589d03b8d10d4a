"""What both middlewares are: their settings, their state, and the name that agents know them by."""

from collections.abc import Callable
from typing import Annotated, Any, NotRequired, Unpack

from langchain.agents import AgentState
from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import PrivateStateAttr
from langchain_core.messages import HumanMessage

from langchain_repeat_guard.core.config import RepeatGuardConfig
from langchain_repeat_guard.core.options import RepeatGuardOptions
from langchain_repeat_guard.history.delivery import Delivery
from langchain_repeat_guard.history.guard import HistoryGuard


class GuardedAgentState(AgentState[Any]):
    """An agent's state with the guard's channel, which is no part of its input and output."""

    repeat_guard: NotRequired[Annotated[dict[str, Any], PrivateStateAttr]]


class GuardMiddleware(AgentMiddleware[GuardedAgentState, Any, Any]):
    """A middleware with a guard's settings; its subclasses deliver what the guard finds."""

    state_schema = GuardedAgentState

    def __init__(
        self,
        *,
        config: RepeatGuardConfig | None = None,
        is_user_prompt: Callable[[HumanMessage], bool] | None = None,
        delivery: Delivery = "human_message",
        **options: Unpack[RepeatGuardOptions],
    ) -> None:
        """Check the settings; the public classes say what they mean."""
        super().__init__()
        self._guard = HistoryGuard(
            type(self).__name__,
            config=config,
            options=options,
            messages_key="messages",
            is_user_prompt=is_user_prompt,
            delivery=delivery,
            repairs_malformed=True,
            can_end_run=True,
            asked_before_first_step=True,
        )

    @property
    def name(self) -> str:
        """The one name of every guard, so that `create_agent` refuses a second one."""
        return "RepeatGuardMiddleware"

    @property
    def config(self) -> RepeatGuardConfig:
        """The settings in force."""
        return self._guard.config
