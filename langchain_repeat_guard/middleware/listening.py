"""What models really get, while a request passes through the middlewares further inside."""

from contextvars import Token
from typing import Any, Self

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage, convert_to_messages
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import (
    ensure_config,
    merge_configs,
    var_child_runnable_config,
)


class ModelInputs(BaseCallbackHandler):
    """Hears what the chat models get that run between `join` and `leave`."""

    run_inline = True
    ignore_agent = ignore_chain = ignore_custom_event = ignore_retriever = ignore_retry = True

    def __init__(self) -> None:
        """Start with nothing heard."""
        self._heard: list[list[BaseMessage]] = []
        self._token: Token[RunnableConfig | None] | None = None

    @classmethod
    def join(cls) -> Self:
        """Return a listener that is among the callbacks of the run in progress."""
        inputs = cls()
        joined = merge_configs(ensure_config(), {"callbacks": [inputs]})
        inputs._token = var_child_runnable_config.set(joined)
        return inputs

    def leave(self) -> None:
        """Leave the callbacks."""
        if self._token is not None:
            var_child_runnable_config.reset(self._token)

    def on_chat_model_start(
        self,
        serialized: dict[str, Any],  # noqa: ARG002
        messages: list[list[BaseMessage]],
        **_: Any,
    ) -> None:
        """Hear what one model gets."""
        self._heard += messages

    def show_edit_of(self, sent: list[Any]) -> bool:
        """Tell whether a model got a part of the messages `sent`, and none got just them."""
        expected = _comparable(convert_to_messages(sent))
        heard = [_comparable(messages) for messages in self._heard]
        return expected not in heard and any(
            not set(expected).isdisjoint(messages) for messages in heard
        )


def _comparable(messages: list[BaseMessage]) -> list[tuple[str | None, str]]:
    # Tracing rewrites content blocks, so that only plain text is a safe comparison.
    return [
        (message.id, message.content if isinstance(message.content, str) else "")
        for message in messages
        if message.type != "system"
    ]
