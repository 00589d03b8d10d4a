"""Recorded runs for tests, in the forms that people have them."""

import json
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

Calls = Sequence[tuple[str, dict[str, Any]]]

GREP = ("grep", {"pattern": "TODO"})
READ = ("read", {"path": "a.txt"})


def openai_call(name: str, arguments: object, call_id: str = "c") -> dict[str, Any]:
    """Return a call as OpenAI's API has it: arguments as JSON text."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}


def openai_step(*calls: tuple[str, Any], answered: bool = True) -> list[dict[str, Any]]:
    """Return an assistant's message with `calls`, and the tool messages behind it."""
    ids = [f"c{place}" for place in range(len(calls))]
    issued = [
        openai_call(name, arguments, call_id)
        for (name, arguments), call_id in zip(calls, ids, strict=True)
    ]
    step: list[dict[str, Any]] = [{"role": "assistant", "content": None, "tool_calls": issued}]
    if answered:
        step += [{"role": "tool", "tool_call_id": call_id, "content": "none"} for call_id in ids]
    return step


def openai_run(*calls: tuple[str, Any]) -> list[dict[str, Any]]:
    """Return a run with a prompt and a step for each call."""
    run: list[dict[str, Any]] = [{"role": "user", "content": "find it"}]
    for call in calls:
        run += openai_step(call)
    return run


def langchain_run(*calls: tuple[str, dict[str, Any]]) -> list[BaseMessage]:
    """Return the same run as LangChain's messages."""
    run: list[BaseMessage] = [HumanMessage("find it", id="h")]
    for place, (name, args) in enumerate(calls):
        issued = {"name": name, "args": args, "id": f"c{place}"}
        run += [
            AIMessage("", id=f"a{place}", tool_calls=[issued]),
            ToolMessage("none", id=f"t{place}", tool_call_id=f"c{place}", name=name),
        ]
    return run
