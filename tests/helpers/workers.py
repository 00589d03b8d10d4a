"""Processes that run an agent, forked from one parent that has imported everything."""

import asyncio
import logging
import multiprocessing
import os
import signal
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Literal

from helpers.loops import PROMPT, Loop
from helpers.stores import Store

TESTS = Path(__file__).parents[1]


@dataclass(frozen=True)
class Job:
    """What one worker does on one thread of conversation."""

    loop: Loop
    store: Store
    log: Path
    thread_id: str = "1"
    is_async: bool = False

    @property
    def config(self) -> dict[str, Any]:
        """The config of the runs."""
        return {"configurable": {"thread_id": self.thread_id}}


def forking_context() -> Any:
    """Return a context whose processes are forks of one that has imported this module.

    Its processes refuse what no checkpoint should hold (LANGGRAPH_STRICT_MSGPACK).
    """
    paths = [str(TESTS.parent), str(TESTS), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["helpers.workers"])
    return context


def run_until_killed(job: Job, moment: Literal["input", "result"]) -> None:
    """Run or resume the agent, and die by SIGKILL in the second superstep.

    Args:
        job: What to run.
        moment: Whether to die when the superstep's task starts, or when its result is there and no
            checkpoint has it yet.
    """
    _log_to(job.log)
    asyncio.run(_arun(job, moment)) if job.is_async else _run(job, moment)


def serve(job: Job, commands: Connection) -> None:
    """Keep one agent, and run it one step further for each command, until the command is None."""
    _log_to(job.log)
    with job.store.open() as saver:
        agent = job.loop.agent(saver, interrupt_after=["tools"])
        while commands.recv() is not None:
            value = None if agent.get_state(job.config).next else PROMPT
            agent.invoke(value, job.config)
            commands.send(agent.get_state(job.config).next)


def _run(job: Job, moment: str) -> None:
    with job.store.open() as saver:
        agent = job.loop.agent(saver)
        value = None if agent.get_state(job.config).next else PROMPT
        seen = 0
        for event in agent.stream(value, job.config, stream_mode="tasks", durability="sync"):
            seen += moment in event
            _die_at(seen)


async def _arun(job: Job, moment: str) -> None:
    async with job.store.aopen() as saver:
        agent = job.loop.agent(saver)
        value = None if (await agent.aget_state(job.config)).next else PROMPT
        seen = 0
        events = agent.astream(value, job.config, stream_mode="tasks", durability="sync")
        async for event in events:
            seen += moment in event
            _die_at(seen)


def _die_at(seen: int) -> None:
    if seen == 2:
        os.kill(os.getpid(), signal.SIGKILL)


def _log_to(path: Path) -> None:
    handler = logging.FileHandler(path)
    handler.setLevel(logging.WARNING)
    logging.getLogger().addHandler(handler)
