"""Any messages, arguments, settings and channel values: nothing is merely caught."""

from collections.abc import Callable
from typing import Any

import pytest
from helpers.hostile_values import ANY_VALUES, CHANNELS, HISTORIES, JSON_VALUES
from helpers.models import asks, call
from helpers.probes import PROBES
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import ToolMessage
from pydantic import ValidationError

from langchain_repeat_guard import RepeatGuardConfig

TakeLog = Callable[[], list[str]]
FUZZ = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
WITH_CHANNEL = [name for name in PROBES if name != "node"]
ONE_STEP = [
    asks(call("grep", {"q": "a"}, "c1"), id="a1"),
    ToolMessage("no", tool_call_id="c1", id="t1"),
]
FOREIGN = "in the state key 'repeat_guard' that it has not written, and replaces it"
REFUSAL = "known to refuse a user message behind tool results"

OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "thresholds": st.sampled_from([(2,), (2, 3)]),
        "redact_arguments": st.sampled_from([("q",), ("*",)]),
        "include": st.sampled_from([("*e*",), ("",)]),
        "arguments_preview_chars": st.sampled_from([1, 7]),
        "delivery": st.sampled_from(["human_message", "tool_message"]),
    },
)


def faults(lines: list[str]) -> list[str]:
    """Return the log lines that no rule explains."""
    return [
        line
        for line in lines
        if FOREIGN not in line and REFUSAL not in line and "cannot append" not in line
    ]


@FUZZ
@given(messages=HISTORIES, channel=CHANNELS, options=OPTIONS)
def test_no_state_is_too_strange(
    adapter: str, own_log: TakeLog, messages: list[Any], channel: object, options: dict[str, Any]
) -> None:
    """Whatever messages and channel a state holds, no fault is caught and logged."""
    probe = PROBES[adapter](**options)
    probe({"messages": messages, "repeat_guard": channel})
    assert faults(own_log()) == []


@FUZZ
@given(arguments=st.dictionaries(st.text(max_size=3), ANY_VALUES, max_size=3), options=OPTIONS)
def test_no_arguments_are_too_strange(
    adapter: str, own_log: TakeLog, arguments: dict[str, Any], options: dict[str, Any]
) -> None:
    """A loop of calls with any arguments is counted, or equals nothing, in silence."""
    messages: list[Any] = []
    for turn in range(3):
        messages.append(asks(call("grep", arguments, f"c{turn}"), id=f"a{turn}"))
        messages.append(ToolMessage("no", tool_call_id=f"c{turn}", id=f"t{turn}"))
    probe = PROBES[adapter](**options)
    probe({"messages": messages, "repeat_guard": {}})
    assert own_log() == []


@pytest.mark.parametrize("adapter", WITH_CHANNEL)
@FUZZ
@given(channel=CHANNELS)
def test_a_foreign_channel_is_replaced(adapter: str, own_log: TakeLog, channel: object) -> None:
    """What no guard has written counts for nothing: the outcome is that of an empty channel."""
    outcome = PROBES[adapter]()({"messages": ONE_STEP, "repeat_guard": channel})
    if lines := own_log():
        assert outcome == PROBES[adapter]()({"messages": ONE_STEP, "repeat_guard": {}})
        assert [FOREIGN in line for line in lines] == [True]


@FUZZ
@given(
    options=st.dictionaries(
        st.sampled_from([*RepeatGuardConfig.model_fields, "threshold", ""]), JSON_VALUES, max_size=3
    )
)
def test_no_option_is_guessed_at(options: dict[str, Any]) -> None:
    """Options are taken as they are, or refused by the one exception that the docs name."""
    try:
        config = RepeatGuardConfig(**options)
    except ValidationError:
        return
    for name, value in options.items():
        taken = getattr(config, name)
        assert taken == value or taken == tuple(sorted(value))  # thresholds may come in any order


CORRUPTED = [
    pytest.param([1], id="list"),
    pytest.param("chain", id="text"),
    pytest.param({"count": 3}, id="another-dict"),
    pytest.param(
        {"chain": {"key": "x", "count": "3"}, "counted": [], "prompt": ""}, id="text-count"
    ),
    pytest.param({"chain": {"key": "x", "count": 3}, "counted": [["a"]], "prompt": ""}, id="entry"),
    pytest.param({"chain": {"key": "x", "count": -1}, "counted": [], "prompt": ""}, id="negative"),
]


@pytest.mark.parametrize("channel", CORRUPTED)
@pytest.mark.parametrize("adapter", WITH_CHANNEL)
def test_a_corrupted_channel_costs_one_log_line(
    adapter: str, own_log: TakeLog, channel: object
) -> None:
    """The line names the type and not the content, and comes once however often it happens."""
    probe = PROBES[adapter]()
    for _ in range(3):
        probe({"messages": ONE_STEP, "repeat_guard": channel})
    [line] = own_log()
    assert line.partition(" ")[2] == (
        f"found a {type(channel).__name__} {FOREIGN}. Keep that key free for the guard."
    )
