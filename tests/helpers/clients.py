"""The real chat models of the provider packages, talking to the strict server."""

import warnings
from collections.abc import Callable
from typing import Any

from langchain_core.language_models import BaseChatModel

_KEY: Any = "not-a-key"


def openai_chat(url: str, *, streaming: bool = False) -> BaseChatModel:
    """Return ChatOpenAI on chat completions."""
    from langchain_openai import ChatOpenAI  # noqa: PLC0415  provider packages load slowly

    return ChatOpenAI(
        model="gpt-4o",
        base_url=f"{url}/openai/v1",
        api_key=_KEY,
        max_retries=0,
        streaming=streaming,
    )


def openai_responses(url: str, *, streaming: bool = False) -> BaseChatModel:
    """Return ChatOpenAI on responses."""
    from langchain_openai import ChatOpenAI  # noqa: PLC0415

    return ChatOpenAI(
        model="gpt-4o",
        base_url=f"{url}/openai/v1",
        api_key=_KEY,
        max_retries=0,
        streaming=streaming,
        use_responses_api=True,
    )


def anthropic(url: str, *, streaming: bool = False) -> BaseChatModel:
    """Return ChatAnthropic."""
    from langchain_anthropic import ChatAnthropic  # noqa: PLC0415

    return ChatAnthropic(
        model_name="claude-x",
        base_url=f"{url}/anthropic",
        api_key=_KEY,
        max_retries=0,
        max_tokens_to_sample=100,
        streaming=streaming,
        timeout=None,
        stop=None,
    )


def mistral(url: str, *, streaming: bool = False) -> BaseChatModel:
    """Return ChatMistralAI."""
    from langchain_mistralai import ChatMistralAI  # noqa: PLC0415

    return ChatMistralAI(
        model_name="mistral-small-latest",
        base_url=f"{url}/mistral/v1",
        api_key=_KEY,
        max_retries=0,
        streaming=streaming,
    )


def gemini(url: str, *, streaming: bool = False) -> BaseChatModel:
    """Return ChatGoogleGenerativeAI."""
    from langchain_google_genai import ChatGoogleGenerativeAI  # noqa: PLC0415

    return ChatGoogleGenerativeAI(
        model="gemini-2.5-flash",
        base_url=f"{url}/gemini",
        api_key=_KEY,
        max_retries=0,
        streaming=streaming,
    )


def converse_claude(url: str, *, streaming: bool = False) -> BaseChatModel:
    """Return ChatBedrockConverse with a Claude model."""
    return _converse(url, "anthropic.claude-3-5-sonnet-20240620-v1:0")


def converse_llama(url: str, *, streaming: bool = False) -> BaseChatModel:
    """Return ChatBedrockConverse with a Llama model."""
    return _converse(url, "us.meta.llama3-3-70b-instruct-v1:0")


def _converse(url: str, model: str) -> BaseChatModel:
    from langchain_aws import ChatBedrockConverse  # noqa: PLC0415

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ChatBedrockConverse(
            model=model,
            region_name="us-east-1",
            endpoint_url=url,
            aws_access_key_id=_KEY,
            aws_secret_access_key=_KEY,
        )


CLIENTS: dict[str, Callable[..., BaseChatModel]] = {
    "openai-chat": openai_chat,
    "openai-responses": openai_responses,
    "anthropic": anthropic,
    "mistral": mistral,
    "gemini": gemini,
    "converse-claude": converse_claude,
    "converse-llama": converse_llama,
}
"""A client for each API of the server, by the API's name."""
