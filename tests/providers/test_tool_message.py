"""Reminders delivered in the last tool message of a step."""

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Any

import pytest
from helpers.attachments import ATTACHMENTS, Host
from helpers.models import ScriptedModel, call, repeats, says
from helpers.models import asks as model_asks
from helpers.replies import Reply
from helpers.stage import Stage, asks, prompt
from helpers.texts import FIRST_TEXT, LATER_HEAD
from langchain_core.messages import AnyMessage, ToolMessage
from langchain_core.tools import BaseTool, ToolException, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

from langchain_repeat_guard import RepeatReminderNode, is_reminder
from langchain_repeat_guard.history.delivery import carries_reminder

STORED = [name for name in ATTACHMENTS if name != "transient-middleware"]
CONFIG: Any = {"configurable": {"thread_id": "1"}}
BLOCKS: list[Any] = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]

stored = pytest.mark.parametrize("attachment", STORED)


@tool(response_format="content_and_artifact")
def blocks() -> tuple[list[Any], dict[str, int]]:
    """Return blocks, and an artifact."""
    return BLOCKS, {"rows": 2}


@tool(response_format="content_and_artifact")
def text() -> tuple[str, dict[str, int]]:
    """Return text, and an artifact."""
    return "nothing found", {"rows": 0}


@tool
def failing() -> str:
    """Fail."""
    msg = "no such file"
    raise ToolException(msg)


failing.handle_tool_error = True


@tool
def empty() -> str:
    """Return nothing."""
    return ""


@tool
def document() -> str:
    """Return a JSON document."""
    return json.dumps({"rows": [1, 2], "next": None})


@tool
def patient() -> str:
    """Wait for somebody before each answer."""
    return str(interrupt("go on?"))


def last_answers(
    attachment: str, tool_: BaseTool, *, guarded: bool, times: int = 3
) -> tuple[ToolMessage, list[Any]]:
    """Run a loop, and return the last tool message of the state and of the last request."""
    model = ScriptedModel(script=[*repeats(times, tool_.name), says("done")])
    options: Any = {} if guarded else {"include": ("no_such_tool",)}
    agent = ATTACHMENTS[attachment](Host(model, [tool_]), delivery="tool_message", **options)
    messages = agent.invoke(prompt("go"))["messages"]
    return [one for one in messages if isinstance(one, ToolMessage)][-1], model.requests[-1]


@stored
@pytest.mark.parametrize(
    ("tool_", "content"),
    [
        pytest.param(text, f"nothing found\n\n{FIRST_TEXT}", id="text"),
        pytest.param(blocks, [*BLOCKS, {"type": "text", "text": FIRST_TEXT}], id="blocks"),
        pytest.param(failing, f"no such file\n\n{FIRST_TEXT}", id="error"),
        pytest.param(empty, FIRST_TEXT, id="empty"),
    ],
)
def test_everything_but_the_content_is_kept(attachment: str, tool_: BaseTool, content: Any) -> None:
    """The text stands behind the content, in a content of the same type; the rest is the tool's."""
    bare, _ = last_answers(attachment, tool_, guarded=False)
    reminded, request = last_answers(attachment, tool_, guarded=True)
    assert reminded.content == content
    assert type(reminded.content) is type(bare.content)
    unlike = {"content", "additional_kwargs", "id", "tool_call_id"}
    assert reminded.model_dump(exclude=unlike) == bare.model_dump(exclude=unlike)
    assert reminded.id is not None
    assert request[-1] == reminded


@pytest.mark.parametrize("attachment", list(ATTACHMENTS))
def test_there_is_no_message_of_its_own(attachment: str) -> None:
    """No human message is added, neither to the state nor to a request."""
    model = ScriptedModel(script=[*repeats(9, "text"), says("done")])
    agent = ATTACHMENTS[attachment](Host(model, [text]), delivery="tool_message")
    messages = agent.invoke(prompt("go"))["messages"]
    assert [one for one in [*messages, *model.requests[-1]] if is_reminder(one)] == []
    assert len(messages) == 20


@pytest.mark.parametrize("attachment", list(ATTACHMENTS))
def test_the_last_of_parallel_results_carries_all(attachment: str) -> None:
    """Two reminders of one step stand in its last tool message, in call order."""
    step = [call("text"), call("text"), call("text"), *[call("empty") for _ in range(3)]]
    model = ScriptedModel(script=[model_asks(*step), says("done")])
    agent = ATTACHMENTS[attachment](Host(model, [text, empty]), delivery="tool_message")
    agent.invoke(prompt("go"))
    contents = [one.content for one in model.requests[-1] if isinstance(one, ToolMessage)]
    both = f"{FIRST_TEXT}\n\n{FIRST_TEXT}"
    assert contents == [*["nothing found"] * 3, "", "", both]


@pytest.mark.parametrize("attachment", list(ATTACHMENTS))
def test_a_json_document_stays_readable(attachment: str) -> None:
    """The document stands first and whole, so that a host and a model can still read it."""
    _, request = last_answers(attachment, document, guarded=True)
    content = request[-1].content
    read, end = json.JSONDecoder().raw_decode(content)
    assert read == {"rows": [1, 2], "next": None}
    assert content[end:] == f"\n\n{FIRST_TEXT}"


@pytest.mark.parametrize("api_and_delivery", [("gemini", "tool_message")])
@pytest.mark.parametrize("attachment", ["reminder-node"])
def test_gemini_gets_a_json_document_as_text(stage: Stage) -> None:
    """Gemini's adapter sends an unreminded document as an object, and a reminded one as text."""
    stage.server.reset([*(asks("document") for _ in range(3)), Reply("no")])
    stage.tools = [document]
    stage.play(stage.agent(), prompt("go"))
    parts = [part for turn in stage.server.accepted[-1]["contents"] for part in turn["parts"]]
    responses = [
        part["functionResponse"]["response"] for part in parts if "functionResponse" in part
    ]
    found = {"rows": [1, 2], "next": None}
    assert responses == [found, found, {"output": f"{json.dumps(found)}\n\n{FIRST_TEXT}"}]


@stored
def test_never_twice_when_every_checkpoint_is_resumed(attachment: str) -> None:
    """Going on from any checkpoint leaves no tool message that carries a text twice."""
    saver = InMemorySaver()
    model = ScriptedModel(script=lambda seen: _repeats_until(seen, 9))
    agent = ATTACHMENTS[attachment](Host(model, [text], saver), delivery="tool_message")
    final = agent.invoke(prompt("go"), CONFIG)["messages"]
    for snapshot in list(agent.get_state_history(CONFIG)):
        again = agent.invoke(None, snapshot.config)["messages"]
        assert _reminded(again) == _reminded(final)


@stored
def test_never_twice_when_interrupted_in_the_tool(attachment: str) -> None:
    """A tool that waits for a person at each call is reminded as one that does not."""
    saver = InMemorySaver()
    model = ScriptedModel(script=lambda seen: _repeats_until(seen, 9, "patient"))
    host = Host(model, [patient], saver)
    state = ATTACHMENTS[attachment](host, delivery="tool_message").invoke(prompt("go"), CONFIG)
    while "__interrupt__" in state:
        agent = ATTACHMENTS[attachment](host, delivery="tool_message")
        state = agent.invoke(Command(resume="yes"), CONFIG)
    assert _reminded(state["messages"]) == [(2, 1), (4, 1), (7, 1)]


def _repeats_until(seen: Sequence[Any], times: int, name: str = "text") -> Any:
    done = sum(isinstance(message, ToolMessage) for message in seen)
    return says("done") if done >= times else model_asks(call(name, {}, f"c{done}"), id=f"a{done}")


def _reminded(messages: list[Any]) -> list[tuple[int, int]]:
    """Return which tool messages carry a reminder, and how many."""
    answers = [one for one in messages if isinstance(one, ToolMessage)]
    return [
        (place, one.text.count(FIRST_TEXT) + one.text.count(LATER_HEAD))
        for place, one in enumerate(answers)
        if carries_reminder(one)
    ]


def without_marks(before: list[Any], added: list[Any]) -> list[Any]:
    """Merge as `add_messages` does, and drop what no provider gets."""
    merged: Any = add_messages(before, added)
    return [message.model_copy(update={"additional_kwargs": {}}) for message in merged]


class UnmarkedState(TypedDict):
    """Messages whose marks are lost."""

    messages: Annotated[list[AnyMessage], without_marks]


def test_never_twice_where_the_mark_is_stripped() -> None:
    """The step was counted, and is not told again."""
    model = ScriptedModel(script=lambda seen: _repeats_until(seen, 5))
    graph = StateGraph(UnmarkedState)
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("tools", ToolNode([text]))
    graph.add_node("remind", RepeatReminderNode(delivery="tool_message"))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    for before, after in pairwise(["tools", "remind", "model"]):
        graph.add_edge(before, after)
    messages = graph.compile().invoke(prompt("go"))["messages"]
    texts = [one.text for one in messages if isinstance(one, ToolMessage)]
    assert [text_.count(FIRST_TEXT) + text_.count(LATER_HEAD) for text_ in texts] == [0, 0, 1, 0, 1]
