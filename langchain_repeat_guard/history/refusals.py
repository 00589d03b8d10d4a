"""Models whose providers are known to refuse a user message behind tool results.

Recognised by name alone: no provider's package is imported.
"""

from typing import NamedTuple

from langchain_core.messages import AIMessage


class _Refusal(NamedTuple):
    """A chat model that is known to refuse, always or for some model ids."""

    chat_model: str
    """Name of LangChain's class."""

    provider: str
    """What the class writes into `response_metadata["model_provider"]`."""

    model_ids: tuple[str, ...]
    """What one of the model's ids has in it; every id has the empty string."""


# https://github.com/langchain-ai/langchain/issues/22928 (Mistral's API, code 3230),
# https://github.com/langchain-ai/langchain-aws/issues/141 (Llama and Mistral on Bedrock).
_REFUSALS = (
    _Refusal("ChatMistralAI", "mistralai", ("",)),
    _Refusal("ChatBedrockConverse", "bedrock_converse", ("meta.", "mistral")),
    _Refusal("ChatBedrock", "bedrock", ("meta.", "mistral")),
)


def refusing_model(model: object) -> str | None:
    """Return the name of a chat model that refuses a user message behind tool results, or None.

    Args:
        model: A chat model, with or without bound tools.
    """
    while (bound := getattr(model, "bound", None)) is not None:
        model = bound
    classes = {kind.__name__ for kind in type(model).__mro__}
    ids = f"{_text(model, 'provider')}. {_text(model, 'model_id')} {_text(model, 'base_model_id')}"
    for refusal in _REFUSALS:
        if refusal.chat_model in classes and _has_one_of(ids, refusal.model_ids):
            return refusal.chat_model
    return None


def refusing_sender(message: AIMessage) -> str | None:
    """Return the name of the chat model that wrote `message` if it is one that refuses, or None."""
    provider = message.response_metadata.get("model_provider")
    model_id = str(message.response_metadata.get("model_name"))
    for refusal in _REFUSALS:
        if refusal.provider == provider and _has_one_of(model_id, refusal.model_ids):
            return refusal.chat_model
    return None


def _text(model: object, attribute: str) -> str:
    value = getattr(model, attribute, None)
    return value if isinstance(value, str) else ""


def _has_one_of(text: str, parts: tuple[str, ...]) -> bool:
    return any(part in text.lower() for part in parts)
