"""On one agent the event comes once: from whoever delivers, else from the handler."""

from typing import Any

import pytest
from helpers.models import ScriptedModel, asks, call, repeats, says
from helpers.tools import grep, ping
from helpers.watching import watched, watcher
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    LLMToolSelectorMiddleware,
    SummarizationMiddleware,
)

from langchain_repeat_guard import RepeatGuardConfig
from langchain_repeat_guard.history.delivery import reminder_message
from langchain_repeat_guard.history.judge import judge

GREP = {"pattern": "x"}
PROMPT = {"messages": [("user", "hi")]}


class Deliver(AgentMiddleware[Any, Any]):
    """Puts the reminder into the messages, as the package's middlewares do; sends no event."""

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        verdict = judge(state["messages"], None, config=RepeatGuardConfig(thresholds=(2, 3)))
        if not verdict.due:
            return None
        return {"messages": [reminder_message(verdict.due, state["messages"][-2].id)]}


def choosing() -> Any:
    choice = {"tools": ["grep"]}
    model = ScriptedModel(script=lambda _: asks(call("ToolSelectionResponse", choice, "choice")))
    return LLMToolSelectorMiddleware(model=model, max_tools=1)


def summarizing() -> Any:
    model = ScriptedModel(script=lambda _: says("the story so far"))
    return SummarizationMiddleware(model=model, trigger=("messages", 5), keep=("messages", 3))


HELPERS = [
    pytest.param([], id="alone"),
    pytest.param([choosing], id="tool-selector"),
    pytest.param([summarizing], id="summary"),
]


@pytest.mark.parametrize("helpers", HELPERS)
@pytest.mark.parametrize("delivers", [True, False], ids=["delivered", "only-reported"])
def test_the_handler_sends_it_where_nobody_delivers(
    delivers: bool,
    helpers: list[Any],
) -> None:
    """Other models of the same agent neither draw nor repeat the event."""
    middleware = [*([Deliver()] if delivers else []), *[make() for make in helpers]]
    script = [*repeats(3, "grep", GREP), says("done")]
    agent: Any = create_agent(ScriptedModel(script=script), [grep, ping], middleware=middleware)
    handler = watcher(thresholds=(2, 3))
    events = list(agent.stream(PROMPT, watched(handler), stream_mode="custom"))
    sent = [event["reminder_id"] for event in events]
    reported = [record.reminder_id for record in handler.reminders]
    assert (sent, len(reported)) == ([] if delivers else reported, 2)
