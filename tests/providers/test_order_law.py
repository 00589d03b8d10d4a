"""The order of messages and the silence of the log, over generated runs."""

import logging
from collections.abc import Sequence
from typing import Any

import pytest
from helpers.attachments import ATTACHMENTS, Host
from helpers.models import ScriptedModel, asks, call, says
from helpers.stage import prompt
from helpers.tools import grep, ping
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

from langchain_repeat_guard import is_reminder

CONFIG: Any = {"configurable": {"thread_id": "1"}}
CALLS = st.sampled_from([("grep", "a"), ("grep", "a"), ("grep", "b"), ("ping", ""), ("nope", "a")])
STEPS = st.lists(st.lists(CALLS, min_size=1, max_size=3), min_size=1, max_size=5)
"""The calls of one turn, step by step: known and unknown tools, many of them equal."""

LAW = settings(
    max_examples=10,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def misplaced(messages: Sequence[Any], *, is_whole: bool) -> list[int]:
    """Return where the order is broken: behind a message with calls stand its results only."""
    wrong = []
    for place, message in enumerate(messages):
        if is_reminder(message) and not isinstance(messages[place - 1], ToolMessage):
            wrong.append(place)
        if isinstance(message, AIMessage) and message.tool_calls:
            awaited = {one["id"] for one in message.tool_calls}
            answers = messages[place + 1 : place + 1 + len(awaited)]
            given_ids = {getattr(one, "tool_call_id", None) for one in answers}
            if not (given_ids == awaited or (not is_whole and given_ids < awaited)):
                wrong.append(place)
    return wrong


@pytest.mark.parametrize("delivery", ["human_message", "tool_message"])
@LAW
@given(turns=st.lists(STEPS, min_size=1, max_size=2))
def test_order_and_silence(
    attachment: str,
    delivery: str,
    caplog: pytest.LogCaptureFixture,
    turns: list[list[list[tuple[str, str]]]],
) -> None:
    """In every request and checkpoint results stand behind their calls; no line is logged."""
    script = [
        message
        for steps in turns
        for message in [
            *(asks(*(call(name, {"pattern": text}) for name, text in step)) for step in steps),
            says("done"),
        ]
    ]
    model = ScriptedModel(script=script)
    host = Host(model, [grep, ping], InMemorySaver())
    agent = ATTACHMENTS[attachment](host, thresholds=(2, 3, 4), delivery=delivery)
    with caplog.at_level(logging.INFO, "langchain_repeat_guard"):
        for _ in turns:
            agent.invoke(prompt("go"), CONFIG)
    assert [misplaced(request, is_whole=True) for request in model.requests] == [[]] * len(script)
    for snapshot in agent.get_state_history(CONFIG):
        assert misplaced(snapshot.values.get("messages", []), is_whole=False) == []
    assert [line for line in caplog.messages if "Repeat" in line] == []
