"""Agents that repeat one call a given number of times, and keep a record outside their process."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

import langchain_repeat_guard
from helpers.laws import payload
from helpers.models import ScriptedModel, asks, call, says
from helpers.tools import grep
from langchain_repeat_guard import is_reminder

PROMPT = {"messages": [("user", "find it")]}


@dataclass(frozen=True)
class Loop:
    """An agent that calls the same tool with the same arguments, then answers."""

    guard: str
    """Name of the middleware's class."""

    record: Path
    """File to which each request to the model is appended, as the provider gets it."""

    calls: int = 9
    pattern: str = "x"

    def agent(self, saver: Any, **options: Any) -> Any:
        """Return a new agent, with a new guard and a new model."""
        guard = getattr(langchain_repeat_guard, self.guard)()
        model = ScriptedModel(script=self.answer)
        return create_agent(model, [grep], middleware=[guard], checkpointer=saver, **options)

    def answer(self, messages: list[BaseMessage]) -> AIMessage:
        """Answer from the request alone, so that any process gives the same answers."""
        with self.record.open("a") as record:
            record.write(json.dumps(payload(messages)) + "\n")
        calls = [one for one in _since_prompt(messages) if isinstance(one, AIMessage)]
        if len(calls) >= self.calls:
            return says("done")
        return asks(call("grep", {"pattern": self.pattern}, f"call_{len(calls)}"))

    def requests(self) -> list[list[str]]:
        """Return the recorded requests. One that was sent again at once is listed once."""
        lines = self.record.read_text().splitlines()
        return [json.loads(line) for line, _ in groupby(lines)]


def undisturbed(loop: Loop, saver_of: Callable[[], Any]) -> tuple[list[list[str]], list[str]]:
    """Run `loop` in one go; return its requests, and the messages of its final state."""
    agent = loop.agent(saver_of())
    output = agent.invoke(PROMPT, {"configurable": {"thread_id": "undisturbed"}})
    return loop.requests(), payload(output["messages"])


def _since_prompt(messages: Sequence[BaseMessage]) -> Sequence[BaseMessage]:
    prompts = [
        place
        for place, message in enumerate(messages)
        if isinstance(message, HumanMessage) and not is_reminder(message)
    ]
    return messages[prompts[-1] :] if prompts else messages
