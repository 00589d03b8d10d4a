"""What providers say about the order of messages, as a table.

No provider was asked: each row cites the page or the report that it is taken from. Where a report
leaves something open, the row is the stricter reading.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from helpers.turns import READERS, Request, Turn

Check = Callable[[list[Turn]], str | None]
"""Returns what is wrong with the turns, or None."""


@dataclass(frozen=True)
class OrderRule:
    """One rule of one API, with a request that keeps it and one that breaks it."""

    id: str
    api: str
    says: str
    source: str
    check: Check
    error: str
    """The provider's words; `{0}` stands for what the check has found."""

    accepted: Request
    refused: Request
    status: int = 400


def broken_rule(api: str, request: Request) -> tuple[OrderRule, str] | None:
    """Return the first rule of `api` that `request` breaks, with the provider's words for it."""
    turns = READERS[api](request)
    for rule in ORDER_RULES:
        if rule.api == api and (found := rule.check(turns)) is not None:
            return rule, rule.error.format(found)
    return None


def unanswered_in_tool_turns(turns: list[Turn]) -> str | None:
    """Find calls whose results do not stand in tool turns directly behind them."""
    for place, turn in enumerate(turns):
        missing = turn.ids("call")
        for answer in turns[place + 1 :]:
            if answer.role != "tool":
                break
            missing = [call for call in missing if call not in answer.ids("result")]
        if missing:
            return ", ".join(missing)
    return None


def unrequested_result(turns: list[Turn]) -> str | None:
    """Find a tool turn that answers no call of the assistant turn before it."""
    asked: list[str] = []
    for turn in turns:
        if turn.role != "tool":
            asked = turn.ids("call")
        elif unknown := [result for result in turn.ids("result") if result not in asked]:
            return unknown[0]
    return None


def unanswered_in_next_turn(turns: list[Turn]) -> str | None:
    """Find calls whose results are not the first parts of the next turn."""
    for turn, after in zip(turns, [*turns[1:], Turn("user", ())], strict=True):
        calls = turn.ids("call")
        first = [part.id for part in after.parts[: len(calls)] if part.kind == "result"]
        if missing := [call for call in calls if call not in first]:
            return ", ".join(missing)
    return None


def unrequested_in_next_turn(turns: list[Turn]) -> str | None:
    """Find a result that answers no call of the turn before it."""
    for before, turn in pairwise([Turn("user", ()), *turns]):
        if unknown := [one for one in turn.ids("result") if one not in before.ids("call")]:
            return unknown[0]
    return None


def text_beside_results(turns: list[Turn]) -> str | None:
    """Find a turn that mixes results and text."""
    mixed = [turn for turn in turns if turn.ids("result") and turn.ids("text")]
    return "" if mixed else None


def unequal_numbers(turns: list[Turn]) -> str | None:
    """Find a turn of calls that is not followed by a turn of as many results."""
    for turn, after in zip(turns, [*turns[1:], Turn("user", ())], strict=True):
        if turn.ids("call") and turn.ids("call") != after.ids("result"):
            return ""
    return None


def user_behind_tool(turns: list[Turn]) -> str | None:
    """Find a user turn directly behind a tool turn."""
    found = any(a.role == "tool" and b.role == "user" for a, b in pairwise(turns))
    return "" if found else None


def bad_name(turns: list[Turn]) -> str | None:
    """Find a name with characters that OpenAI refuses."""
    for place, turn in enumerate(turns):
        if turn.name is not None and not re.fullmatch(r"[a-zA-Z0-9_-]+", turn.name):
            return str(place)
    return None


def named_user(turns: list[Turn]) -> str | None:
    """Find a user turn that has a name at all."""
    for place, turn in enumerate(turns):
        if turn.role == "user" and turn.name is not None:
            return str(place)
    return None


def _chat(*messages: dict[str, Any]) -> Request:
    return {"model": "m", "messages": list(messages)}


def _asks(*ids: str) -> dict[str, Any]:
    function = {"name": "grep", "arguments": "{}"}
    calls = [{"id": one, "type": "function", "function": function} for one in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def _tool(id_: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id_, "content": "nothing"}


def _user(text: str = "go on", **more: str) -> dict[str, Any]:
    return {"role": "user", "content": text, **more}


def _items(*items: dict[str, Any]) -> Request:
    return {"model": "m", "input": list(items)}


def _call_item(id_: str) -> dict[str, Any]:
    return {"type": "function_call", "call_id": id_, "name": "grep", "arguments": "{}"}


def _output_item(id_: str) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": id_, "output": "nothing"}


def _blocks(*messages: tuple[str, list[dict[str, Any]]]) -> Request:
    return {
        "model": "m",
        "messages": [{"role": role, "content": content} for role, content in messages],
    }


_TEXT = {"type": "text", "text": "go on"}


def _use(id_: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": id_, "name": "grep", "input": {}}


def _result(id_: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id_, "content": "nothing"}


def _contents(*contents: tuple[str, list[dict[str, Any]]]) -> Request:
    return {"contents": [{"role": role, "parts": parts} for role, parts in contents]}


_CALLS = {"functionCall": {"name": "grep", "args": {}}}
_RESPONDS = {"functionResponse": {"name": "grep", "response": {"output": "nothing"}}}
_SAYS = {"text": "go on"}


def _tool_use(id_: str) -> dict[str, Any]:
    return {"toolUse": {"toolUseId": id_, "name": "grep", "input": {}}}


def _tool_result(id_: str) -> dict[str, Any]:
    return {"toolResult": {"toolUseId": id_, "content": [{"text": "nothing"}]}}


_OPENAI_UNANSWERED = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
    "'tool_call_id'. The following tool_call_ids did not have response messages: {0}"
)
_ANTHROPIC_UNANSWERED = (
    "`tool_use` ids were found without `tool_result` blocks immediately after: {0}. Each "
    "`tool_use` block must have a corresponding `tool_result` block in the next message."
)
_CONVERSE_UNANSWERED = "Expected toolResult blocks for the following Ids: {0}"

ORDER_RULES: tuple[OrderRule, ...] = (
    OrderRule(
        id="openai-chat-every-call-answered",
        api="openai-chat",
        says="Tool messages for every call stand directly behind the assistant's message.",
        source="https://github.com/bytedance/deer-flow/issues/2724 , "
        "https://docs.langchain.com/oss/python/langgraph/errors/INVALID_CHAT_HISTORY.md",
        check=unanswered_in_tool_turns,
        error=_OPENAI_UNANSWERED,
        accepted=_chat(_user(), _asks("c1", "c2"), _tool("c1"), _tool("c2"), _user()),
        refused=_chat(_user(), _asks("c1", "c2"), _tool("c1"), _user(), _tool("c2")),
    ),
    OrderRule(
        id="openai-chat-no-result-without-call",
        api="openai-chat",
        says="A tool message answers a call of the assistant's message before it.",
        source="https://github.com/langchain-ai/langgraph/issues/874",
        check=unrequested_result,
        error="messages with role 'tool' must be a response to a preceding message with "
        "'tool_calls'.",
        accepted=_chat(_user(), _asks("c1"), _tool("c1")),
        refused=_chat(_user(), _tool("c1")),
    ),
    OrderRule(
        id="openai-chat-name-characters",
        api="openai-chat",
        says="A name holds letters, digits, _ and - only.",
        source="https://github.com/microsoft/autogen/issues/4157",
        check=bad_name,
        error="Invalid 'messages[{0}].name': string does not match pattern '^[a-zA-Z0-9_-]+$'.",
        accepted=_chat(_user(name="repeat_guard")),
        refused=_chat(_user(name="repeat guard")),
    ),
    OrderRule(
        id="openai-responses-every-call-answered",
        api="openai-responses",
        says="The outputs of all calls stand directly behind the calls (the strict reading).",
        source="https://docs.langchain.com/oss/python/langgraph/errors/INVALID_CHAT_HISTORY.md",
        check=unanswered_in_tool_turns,
        error="No tool output found for function call {0}.",
        accepted=_items(
            _user(), _call_item("c1"), _call_item("c2"), _output_item("c1"), _output_item("c2")
        ),
        refused=_items(_user(), _call_item("c1"), _call_item("c2"), _output_item("c1"), _user()),
    ),
    OrderRule(
        id="openai-responses-no-output-without-call",
        api="openai-responses",
        says="An output answers a call before it.",
        source="https://github.com/langchain-ai/langgraph/issues/874",
        check=unrequested_result,
        error="No tool call found for function call output with call_id {0}.",
        accepted=_items(_user(), _call_item("c1"), _output_item("c1"), _user()),
        refused=_items(_user(), _output_item("c1")),
    ),
    OrderRule(
        id="anthropic-results-first",
        api="anthropic",
        says="The next message begins with the results of all calls; text may follow them.",
        source="https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls",
        check=unanswered_in_next_turn,
        error=_ANTHROPIC_UNANSWERED,
        accepted=_blocks(
            ("user", [_TEXT]),
            ("assistant", [_use("c1"), _use("c2")]),
            ("user", [_result("c1"), _result("c2"), _TEXT]),
        ),
        refused=_blocks(
            ("user", [_TEXT]),
            ("assistant", [_use("c1"), _use("c2")]),
            ("user", [_result("c1"), _TEXT, _result("c2")]),
        ),
    ),
    OrderRule(
        id="anthropic-no-result-without-call",
        api="anthropic",
        says="A result answers a call of the message before it.",
        source="https://github.com/anthropics/claude-code/issues/33757",
        check=unrequested_in_next_turn,
        error="unexpected `tool_use_id` found in `tool_result` blocks: {0}. Each `tool_result` "
        "block must have a corresponding `tool_use` block in the previous message.",
        accepted=_blocks(("user", [_TEXT]), ("assistant", [_use("c1")]), ("user", [_result("c1")])),
        refused=_blocks(("user", [_TEXT]), ("assistant", [_TEXT]), ("user", [_result("c1")])),
    ),
    OrderRule(
        id="mistral-no-user-behind-tool",
        api="mistral",
        says="The assistant speaks next after a tool message.",
        source="https://github.com/langchain-ai/langchain/issues/22928 , "
        "https://github.com/danny-avila/LibreChat/issues/12429 , "
        "https://github.com/zed-industries/zed/issues/37021",
        check=user_behind_tool,
        error="Unexpected role 'user' after role 'tool'",
        accepted=_chat(_user(), _asks("c1"), _tool("c1")),
        refused=_chat(_user(), _asks("c1"), _tool("c1"), _user()),
    ),
    OrderRule(
        id="mistral-every-call-answered",
        api="mistral",
        says="Tool messages for every call stand directly behind the assistant's message.",
        source="https://docs.langchain.com/oss/python/langgraph/errors/INVALID_CHAT_HISTORY.md",
        check=unanswered_in_tool_turns,
        error="Not the same number of function calls and responses",
        accepted=_chat(_user(), _asks("c1", "c2"), _tool("c1"), _tool("c2")),
        refused=_chat(_user(), _asks("c1", "c2"), _tool("c1")),
    ),
    OrderRule(
        id="mistral-no-name",
        api="mistral",
        says="A user's message has no name.",
        source="https://github.com/microsoft/autogen/issues/2748 , "
        "https://github.com/BerriAI/litellm/issues/6696",
        check=named_user,
        error="{0}",
        accepted=_chat(_user()),
        refused=_chat(_user(name="repeat_guard")),
        status=422,
    ),
    OrderRule(
        id="gemini-responses-directly-behind-calls",
        api="gemini",
        says="A turn of calls is followed directly by a turn of as many responses.",
        source="https://github.com/langchain-ai/langgraph/issues/2276",
        check=unequal_numbers,
        error="Please ensure that the number of function response parts is equal to the number of "
        "function call parts of the function call turn.",
        accepted=_contents(
            ("user", [_SAYS]),
            ("model", [_CALLS, _CALLS]),
            ("user", [_RESPONDS, _RESPONDS]),
            ("user", [_SAYS]),
        ),
        refused=_contents(
            ("user", [_SAYS]),
            ("model", [_CALLS, _CALLS]),
            ("user", [_RESPONDS]),
            ("user", [_SAYS]),
            ("user", [_RESPONDS]),
        ),
    ),
    OrderRule(
        id="gemini-responses-alone",
        api="gemini",
        says="A turn of responses holds no free text.",
        source="https://github.com/anomalyco/opencode/pull/43479 , "
        "https://github.com/decolua/9router/pull/3055",
        check=text_beside_results,
        error="Please ensure that function response turn comes immediately after a function call "
        "turn, and holds function responses only.",
        accepted=_contents(
            ("user", [_SAYS]), ("model", [_CALLS]), ("user", [_RESPONDS]), ("user", [_SAYS])
        ),
        refused=_contents(("user", [_SAYS]), ("model", [_CALLS]), ("user", [_RESPONDS, _SAYS])),
    ),
    OrderRule(
        id="converse-claude-results-first",
        api="converse-claude",
        says="The next turn begins with the results of all calls; text may follow them.",
        source="https://docs.aws.amazon.com/bedrock/latest/userguide/tool-use-inference-call.html"
        " , https://github.com/langchain-ai/langchain-aws/pull/389",
        check=unanswered_in_next_turn,
        error=_CONVERSE_UNANSWERED,
        accepted=_blocks(
            ("user", [{"text": "go"}]),
            ("assistant", [_tool_use("c1")]),
            ("user", [_tool_result("c1"), {"text": "go on"}]),
        ),
        refused=_blocks(
            ("user", [{"text": "go"}]),
            ("assistant", [_tool_use("c1")]),
            ("user", [{"text": "go on"}, _tool_result("c1")]),
        ),
    ),
    OrderRule(
        id="converse-llama-results-first",
        api="converse-llama",
        says="The next turn begins with the results of all calls.",
        source="https://docs.aws.amazon.com/bedrock/latest/userguide/tool-use-inference-call.html",
        check=unanswered_in_next_turn,
        error=_CONVERSE_UNANSWERED,
        accepted=_blocks(
            ("user", [{"text": "go"}]),
            ("assistant", [_tool_use("c1")]),
            ("user", [_tool_result("c1")]),
        ),
        refused=_blocks(
            ("user", [{"text": "go"}]),
            ("assistant", [_tool_use("c1"), _tool_use("c2")]),
            ("user", [_tool_result("c1")]),
        ),
    ),
    OrderRule(
        id="converse-llama-results-alone",
        api="converse-llama",
        says="A turn with results holds no text.",
        source="https://github.com/langchain-ai/langchain-aws/issues/141 , "
        "https://github.com/strands-agents/harness-sdk/issues/1223",
        check=text_beside_results,
        error="Conversation blocks and tool result blocks cannot be provided in the same turn.",
        accepted=_blocks(
            ("user", [{"text": "go"}]),
            ("assistant", [_tool_use("c1")]),
            ("user", [_tool_result("c1")]),
        ),
        refused=_blocks(
            ("user", [{"text": "go"}]),
            ("assistant", [_tool_use("c1")]),
            ("user", [_tool_result("c1"), {"text": "go on"}]),
        ),
    ),
)
"""Every rule that the strict server keeps."""
