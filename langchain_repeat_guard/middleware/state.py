"""What the middlewares add to an agent's state, and the name under which agents know them."""

from typing import Annotated, Any, NotRequired

from langchain.agents import AgentState
from langchain.agents.middleware.types import PrivateStateAttr

NAME = "RepeatGuardMiddleware"
"""The one name of both, so that `create_agent` refuses a second guard."""


class GuardedAgentState(AgentState[Any]):
    """An agent's state with the guard's channel, which is no part of its input and output."""

    repeat_guard: NotRequired[Annotated[dict[str, Any], PrivateStateAttr]]
