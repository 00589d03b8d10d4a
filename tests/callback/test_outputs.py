"""Messages are found in whatever a node may return."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.types import Command
from pydantic import BaseModel

from langchain_repeat_guard.callback.outputs import messages_in

ONE = AIMessage("one")
TWO = AIMessage("two")


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
        pytest.param({"messages": [("user", "hi")]}, [HumanMessage("hi")], id="pair"),
        pytest.param(
            {"messages": [{"role": "user", "content": "hi"}]}, [HumanMessage("hi")], id="role"
        ),
        pytest.param({"messages": [("tool", "x"), {"a": 1}, 7]}, [], id="others"),
        pytest.param(None, [], id="none"),
        pytest.param("text", [], id="text"),
    ],
)
def test_messages_in(written: object, expected: list[Any]) -> None:
    """States, Commands, messages and lists of them; an update of another graph is not ours."""
    assert messages_in(written) == expected
