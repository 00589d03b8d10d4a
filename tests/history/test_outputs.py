"""What a node may return is read as LangGraph reads it."""

from dataclasses import dataclass
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.types import Command, Overwrite
from pydantic import BaseModel

from langchain_repeat_guard.history.outputs import is_for_parent, parts_of, values_in

ONE = AIMessage("one")
TWO = AIMessage("two")


class Model(BaseModel):
    """A state as a pydantic model."""

    messages: Any
    other: int = 1


@dataclass(slots=True)
class Data:
    """A state as a dataclass without a `__dict__`."""

    messages: Any


@pytest.mark.parametrize(
    ("part", "under_key", "under_any"),
    [
        pytest.param({"messages": [ONE], "other": 1}, [[ONE]], [[ONE], 1], id="dict"),
        pytest.param({"other": 1}, [None], [1], id="dict-without-the-key"),
        pytest.param(Model(messages=[ONE]), [[ONE]], [[ONE], 1], id="pydantic"),
        pytest.param(Data([ONE]), [[ONE]], [[ONE]], id="dataclass-with-slots"),
        pytest.param(ONE, [ONE], [ONE], id="message-of-a-list-state"),
        pytest.param([ONE, TWO], [[ONE, TWO]], [[ONE, TWO]], id="messages-of-a-list-state"),
        pytest.param(Command(update={"messages": ONE}), [ONE], [ONE], id="command"),
        pytest.param(Command(update=[ONE]), [[ONE]], [[ONE]], id="command-in-a-list-state"),
        pytest.param(
            Command(update=[("messages", ONE), ("other", 1)]),
            [ONE],
            [ONE, 1],
            id="command-of-pairs",
        ),
        pytest.param(Command(update=Model(messages=ONE)), [ONE], [ONE, 1], id="command-of-a-state"),
        pytest.param(
            Command(graph="any", update={"messages": ONE}), [ONE], [ONE], id="named-graph"
        ),
        pytest.param(
            Command(graph=Command.PARENT, update={"messages": ONE}), [], [], id="for-the-parent"
        ),
        pytest.param(Command(), [None], [], id="command-without-update"),
        pytest.param(None, [None], [], id="nothing"),
    ],
)
def test_values_in(part: object, under_key: list[Any], under_any: list[Any]) -> None:
    """Under one key of the state, or under any."""
    assert [*values_in(part, "messages")] == under_key
    assert [*values_in(part, None)] == under_any


def test_an_overwrite_is_left_as_it_stands() -> None:
    """Who reads it must know that it takes the place of all messages."""
    overwrite = Overwrite([ONE])
    assert [*values_in({"messages": overwrite}, "messages")] == [overwrite]


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        pytest.param(Command(graph=Command.PARENT), True, id="parent"),
        pytest.param(Command(graph="any"), False, id="named-graph"),
        pytest.param(Command(), False, id="own-graph"),
        pytest.param({"graph": Command.PARENT}, False, id="dict"),
    ],
)
def test_is_for_parent(part: object, *, expected: bool) -> None:
    """Only `Command.PARENT` leaves the graph when a node returns it."""
    assert is_for_parent(part) is expected


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        pytest.param([ONE, None], [ONE, None], id="list"),
        pytest.param((ONE,), [ONE], id="tuple"),
        pytest.param({"a": 1}, [{"a": 1}], id="dict"),
    ],
)
def test_parts_of(output: object, expected: list[Any]) -> None:
    """A list of updates is several."""
    assert parts_of(output) == expected
