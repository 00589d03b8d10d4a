"""Reports about refused or mangled requests, replayed on the real packages (by report number)."""

from typing import Any

import pytest
from helpers.attachments import ATTACHMENTS, Host
from helpers.models import ScriptedModel, call, says
from helpers.order_rules import broken_rule
from helpers.replies import Reply
from helpers.stage import Stage, asks, prompt, reminders_in
from helpers.tools import grep
from helpers.turns import READERS
from langchain_core.messages import AIMessage

each_openai_delivery = pytest.mark.parametrize(
    "api_and_delivery", [("openai-chat", "human_message"), ("openai-chat", "tool_message")]
)


def of_api(*pairs: tuple[str, str]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("api_and_delivery", pairs, ids="-".join)


def roles_of(api: str, request: dict[str, Any]) -> list[str]:
    """Return the turns of a request as `role: kinds of parts`."""
    return [
        f"{turn.role}: {' '.join(part.kind for part in turn.parts)}"
        for turn in READERS[api](request)
    ]


@of_api(("openai-chat", "human_message"), ("openai-responses", "human_message"))
def test_r40_nothing_between_calls_and_results(stage: Stage) -> None:
    """A reminder behind parallel calls stands behind all their results, on every request."""
    stage.server.reset([asks("grep"), asks("grep"), asks("grep", "grep"), Reply("no")])
    stage.play(stage.agent(), prompt("find it"))
    assert roles_of(stage.api, stage.server.accepted[-1]) == [
        *["user: text", "assistant: call", "tool: result", "assistant: call", "tool: result"],
        *["assistant: call call", "tool: result", "tool: result", "user: text"],
    ]


@of_api(("mistral", "tool_message"))
def test_r43_mistral_gets_no_role_change(stage: Stage) -> None:
    """Delivered in the tool message, a reminder adds no turn behind the results."""
    stage.server.reset([*(asks("grep") for _ in range(3)), Reply("no")])
    stage.play(stage.agent(), prompt("find it"))
    roles = [message["role"] for message in stage.server.accepted[-1]["messages"]]
    assert roles == ["user", *["assistant", "tool"] * 3]
    assert reminders_in(stage.server.accepted[-1]) == [3]


@of_api(("gemini", "human_message"))
def test_r46_gemini_responses_stand_directly_behind_calls(stage: Stage) -> None:
    """The reminder is a turn of its own behind the turn of all responses."""
    stage.server.reset([asks("grep", "grep", "grep"), Reply("no")])
    stage.play(stage.agent(), prompt("find it"))
    assert roles_of(stage.api, stage.server.accepted[-1]) == [
        "user: text",
        "assistant: call call call",
        "user: result result result",
        "user: text",
    ]


@of_api(("converse-llama", "tool_message"))
def test_r48_converse_turn_of_results_has_no_text(stage: Stage) -> None:
    """Delivered in the tool message, the turn of results holds results only."""
    stage.server.reset([*(asks("grep") for _ in range(3)), Reply("no")])
    stage.play(stage.agent(), prompt("find it"))
    assert roles_of(stage.api, stage.server.accepted[-1])[-1] == "user: result"
    assert reminders_in(stage.server.accepted[-1]) == [3]


@of_api(("converse-claude", "human_message"))
def test_r48_converse_user_message_joins_the_turn_of_results(stage: Stage) -> None:
    """Delivered as a message, the reminder becomes a text behind the results of the same turn."""
    stage.server.reset([*(asks("grep") for _ in range(3)), Reply("no")])
    stage.play(stage.agent(), prompt("find it"))
    request = stage.server.accepted[-1]
    assert roles_of(stage.api, request)[-1] == "user: result text"
    broken = broken_rule("converse-llama", request)
    assert broken is not None
    assert broken[0].id == "converse-llama-results-alone"


@of_api(("anthropic", "human_message"), ("anthropic", "tool_message"))
def test_r51_claude_is_reminded_once_per_threshold(stage: Stage) -> None:
    """Twelve identical calls bring three reminders; in the tool message there is no text turn."""
    stage.server.reset([*(asks("grep") for _ in range(12)), Reply("no")])
    stage.play(stage.agent(), prompt("find it"))
    request = stage.server.accepted[-1]
    assert reminders_in(request) == [3, 5, 8]
    with_text = [role for role in roles_of(stage.api, request) if role == "user: result text"]
    assert len(with_text) == (3 if stage.delivery == "human_message" else 0)


@pytest.mark.parametrize("delivery", ["human_message", "tool_message"])
def test_r53_model_messages_are_passed_on_unchanged(attachment: str, delivery: str) -> None:
    """What thinking modes keep on the model's messages is on them in every request."""
    turns = [
        AIMessage(
            "",
            id=f"ai{number}",
            tool_calls=[call("grep", {"pattern": "a"}, f"c{number}")],
            additional_kwargs={"reasoning_content": f"thought {number}"},
            response_metadata={"model_name": "m", "finish_reason": "tool_calls"},
            usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
        )
        for number in range(3)
    ]
    model = ScriptedModel(script=[*turns, says("no")])
    ATTACHMENTS[attachment](Host(model, [grep]), delivery=delivery).invoke(prompt("find it"))
    assert [one for one in model.requests[-1] if isinstance(one, AIMessage)] == turns
    assert len(reminders_in({"read": [str(one.content) for one in model.requests[-1]]})) == 1


@each_openai_delivery
def test_r54_no_message_has_a_name(stage: Stage) -> None:
    """The reminder is sent with role and content only."""
    stage.server.reset([*(asks("grep") for _ in range(3)), Reply("no")])
    stage.play(stage.agent(), prompt("find it"))
    sent = stage.server.accepted[-1]["messages"]
    assert [message for message in sent if "name" in message] == []
    if stage.delivery == "human_message":
        assert set(sent[-1]) == {"role", "content"}
