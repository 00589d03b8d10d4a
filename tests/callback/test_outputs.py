"""Messages are found in whatever a node may return."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, ToolMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.types import Command, Overwrite
from pydantic import BaseModel

from langchain_repeat_guard.callback.outputs import messages_in

ONE = AIMessage("one")
TWO = AIMessage("two")
HI = HumanMessage("hi")
ALL_GONE = RemoveMessage(REMOVE_ALL_MESSAGES)


class Model(BaseModel):
    """A state as a pydantic model."""

    messages: list[Any]


@dataclass
class Data:
    """A state as a dataclass."""

    messages: list[Any] = field(default_factory=list)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        pytest.param({"messages": [ONE, TWO]}, [ONE, TWO], id="dict"),
        pytest.param({"history": [ONE], "other": 1}, [ONE], id="another-key"),
        pytest.param({"messages": ONE}, [ONE], id="one-message"),
        pytest.param([ONE, TWO], [ONE, TWO], id="list"),
        pytest.param(ONE, [ONE], id="message"),
        pytest.param(Model(messages=[ONE]), [ONE], id="pydantic"),
        pytest.param(Data([ONE]), [ONE], id="dataclass"),
        pytest.param(Command(update={"messages": [ONE]}), [ONE], id="command"),
        pytest.param(Command(update=[("messages", [ONE])]), [ONE], id="command-of-pairs"),
        pytest.param(
            [Command(update={"messages": [ONE]}), {"messages": [TWO]}], [ONE, TWO], id="mixed-list"
        ),
        pytest.param(
            Command(graph=Command.PARENT, update={"messages": [ONE]}), [], id="for-the-parent"
        ),
        pytest.param(
            Command(graph="agent", update={"messages": [ONE]}),
            [ONE],
            id="command-that-names-a-graph",
        ),
        pytest.param(Command(update=[("messages", ONE)]), [ONE], id="command-of-a-pair-of-one"),
        pytest.param(Command(update=[("user", "hi")]), [], id="key-that-is-a-role"),
        pytest.param(Command(update=[ONE, TWO]), [ONE, TWO], id="command-of-messages"),
        pytest.param({"messages": (ONE, TWO)}, [ONE, TWO], id="tuple"),
        pytest.param({"messages": Overwrite([ONE, TWO])}, [ALL_GONE, ONE, TWO], id="overwrite"),
        pytest.param(
            Command(update=[("messages", Overwrite([ONE]))]),
            [ALL_GONE, ONE],
            id="overwrite-in-pairs",
        ),
        pytest.param({"done": Overwrite([1]), "messages": [ONE]}, [ONE], id="overwrite-of-others"),
        pytest.param({"messages": [("user", "hi")]}, [HI], id="pair"),
        pytest.param({"messages": ("user", "hi")}, [HI], id="pair-alone"),
        pytest.param([("user", "hi")], [HI], id="pair-in-a-list"),
        pytest.param(
            {"messages": [("user", [{"type": "text", "text": "hi"}])]},
            [HumanMessage([{"type": "text", "text": "hi"}])],
            id="pair-with-blocks",
        ),
        pytest.param({"messages": [{"role": "user", "content": "hi"}]}, [HI], id="role"),
        pytest.param({"messages": {"role": "user", "content": "hi"}}, [HI], id="role-alone"),
        pytest.param([{"role": "user", "content": "hi"}], [HI], id="role-in-a-list"),
        pytest.param({"messages": [{"type": "human", "content": "hi"}]}, [HI], id="type"),
        pytest.param(
            {"messages": [{"role": "assistant", "content": "one"}]}, [ONE], id="role-of-a-model"
        ),
        pytest.param(
            {"messages": [{"role": "tool", "content": "x", "tool_call_id": "c"}]},
            [ToolMessage("x", tool_call_id="c")],
            id="role-of-a-tool",
        ),
        pytest.param({"messages": [("tool", "x"), {"a": 1}, 7]}, [], id="others"),
        pytest.param(
            {"last": {"role": "user", "content": "hi"}, "who": ("user", "bob"), "messages": [ONE]},
            [ONE],
            id="alike-under-other-keys",
        ),
        pytest.param(None, [], id="none"),
        pytest.param("text", [], id="text"),
    ],
)
def test_messages_in(written: object, expected: list[Any]) -> None:
    """States, Commands, messages and lists of them; an update of another graph is not ours."""
    assert messages_in(written) == expected
