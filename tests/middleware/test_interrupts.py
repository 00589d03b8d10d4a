"""Tools that pause the run count once, however often they start."""

from typing import Any

from helpers.agents import MakeGuard, make_scene
from helpers.models import ScriptedModel, asks, call, repeats, says
from helpers.modes import Run
from helpers.pictures import growing, pictures
from helpers.tools import ask_human, grep
from langchain.agents import create_agent
from langchain_core.tools import tool


def test_interrupt_in_a_tool(guard: MakeGuard, run: Run) -> None:
    """Each of four equal calls pauses and is answered: a reminder at three."""
    script = [*repeats(4, "ask_human", {"question": "q"}), says("done")]
    scene = make_scene(guard(), run, script, tools=[ask_human])
    scene.prompt()
    for _ in range(4):
        scene.resume("yes")
    assert scene.seen == growing("hatatatR3at")
    assert scene.stored == scene.as_stored("hatatatR3ata")


def test_interrupt_in_one_of_several_parallel_tools(guard: MakeGuard, run: Run) -> None:
    """While one call of a step waits, the step does not count; then all its calls do."""
    step = [
        asks(call("grep", {"pattern": "x"}), call("ask_human", {"question": "q"})) for _ in range(3)
    ]
    scene = make_scene(
        guard(exclude=("ask_human",)), run, [*step, says("done")], tools=[grep, ask_human]
    )
    scene.prompt()
    for _ in range(3):
        scene.resume("yes")
    assert scene.seen == growing("hattattattR3")


def test_interrupt_inside_the_tool_of_a_subagent(guard: MakeGuard, run: Run) -> None:
    """Parent and subagent keep chains of their own, although the subagent's tools start anew."""
    inner_model = ScriptedModel(
        script=[*repeats(3, "ask_human", {"question": "q"}), says("found")] * 2
    )
    inner: Any = create_agent(inner_model, [ask_human], middleware=[guard()])

    @tool
    def delegate(task: str) -> str:
        """Hand a task to another agent."""
        return str(inner.invoke({"messages": [("user", task)]})["messages"][-1].content)

    @tool("delegate")
    async def delegate_async(task: str) -> str:
        """Hand a task to another agent."""
        result = await inner.ainvoke({"messages": [("user", task)]})
        return str(result["messages"][-1].content)

    way = delegate if run.__name__ == "run_sync" else delegate_async
    script = [*repeats(2, "delegate", {"task": "t"}), says("done")]
    scene = make_scene(guard(thresholds=(2,)), run, script, tools=[way])
    scene.prompt()
    for _ in range(6):
        scene.resume("yes")
    assert scene.seen == growing("hatatR2")
    assert pictures(inner_model.requests) == growing("hatatatR3") * 2
