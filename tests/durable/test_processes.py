"""Runs that lose their process go on in another one as if nothing had happened."""

from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from helpers.laws import payload
from helpers.loops import Loop, undisturbed
from helpers.stores import Store
from helpers.workers import Job, run_until_killed, serve
from langgraph.checkpoint.memory import InMemorySaver

MOST_PROCESSES = 60


def in_one_go(loop: Loop) -> tuple[list[list[str]], list[str]]:
    """Return requests and final messages of the same run without a disturbance."""
    plain = replace(loop, record=loop.record.with_name("undisturbed.jsonl"))
    return undisturbed(plain, InMemorySaver)


def final_messages(job: Job) -> list[str]:
    """Return the messages of the newest checkpoint, as a provider would get them."""
    with job.store.open() as saver:
        state = job.loop.agent(saver).get_state(job.config)
    return payload(state.values["messages"])


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_killed_at_every_superstep(
    processes: Any, store: Store, loop: Loop, tmp_path: Path, is_async: bool
) -> None:
    """A run whose process dies in every superstep gives the requests of an undisturbed one."""
    job = Job(loop, store, tmp_path / "log", is_async=is_async)
    codes = []
    for moment in cycle(["input", "result"]):
        worker = processes.Process(target=run_until_killed, args=(job, moment))
        worker.start()
        worker.join()
        codes.append(worker.exitcode)
        if worker.exitcode == 0 or len(codes) == MOST_PROCESSES:
            break
    requests, messages = in_one_go(loop)
    assert set(codes[:-1]) == {-9}
    assert codes[-1] == 0
    assert len(codes) > loop.calls
    assert loop.requests() == requests
    assert final_messages(job) == messages
    assert not job.log.read_text()


def test_two_workers_alternating_on_one_thread(
    processes: Any, store: Store, loop: Loop, tmp_path: Path
) -> None:
    """Two processes that each keep an agent, and take turns, act as one."""
    job = Job(loop, store, tmp_path / "log")
    pipes = [processes.Pipe() for _ in range(2)]
    workers = [processes.Process(target=serve, args=(job, theirs)) for _, theirs in pipes]
    for worker, (_, theirs) in zip(workers, pipes, strict=True):
        worker.start()
        theirs.close()  # so that a worker that dies ends the test instead of blocking it
    turns = 0
    for ours, _ in cycle(pipes):
        ours.send("next")
        turns += 1
        if not ours.recv():
            break
    for ours, _ in pipes:
        ours.send(None)
    for worker in workers:
        worker.join()
    requests, messages = in_one_go(loop)
    assert turns == loop.calls + 1
    assert loop.requests() == requests
    assert final_messages(job) == messages
    assert not job.log.read_text()
