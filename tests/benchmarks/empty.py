"""A handler and hooks that do nothing, beside which the guard's own are measured."""

from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain_core.callbacks import BaseCallbackHandler


class EmptyHandler(BaseCallbackHandler):
    """Listens to everything and does nothing."""

    run_inline = True

    def on_chat_model_start(self, *_: Any, **__: Any) -> None:
        """Do nothing: the inherited method makes LangChain write the messages out as text."""


class EmptyBeforeModel(AgentMiddleware[Any, Any, Any]):
    """A before_model hook that does nothing."""

    def before_model(self, state: Any, runtime: Any) -> None:
        """Do nothing."""

    async def abefore_model(self, state: Any, runtime: Any) -> None:
        """Do nothing."""


class EmptyWrapModelCall(AgentMiddleware[Any, Any, Any]):
    """A wrap_model_call hook that does nothing."""

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        """Do nothing."""
        return handler(request)

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        """Do nothing."""
        return await handler(request)
