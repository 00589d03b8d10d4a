"""A provider's chat model in a guarded agent, on the strict server."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool
from langgraph.checkpoint.memory import InMemorySaver

from helpers.attachments import ATTACHMENTS, Host
from helpers.clients import CLIENTS
from helpers.replies import Reply, ScriptedCall
from helpers.strict_server import StrictServer
from helpers.texts import FIRST_TEXT, LATER_HEAD
from helpers.tools import grep

REFUSES_USER_MESSAGE = {"mistral": "ChatMistralAI", "converse-llama": "ChatBedrockConverse"}
"""APIs that refuse a user message behind tool results, and LangChain's classes for them."""

ALLOWED = [
    (api, delivery)
    for api in sorted(CLIENTS)
    for delivery in ("human_message", "tool_message")
    if delivery == "tool_message" or api not in REFUSES_USER_MESSAGE
]
"""Every API, with every delivery that it allows."""

_ONE_REMINDER = re.compile(
    f"{re.escape(FIRST_TEXT)}|{re.escape(LATER_HEAD)}.*?consecutive_calls: (\\d+)"
)
_numbers = count(1)
_CONFIG: Any = {"configurable": {"thread_id": "1"}}


def asks(*names: str) -> Reply:
    """Return a reply with one call of each name, all with the same arguments."""
    ids = [f"call{next(_numbers):05}" for _ in names]
    calls = [
        ScriptedCall(name, {"pattern": "a"}, id_) for name, id_ in zip(names, ids, strict=True)
    ]
    return Reply(calls=tuple(calls))


def prompt(text: str) -> dict[str, Any]:
    """Return an agent's input with one message of the user's."""
    return {"messages": [("user", text)]}


@cache
def client(make: Callable[..., BaseChatModel], url: str, *, streaming: bool) -> BaseChatModel:
    """Return a provider's chat model, made once for each way to answer."""
    return make(url, streaming=streaming)


def reminders_in(request: dict[str, Any]) -> list[int]:
    """Return the lengths of the chains that a request to a model tells it about."""
    found = _ONE_REMINDER.findall(json.dumps(request, ensure_ascii=False))
    return [int(length or 3) for length in found]


@dataclass
class Stage:
    """One API, one delivery, one attachment, one thread."""

    server: StrictServer
    api: str
    delivery: str
    attachment: str
    streaming: bool = False
    tools: Sequence[BaseTool] = (grep,)
    has_own_client: bool = False
    """An asynchronous client belongs to one event loop, and thus to one test."""

    saver: InMemorySaver = field(default_factory=InMemorySaver)

    def agent(self, *, approves: bool = False, summarises: bool = False, **options: Any) -> Any:
        """Return a new agent object on the thread's saver."""
        get = client.__wrapped__ if self.has_own_client else client
        model = get(CLIENTS[self.api], self.server.url, streaming=self.streaming)
        host = Host(model, self.tools, self.saver, approves=approves, summarises=summarises)
        return ATTACHMENTS[self.attachment](host, delivery=self.delivery, **options)

    def play(self, agent: Any, *steps: Any) -> None:
        """Give the thread one input after another."""
        for step in steps:
            agent.invoke(step, _CONFIG)

    @property
    def messages(self) -> list[Any]:
        """The messages of the thread's newest checkpoint."""
        checkpoint = self.saver.get(_CONFIG)
        assert checkpoint is not None
        return list(checkpoint["channel_values"]["messages"])

    def read_after_each_step(self, steps: int) -> list[list[int]]:
        """Return what the model was told of after each of its first steps."""
        return [reminders_in(request) for request in self.server.accepted[1 : steps + 1]]
