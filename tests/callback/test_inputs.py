"""The arguments of a tool event, in all the forms in which LangChain hands them over."""

from typing import Any
from uuid import uuid4

import pytest
from helpers.watching import counts, watcher

from langchain_repeat_guard.callback.inputs import arguments_of


@pytest.mark.parametrize(
    ("inputs", "input_str", "expected"),
    [
        pytest.param({"a": 1}, "{'a': 2}", {"a": 1}, id="inputs-win"),
        pytest.param({}, "ignored", {}, id="empty-inputs-win"),
        pytest.param(None, '{"a": 1}', {"a": 1}, id="json"),
        pytest.param(None, "{'a': True, 'b': None}", {"a": True, "b": None}, id="python"),
        pytest.param(None, "[1, 2]", [1, 2], id="list"),
        pytest.param(None, "null", None, id="null"),
        pytest.param(None, "weather in Paris", "weather in Paris", id="text"),
        pytest.param(None, "3.0", "3.0", id="a-number-is-text"),
        pytest.param(None, "{not closed", "{not closed", id="broken"),
        pytest.param(None, r"{'\d': oops}", r"{'\d': oops}", id="odd-escape"),
        pytest.param(None, "[" * 10_000, "[" * 10_000, id="very-deep"),
        pytest.param(None, "", "", id="empty"),
    ],
)
def test_arguments_of(inputs: Any, input_str: str, expected: Any) -> None:
    """JSON, then a Python literal, else the text itself."""
    assert arguments_of(inputs, input_str) == expected


@pytest.mark.parametrize(
    "spellings",
    [
        pytest.param([({}, ""), (None, ""), (None, "{}"), (None, "null")], id="no-arguments"),
        pytest.param([({"a": 1}, ""), (None, '{"a":1}'), (None, "{'a': 1.0}")], id="one-argument"),
    ],
)
def test_spellings_of_one_call_are_one(spellings: list[Any]) -> None:
    """However the arguments arrive, equal ones are equal."""
    handler = watcher()
    agent = uuid4()
    handler.on_chain_start({}, {}, run_id=agent)
    for inputs, input_str in spellings:
        run_id = uuid4()
        handler.on_tool_start(
            {"name": "t"}, input_str, run_id=run_id, parent_run_id=agent, inputs=inputs
        )
        handler.on_tool_end("", run_id=run_id)
    assert counts(handler) == [("t", count) for count in range(2, len(spellings) + 1)]
