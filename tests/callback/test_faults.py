"""Nothing that goes wrong in the handler reaches the run (law L7)."""

from typing import Any

import pytest
from helpers.models import ScriptedModel, repeats, says
from helpers.modes import Run
from helpers.tools import grep
from helpers.watching import watched, watcher
from langchain.agents import create_agent
from langchain_classic.agents import AgentExecutor, create_tool_calling_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.tools import tool
from langgraph.types import Command

from langchain_repeat_guard import RepeatGuardCallbackHandler
from langchain_repeat_guard.callback.agents import AgentWatch
from langchain_repeat_guard.callback.reporting import Reporter

GREP = {"pattern": "s3cret"}
PROMPT = {"messages": [("user", "hi")], "input": "hi"}

BROKEN = [
    pytest.param((AgentWatch, name), id=name)
    for name in (
        "chain_started",
        "chain_ended",
        "model_started",
        "model_ended",
        "tool_started",
        "tool_ended",
    )
]
BROKEN.append(pytest.param((Reporter, "tell"), id="tell"))


def faults(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [
        record.getMessage()
        for record in caplog.records
        if not record.getMessage().startswith("reminder: ")
    ]


@pytest.mark.faults_expected
@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize("limit", [None, 9], ids=["no-limit", "limit"])
def test_a_fault_costs_one_line_and_no_more(
    broken: tuple[type[Any], str],
    limit: int | None,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The run ends as without the handler, and the log says so once, without arguments."""
    reached = []

    def fails(*args: Any, **kwargs: Any) -> None:
        reached.append(broken)
        raise ValueError(args, kwargs)

    monkeypatch.setattr(*broken, fails)
    handler = watcher(limit=limit)
    script = [*repeats(3, "grep", GREP), says("done")]
    messages = run(create_agent(ScriptedModel(script=script), [grep]), PROMPT, watched(handler))
    assert [message.type for message in messages["messages"]] == [
        "human",
        *["ai", "tool"] * 3,
        "ai",
    ]
    said = faults(caplog)
    assert (bool(reached), len(said), "s3cret" in said[0]) == (True, 1, False)


@pytest.mark.faults_expected
def test_a_fault_in_an_announced_call(
    run: Run, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The same for the event of `AgentExecutor`."""

    def fails(*_: Any, **__: Any) -> None:
        raise ValueError(GREP)

    monkeypatch.setattr(AgentWatch, "agent_acted", fails)
    prompt = ChatPromptTemplate([("human", "{input}"), ("placeholder", "{agent_scratchpad}")])
    model = ScriptedModel(script=[*repeats(3, "grep", GREP), says("done")])
    executor = AgentExecutor(agent=create_tool_calling_agent(model, [grep], prompt), tools=[grep])
    result = run(executor, PROMPT, watched(watcher()))
    assert (result["output"], len(faults(caplog))) == ("done", 1)


@pytest.mark.faults_expected
def test_a_failing_is_user_prompt(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    """A user's own function may fail, too."""

    def fails(_: Any) -> bool:
        raise ValueError

    handler = RepeatGuardCallbackHandler(is_user_prompt=fails)
    script = [*repeats(3, "ask", {"q": "x"}), says("done")]

    @tool
    def ask(q: str) -> Any:
        """Answer by a message of the user."""
        said = [ToolMessage("", tool_call_id="one"), HumanMessage("more")]
        return Command(update={"messages": said})

    turns: list[AIMessage] = script
    for turn in turns[:-1]:
        turn.tool_calls[0]["id"] = "one"
    result = run(create_agent(ScriptedModel(script=turns), [ask]), PROMPT, watched(handler))
    assert (result["messages"][-1].content, len(faults(caplog))) == ("done", 1)
