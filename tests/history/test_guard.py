"""The settings that all adapters with messages share."""

import logging
from typing import Any

import pytest
from helpers.models import asks, call
from langchain_core.messages import ToolMessage

from langchain_repeat_guard import (
    RepeatGuardConfig,
    RepeatGuardNode,
    RepeatLimitError,
    RepeatReminderNode,
)
from langchain_repeat_guard.history.carried import Carried
from langchain_repeat_guard.history.guard import HistoryGuard


def guard(**settings: Any) -> HistoryGuard:
    defaults: dict[str, Any] = {
        "config": None,
        "options": {},
        "messages_key": "messages",
        "is_user_prompt": None,
        "delivery": "human_message",
    }
    return HistoryGuard("Adapter", **{**defaults, **settings})


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        pytest.param({"messages_key": ""}, TypeError, "messages_key must be", id="no-key"),
        pytest.param({"messages_key": 1}, TypeError, "state key, got 1", id="key-of-another-type"),
        pytest.param({"messages_key": ["a"]}, TypeError, r"got \['a'\]", id="list-of-keys"),
        pytest.param({"messages_key": "repeat_guard"}, ValueError, "chain itself", id="own-key"),
        pytest.param({"is_user_prompt": "yes"}, TypeError, "got 'yes'", id="no-function"),
        pytest.param({"delivery": "mail"}, ValueError, "got 'mail'", id="unknown-delivery"),
        pytest.param({"delivery": ["a"]}, ValueError, "got", id="delivery-of-another-type"),
        pytest.param({"config": {}}, TypeError, "config must be", id="config-of-another-type"),
    ],
)
@pytest.mark.parametrize(
    "build",
    [
        pytest.param(guard, id="guard"),
        pytest.param(RepeatReminderNode, id="reminder-node"),
        pytest.param(
            lambda **settings: RepeatGuardNode(lambda state: state, **settings), id="guard-node"
        ),
    ],
)
def test_wrong_setting_is_refused(
    build: Any, settings: dict[str, Any], error: type[Exception], message: str
) -> None:
    """At construction, with a message that names setting and value."""
    with pytest.raises(error, match=message):
        build(**settings)


@pytest.mark.parametrize(
    "build",
    [
        pytest.param(RepeatReminderNode, id="reminder-node"),
        pytest.param(
            lambda **settings: RepeatGuardNode(lambda state: state, **settings), id="guard-node"
        ),
    ],
)
class TestOptions:
    """Both nodes take the same options."""

    def test_single_options_make_a_config(self, build: Any) -> None:
        """They are fields of `RepeatGuardConfig`."""
        assert build(thresholds=(2, 4), exclude=("a",)).config == RepeatGuardConfig(
            thresholds=(2, 4), exclude=("a",)
        )

    def test_config_is_taken_as_it_is(self, build: Any) -> None:
        """It may be shared between adapters."""
        config = RepeatGuardConfig(thresholds=(2,))
        assert build(config=config).config is config

    def test_config_beside_options_is_refused(self, build: Any) -> None:
        """Nobody could tell which one wins."""
        with pytest.raises(TypeError, match=r"config= and also thresholds"):
            build(config=RepeatGuardConfig(), thresholds=(2,))

    @pytest.mark.parametrize(
        "options",
        [
            {"thresholds": ()},
            {"thresholds": (0,)},
            {"thresholds": (-1,)},
            {"thresholds": (3, 3)},
            {"thresholds": ("3",)},
            {"include": "grep"},
            {"treshold": (3,)},
        ],
        ids=str,
    )
    def test_wrong_option_is_refused(self, build: Any, options: dict[str, Any]) -> None:
        """Nothing falls back to a default."""
        with pytest.raises(ValueError, match=next(iter(options))):
            build(**options)


def test_foreign_value_in_the_channel_is_replaced(caplog: pytest.LogCaptureFixture) -> None:
    """One log line, which names its type and nothing of its content; the chain starts anew."""
    one = guard()
    with caplog.at_level(logging.DEBUG):
        assert [one.read_channel({"secret": "value"}), one.read_channel("secret")] == [
            Carried(),
            Carried(),
        ]
    text = (
        "Adapter found a dict in the state key 'repeat_guard' that it has not written, and "
        "replaces it. Keep that key free for the guard."
    )
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("WARNING", text)
    ]


class MineAround(RepeatGuardNode):
    """A host's own class."""


class MineBefore(RepeatReminderNode):
    """A host's own class."""


@pytest.mark.parametrize(
    ("kind", "use"),
    [
        pytest.param(
            MineAround, lambda kind: kind(lambda state: state).invoke({}), id="guard-node"
        ),
        pytest.param(MineBefore, lambda kind: kind().invoke({}), id="reminder-node"),
    ],
)
def test_log_lines_name_the_class(kind: Any, use: Any, caplog: pytest.LogCaptureFixture) -> None:
    """Which may be a host's own."""
    use(kind)
    assert [line.partition(" found no messages")[0] for line in caplog.messages] == [kind.__name__]


def test_a_verdict_alone_says_and_raises_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """`judge` decides; `check` acts on it."""
    one = guard(options={"limit": 2, "exit_behavior": "error", "thresholds": (2,)})
    messages: list[Any] = []
    for number in range(2):
        asked = asks(call("grep", {"pattern": "a"}, f"c{number}"), id=f"m{number}")
        asked.response_metadata["model_provider"] = "mistralai"
        messages += [asked, ToolMessage("nothing", tool_call_id=f"c{number}")]
    verdict = one.judge(messages, Carried())
    assert (verdict.at_limit, len(verdict.due), caplog.messages) == (("grep", 2), 1, [])
    with pytest.raises(RepeatLimitError):
        one.check(messages, Carried())
    assert [line.split()[:2] for line in caplog.messages] == [["Adapter", "delivers"]]
