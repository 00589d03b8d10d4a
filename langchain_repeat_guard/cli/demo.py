"""Plays a recorded run back through a real LangGraph agent with the guard in it."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from tempfile import TemporaryDirectory

from langchain_core.messages import HumanMessage
from langgraph.checkpoint.sqlite import SqliteSaver

from langchain_repeat_guard.cli.agent import build_agent
from langchain_repeat_guard.cli.playback import RecordedModel, RecordedRun, replaying_tools
from langchain_repeat_guard.cli.transcript import ReceivedRequests, StepRecord, Transcript
from langchain_repeat_guard.core.config import RepeatGuardConfig


def play(run: RecordedRun, config: RepeatGuardConfig) -> Iterator[StepRecord]:
    """Yield the steps of the agent, each as soon as the model is asked for the one after it.

    The agent saves its state in an SQLite database in a temporary folder.
    """
    received = ReceivedRequests()
    transcript = Transcript(config)
    with TemporaryDirectory() as folder, _saver(folder) as saver:
        agent = build_agent(
            RecordedModel(run=run),
            replaying_tools(run),
            guard=config,
            max_model_calls=len(run.steps) + 1,
            checkpointer=saver,
        )
        updates = agent.stream(
            {"messages": [HumanMessage(run.task)]},
            {"callbacks": [received], "configurable": {"thread_id": "demo"}},
            stream_mode="updates",
        )
        for update in updates:
            if "model" in update:
                yield from transcript.next_steps(received.requests[-1])


def _saver(folder: str) -> AbstractContextManager[SqliteSaver]:
    return SqliteSaver.from_conn_string(str(Path(folder, "demo.sqlite")))
