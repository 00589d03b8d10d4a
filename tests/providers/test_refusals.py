"""Providers that refuse a user message behind tool results, and the warning before it happens."""

import logging
from collections.abc import Callable
from dataclasses import replace

import pytest
from botocore.exceptions import ClientError
from helpers.clients import CLIENTS, converse_claude, converse_llama, mistral
from helpers.replies import Reply
from helpers.stage import ALLOWED, REFUSES_USER_MESSAGE, Stage, asks, prompt, reminders_in
from helpers.strict_server import StrictServer
from helpers.tools import grep
from httpx import HTTPStatusError
from langchain_aws import ChatBedrockConverse
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_mistralai import ChatMistralAI

from langchain_repeat_guard.history.refusals import refusing_model, refusing_sender

BROKEN_RULE = {
    "mistral": "mistral-no-user-behind-tool",
    "converse-llama": "converse-llama-results-alone",
}

refusing = pytest.mark.parametrize(
    "api_and_delivery", [(api, "human_message") for api in sorted(REFUSES_USER_MESSAGE)]
)


def the_warning(chat_model: str) -> str:
    return (
        f"delivers reminders as user messages, and the provider behind {chat_model} is known to "
        "refuse a user message behind tool results. Pass delivery='tool_message', which every "
        "provider accepts."
    )


@refusing
def test_a_user_message_is_refused(stage: Stage) -> None:
    """The request with the first reminder gets the provider's 400, and so does every later one."""
    stage.server.reset([asks("grep") for _ in range(9)])
    agent = stage.agent()
    for _ in range(2):
        with pytest.raises((HTTPStatusError, ClientError), match=r"400|ValidationException"):
            stage.play(agent, prompt("find it"))
    assert len(stage.server.accepted) == 3
    assert stage.server.refused == [BROKEN_RULE[stage.api]] * 2


@pytest.mark.parametrize("api_and_delivery", [("openai-chat", "human_message")])
@pytest.mark.parametrize("attachment", ["transient-middleware"])
def test_a_thread_may_move_to_a_stricter_provider(stage: Stage) -> None:
    """Nothing synthetic is in its messages: with the other delivery it goes on at Mistral."""
    stage.server.reset([*(asks("grep") for _ in range(5)), Reply("no"), asks("grep"), Reply("bye")])
    stage.play(stage.agent(), prompt("find it"))
    moved = replace(stage, api="mistral", delivery="tool_message")
    moved.play(moved.agent(), prompt("again"))
    assert stage.server.refused == []
    assert reminders_in(stage.server.accepted[-1]) == [3, 5]


@refusing
def test_one_warning_names_the_option(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    """It is logged once, at the first tool call and thus long before a reminder is refused."""
    stage.server.reset([asks("grep"), Reply("no"), asks("grep"), Reply("no")])
    with caplog.at_level(logging.WARNING, "langchain_repeat_guard"):
        stage.play(stage.agent(), prompt("find it"), prompt("again"))
    names = [record.getMessage().partition(" ")[2] for record in caplog.records]
    assert names == [the_warning(REFUSES_USER_MESSAGE[stage.api])]


@pytest.mark.parametrize("api_and_delivery", ALLOWED, ids="-".join)
@pytest.mark.parametrize("attachment", ["reminder-node"])
def test_no_warning_where_the_delivery_is_allowed(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    """A delivery that the provider accepts is delivered in silence."""
    stage.server.reset([*(asks("grep") for _ in range(3)), Reply("no")])
    with caplog.at_level(logging.WARNING, "langchain_repeat_guard"):
        stage.play(stage.agent(), prompt("find it"))
    assert caplog.records == []


@pytest.mark.parametrize(
    ("make", "name"),
    [
        pytest.param(mistral, "ChatMistralAI", id="mistral"),
        pytest.param(converse_llama, "ChatBedrockConverse", id="llama-on-bedrock"),
        pytest.param(converse_claude, None, id="claude-on-bedrock"),
        pytest.param(CLIENTS["openai-chat"], None, id="openai"),
        pytest.param(CLIENTS["anthropic"], None, id="anthropic"),
        pytest.param(CLIENTS["gemini"], None, id="gemini"),
    ],
)
def test_chat_models_are_recognised(
    server: StrictServer, make: Callable[[str], BaseChatModel], name: str | None
) -> None:
    """The rule looks at the class and the model id, through bound tools."""
    model = make(server.url)
    assert refusing_model(model) == name
    assert refusing_model(model.bind_tools([grep])) == name


PROFILE = "arn:aws:bedrock:us-east-1:1:application-inference-profile/x"


@pytest.mark.parametrize(
    ("ids", "name"),
    [
        ({"model": "mistral.mistral-large-2402-v1:0"}, "ChatBedrockConverse"),
        ({"model": "us.mistral.pixtral-large-2502-v1:0"}, "ChatBedrockConverse"),
        (
            {"model": PROFILE, "provider": "meta", "base_model": "meta.llama3-70b"},
            "ChatBedrockConverse",
        ),
        ({"model": "amazon.nova-pro-v1:0"}, None),
    ],
    ids=["mistral", "mistral-in-a-region", "base-model", "nova"],
)
def test_bedrock_model_ids_are_recognised(
    server: StrictServer, ids: dict[str, str], name: str | None
) -> None:
    """Bedrock's model id, or its base model, says whose model it is."""
    keys = {"aws_access_key_id": "no", "aws_secret_access_key": "no", "region_name": "us-east-1"}
    assert refusing_model(ChatBedrockConverse(endpoint_url=server.url, **keys, **ids)) == name


def test_a_subclass_is_recognised() -> None:
    """A host's own subclass of a chat model talks to the same provider."""
    own = type("OwnModel", (ChatMistralAI,), {})
    assert refusing_model(own(api_key="no")) == "ChatMistralAI"


def test_no_chat_model_is_no_refusal() -> None:
    """Whatever has no known name is left alone."""
    assert refusing_model(object()) is None
    assert refusing_sender(AIMessage("no")) is None
