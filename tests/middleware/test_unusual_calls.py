"""Calls that run no tool, or end the run, or were malformed."""

import logging
from typing import Any

import pytest
from helpers.agents import MakeGuard, make_scene
from helpers.models import asks, call, malformed, repeats, says
from helpers.modes import Run
from helpers.pictures import growing, picture
from helpers.tools import finish, grep, read
from helpers.versions import needs
from langchain.agents.structured_output import ProviderStrategy, ToolStrategy
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.types import Command
from pydantic import BaseModel

ANSWERS_MALFORMED_CALLS = needs("langchain", "1.4.3", "answers to malformed calls")


class Answer(BaseModel):
    """The shape of an answer."""

    text: str


def test_structured_output_by_tool(guard: MakeGuard, run: Run) -> None:
    """The call that carries the answer ends the run; reminders before it are as usual."""
    answer = asks(call("Answer", {"text": "x"}))
    scene = make_scene(
        guard(), run, [*repeats(3, "grep"), answer], response_format=ToolStrategy(Answer)
    )
    output = scene.prompt()
    assert scene.seen == growing("hatatatR3")
    assert output["structured_response"] == Answer(text="x")


def test_invalid_structured_output_is_a_call_like_others(guard: MakeGuard, run: Run) -> None:
    """The same invalid answer three times is a chain of three."""
    wrong = [asks(call("Answer", {"txt": "x"})) for _ in range(3)]
    scene = make_scene(
        guard(),
        run,
        [*wrong, asks(call("Answer", {"text": "x"}))],
        response_format=ToolStrategy(Answer),
    )
    scene.prompt()
    assert scene.seen == growing("hatatatR3")


def test_structured_output_by_provider(guard: MakeGuard, run: Run) -> None:
    """Where the provider shapes the answer no call is involved."""
    scene = make_scene(
        guard(),
        run,
        [*repeats(3, "grep"), says('{"text": "x"}')],
        response_format=ProviderStrategy(Answer),
    )
    output = scene.prompt()
    assert scene.seen == growing("hatatatR3")
    assert output["structured_response"] == Answer(text="x")


def test_no_reminder_behind_a_tool_that_ends_the_run(guard: MakeGuard, run: Run) -> None:
    """With return_direct no model reads the third result: nothing stands behind it."""
    script = [*repeats(1, "finish", {"answer": "a"})] * 3
    scene = make_scene(guard(thresholds=(2,)), run, script, tools=[finish])
    for _ in range(3):
        scene.prompt()
    assert scene.stored == "hathathat"


def test_unknown_tools_count(guard: MakeGuard, run: Run) -> None:
    """A call of a tool that does not exist is answered by an error, and counts."""
    scene = make_scene(guard(), run, [*repeats(3, "nothing_like_that"), says("done")])
    scene.prompt()
    assert scene.seen == growing("hatatatR3")


def test_invalid_arguments_count(guard: MakeGuard, run: Run) -> None:
    """Arguments that fail the tool's own check count as the model wrote them."""
    scene = make_scene(guard(), run, [*repeats(5, "read", {"file": 7}), says("done")], tools=[read])
    scene.prompt()
    assert scene.seen == growing("hatatatR3atatR5")
    assert '- arguments: {"file":7}\n' in scene.model.requests[-1][-1].content


def test_malformed_json_alone_ends_the_run(guard: MakeGuard, run: Run) -> None:
    """A message with nothing but malformed calls ends the run; nothing is added behind it."""
    scene = make_scene(guard(), run, [asks(malformed("grep", "{bad"))] * 3)
    for _ in range(3):
        scene.prompt()
    assert picture(scene.messages) == scene.stored
    assert "R" not in scene.stored


@ANSWERS_MALFORMED_CALLS
def test_malformed_json_beside_good_calls_counts(guard: MakeGuard, run: Run) -> None:
    """Equal raw texts are equal calls; create_agent answers them itself, in front of the rest."""
    script = [
        asks(call("grep", {"pattern": "x"}, f"good{n}"), malformed("read", "{bad", f"bad{n}"))
        for n in range(2)
    ]
    alternating = make_scene(guard(thresholds=(2,)), run, [*script, says("done")])
    alternating.prompt()
    assert alternating.seen == growing("hattatt")
    same = [
        asks(malformed("read", "{bad", f"bad{n}"), call("read", {"path": "x"}, f"good{n}"))
        for n in range(2)
    ]
    for message in same:
        message.additional_kwargs["tool_calls"] = [
            {"id": message.invalid_tool_calls[0]["id"]},
            {"id": message.tool_calls[0]["id"]},
        ]
    tracked = make_scene(
        guard(thresholds=(2,), include=("read",)), run, [*same, says("done")], tools=[read]
    )
    tracked.prompt()
    assert tracked.seen == growing("hattatt")


@ANSWERS_MALFORMED_CALLS
def test_a_chain_of_malformed_calls(guard: MakeGuard, run: Run) -> None:
    """The reminder comes in time for the very next request, behind all results of the step."""
    script = [
        asks(call("grep", {"pattern": str(n)}, f"good{n}"), malformed("read", "{bad", f"bad{n}"))
        for n in range(3)
    ]
    scene = make_scene(guard(exclude=("grep",)), run, [*script, says("done")], tools=[grep, read])
    scene.prompt()
    assert scene.seen == growing("hattattattR3")


def test_notes_of_tools_between_results_are_no_prompts_of_the_guard(
    guard: MakeGuard, run: Run
) -> None:
    """A tool's Command may add a note between results; the reminder stands behind the last one."""

    @tool
    def note(text: str) -> Any:
        """Leave a note."""
        entry = HumanMessage("noted", additional_kwargs={"lc_source": "note"})
        return Command(update={"messages": [ToolMessage("ok", tool_call_id="n"), entry]})

    both = [call("grep", {"pattern": "x"}, "g"), call("grep", {"pattern": "x"}, "h")]
    script = [
        asks(*both),
        asks(call("grep", {"pattern": "x"}, "i"), call("note", {"text": "t"}, "n")),
    ]
    scene = make_scene(guard(exclude=("note",)), run, [*script, says("done")], tools=[grep, note])
    scene.prompt()
    expected = "hattattnR3" if scene.as_stored("R") else "hattattR3n"
    assert scene.seen == growing(expected)


@pytest.mark.parametrize("name", ["a\nb", "x" * 300], ids=["line-break", "long"])
def test_any_tool_name_is_quoted_on_one_line(
    guard: MakeGuard, run: Run, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A made-up tool name cannot break the lines of the reminder."""
    caplog.set_level(logging.ERROR, logger="langgraph")
    scene = make_scene(guard(thresholds=(2, 3)), run, [*repeats(3, name), says("done")])
    scene.prompt()
    line = f"- tool: {name}".replace("\n", "\\n")
    assert scene.model.requests[-1][-1].content.split("\n")[1] == line
