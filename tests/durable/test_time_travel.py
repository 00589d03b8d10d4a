"""Replays and forks from any checkpoint give the reminders of the first run."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from helpers.laws import payload
from helpers.loops import PROMPT, Loop
from helpers.stores import Store

CONFIG: dict[str, Any] = {"configurable": {"thread_id": "1"}}


@pytest.fixture
def short_loop(loop: Loop) -> Loop:
    """Return an agent that repeats one call five times: long enough for both texts."""
    return replace(loop, calls=5)


def without_copy(agent: Any, config: Any) -> Any:
    """Replay from the checkpoint itself."""
    return config


def with_copy(agent: Any, config: Any) -> Any:
    """Fork: put a copy of the checkpoint on top of the thread, and go on from that."""
    return agent.update_state(config, None, as_node="__copy__")


@pytest.mark.parametrize("start", [without_copy, with_copy], ids=["replay", "fork"])
def test_from_each_checkpoint(store: Store, short_loop: Loop, start: Any) -> None:
    """A new agent that starts at any checkpoint sends the rest of the first run's requests.

    The very first checkpoint, which holds no message yet, cannot be forked: its input is lost.
    """
    with store.open() as saver:
        agent = short_loop.agent(saver)
        messages = payload(agent.invoke(PROMPT, CONFIG)["messages"])
        requests = short_loop.requests()
        lengths = {len(requests)} if start is with_copy else set()
        for number, snapshot in enumerate(list(agent.get_state_history(CONFIG))):
            again = replace(short_loop, record=short_loop.record.with_name(f"{number}.jsonl"))
            again.record.touch()
            new = again.agent(saver)
            if snapshot.next and (snapshot.values["messages"] or start is without_copy):
                output = new.invoke(None, start(new, snapshot.config))
                assert payload(output["messages"]) == messages
            sent = again.requests()
            lengths.add(len(sent))
            assert sent == requests[len(requests) - len(sent) :]
    assert lengths == set(range(len(requests) + 1))


def test_from_each_checkpoint_async(store: Store, short_loop: Loop) -> None:
    """The same, on an event loop."""

    async def travel() -> None:
        async with store.aopen() as saver:
            agent = short_loop.agent(saver)
            messages = payload((await agent.ainvoke(PROMPT, CONFIG))["messages"])
            requests = short_loop.requests()
            history = [snapshot async for snapshot in agent.aget_state_history(CONFIG)]
            for number, snapshot in enumerate(history):
                again = replace(short_loop, record=short_loop.record.with_name(f"{number}.jsonl"))
                again.record.touch()
                if snapshot.next:
                    output = await again.agent(saver).ainvoke(None, snapshot.config)
                    assert payload(output["messages"]) == messages
                sent = again.requests()
                assert sent == requests[len(requests) - len(sent) :]

    asyncio.run(travel())


def test_a_fork_counts_its_own_branch(store: Store, loop: Loop) -> None:
    """What a branch adds after the second call is counted from there, not from the other branch."""
    short = replace(loop, calls=4)
    with store.open() as saver:
        agent = short.agent(saver)
        agent.invoke(PROMPT, CONFIG)
        after_two = next(
            snapshot
            for snapshot in agent.get_state_history(CONFIG)
            if len(snapshot.values.get("messages", [])) == 5 and snapshot.next
        )
        branch = replace(short, record=short.record.with_name("branch.jsonl"), pattern="y")
        output = branch.agent(saver).invoke(None, after_two.config)
    texts = [str(message.content) for message in output["messages"]]
    assert not [text for text in texts if text.startswith("You are repeating")]
    assert not [line for request in branch.requests() for line in request if "repeating" in line]
