"""deepagents: the agent and each subagent whose spec lists a guard have chains of their own."""

from pathlib import Path
from typing import Any

import pytest
from deepagents import create_deep_agent
from deepagents.backends import FilesystemBackend
from helpers.agents import MakeGuard, Scene, make_scene
from helpers.models import ScriptedModel, asks, call, repeats, says
from helpers.modes import Run
from helpers.pictures import growing, pictures, reminder_counts
from helpers.tools import grep
from helpers.versions import needs
from langgraph.checkpoint.memory import InMemorySaver

from langchain_repeat_guard import is_reminder


def helper(name: str, model: Any, *guards: Any) -> dict[str, Any]:
    """Return the spec of a subagent."""
    return {
        "name": name,
        "description": "helps",
        "system_prompt": "help",
        "model": model,
        "tools": [grep],
        "middleware": list(guards),
    }


def delegate(name: str) -> Any:
    """Return the call that hands a task to a subagent."""
    return call("task", {"description": "search", "subagent_type": name})


@pytest.mark.parametrize("name", ["searcher", "general-purpose"])
def test_agent_and_subagent_have_chains_of_their_own(guard: MakeGuard, run: Run, name: str) -> None:
    """The same task twice is a chain of two for the agent; each visit starts a chain."""
    inner = ScriptedModel(script=[*repeats(3, "grep"), says("found")] * 2)
    outer = ScriptedModel(script=[asks(delegate(name)), asks(delegate(name)), says("done")])
    agent = create_deep_agent(
        outer,
        tools=[grep],
        middleware=[guard(thresholds=(2,))],
        subagents=[helper(name, inner, guard())],
        checkpointer=InMemorySaver(),
    )
    scene = Scene(agent, outer, guard, run)
    scene.prompt()
    assert scene.seen == growing("hatatR2")
    assert pictures(inner.requests) == growing("hatatatR3") * 2


def test_parallel_subagents_do_not_share(guard: MakeGuard, run: Run) -> None:
    """Two subagents at work at once, each with two equal calls: no chain of four, nor of three."""
    inner = [ScriptedModel(script=[*repeats(2, "grep"), says("found")]) for _ in range(2)]
    both = asks(delegate("one"), delegate("two"))
    outer = ScriptedModel(script=[both, says("done")])
    agent = create_deep_agent(
        outer,
        middleware=[guard()],
        subagents=[
            helper(name, model, guard()) for name, model in zip(("one", "two"), inner, strict=True)
        ],
        checkpointer=InMemorySaver(),
    )
    Scene(agent, outer, guard, run).prompt()
    assert [pictures(model.requests) for model in inner] == [growing("hatat")] * 2


def test_the_general_purpose_subagent_inherits_no_guard(guard: MakeGuard, run: Run) -> None:
    """Without a spec of its own, general-purpose is not guarded: the README says how it is."""
    model = ScriptedModel(
        script=[asks(delegate("general-purpose")), *repeats(3, "grep"), says("found"), says("done")]
    )
    agent = create_deep_agent(model, tools=[grep], middleware=[guard()])
    run(agent, {"messages": [("user", "go")]})
    assert "hatatat" in pictures(model.requests)


@needs("deepagents", "0.3.7", "summaries")
@pytest.mark.parametrize("keep", [2, 4, 8])
def test_deep_summaries_lose_no_reminder(
    guard: MakeGuard, run: Run, keep: int, tmp_path: Path
) -> None:
    """Deepagents shortens requests and keeps the state: the chain goes on, in valid requests."""
    from deepagents.middleware.summarization import SummarizationMiddleware  # noqa: PLC0415

    summary = SummarizationMiddleware(
        ScriptedModel(script=lambda _: says("a summary")),
        backend=FilesystemBackend(root_dir=tmp_path, virtual_mode=True),
        trigger=("messages", keep + 4),
        keep=("messages", keep),
    )
    scene = make_scene(
        guard(),
        run,
        [*repeats(9, "grep", {"pattern": "x"}), says("done")],
        arrange=lambda one: [summary, one],
    )
    scene.prompt()
    told = [reminder_counts(one[-1]) for one in scene.model.requests if is_reminder(one[-1])]
    assert told == [[3], [5], [8]]
    assert any(drawn.startswith("n") for drawn in scene.seen)
