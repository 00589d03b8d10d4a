"""Messages are listed whatever form a state holds them in."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage

from langchain_repeat_guard.history.message_lists import as_list

ONE = AIMessage("one")
TWO = AIMessage("two")


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        pytest.param(None, [], id="none"),
        pytest.param([ONE], [ONE], id="list"),
        pytest.param((ONE, TWO), [ONE, TWO], id="tuple"),
        pytest.param(("user", "hi"), [("user", "hi")], id="pair"),
        pytest.param(ONE, [ONE], id="message"),
        pytest.param("hi", ["hi"], id="text"),
    ],
)
def test_as_list(messages: object, expected: list[Any]) -> None:
    """A pair of role and text is one message, any other tuple holds messages."""
    assert as_list(messages) == expected
