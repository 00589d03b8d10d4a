"""Many conversations at once on one agent object do not disturb each other."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from helpers.agents import MakeGuard
from helpers.models import ScriptedModel, asks, call, says
from helpers.pictures import growing, picture, without_reminders
from helpers.tools import grep
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage
from langgraph.checkpoint.memory import InMemorySaver

from langchain_repeat_guard import (
    RepeatGuardMiddleware,
    TransientRepeatGuardMiddleware,
)

THREADS = 200
WHOLE = ["h", "hat", "hatat", "hatatatR3", "hatatatR3at", "hatatatR3atatR5"]


def answer(messages: list[BaseMessage]) -> AIMessage:
    """Repeat one call as often as the prompt says; the same call in every conversation."""
    calls = sum(isinstance(message, AIMessage) for message in messages)
    wanted = int(str(messages[0].content))
    return says("done") if calls == wanted else asks(call("grep", {"pattern": "x"}))


def repeats_wanted(number: int) -> int:
    """Return how often conversation `number` repeats its call."""
    return number % len(WHOLE)


@pytest.mark.parametrize(
    "guard", [RepeatGuardMiddleware, TransientRepeatGuardMiddleware], ids=["stored", "transient"]
)
@pytest.mark.parametrize("is_async", [False, True], ids=["threads", "tasks"])
def test_two_hundred_at_once(guard: MakeGuard, is_async: bool) -> None:
    """Each of 200 simultaneous conversations gets its own reminders, and no other's."""
    model = ScriptedModel(script=answer)
    agent: Any = create_agent(model, [grep], middleware=[guard()], checkpointer=InMemorySaver())

    def arguments(number: int) -> tuple[Any, Any]:
        prompt = {"messages": [("user", str(repeats_wanted(number)))]}
        return prompt, {"configurable": {"thread_id": str(number)}}

    async def all_at_once() -> list[Any]:
        return await asyncio.gather(*(agent.ainvoke(*arguments(n)) for n in range(THREADS)))

    if is_async:
        outputs = asyncio.run(all_at_once())
    else:
        with ThreadPoolExecutor(THREADS) as pool:
            outputs = list(pool.map(lambda n: agent.invoke(*arguments(n)), range(THREADS)))
    ends = [WHOLE[repeats_wanted(number)] for number in range(THREADS)]
    if guard is TransientRepeatGuardMiddleware:
        ends = [without_reminders(end) for end in ends]
    assert [picture(output["messages"]) for output in outputs] == [f"{end}a" for end in ends]
    seen = sorted(picture(request) for request in model.requests)
    assert seen == sorted(
        drawn for number in range(THREADS) for drawn in growing(WHOLE[repeats_wanted(number)])
    )
