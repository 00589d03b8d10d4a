"""The settings, and how wrong ones are refused."""

import math
import pickle
from collections.abc import Callable
from enum import Enum, IntEnum
from typing import Any

import pytest
from pydantic import ValidationError

from langchain_repeat_guard import RepeatGuardConfig, RepeatGuardOptions, ToolOverride
from langchain_repeat_guard.core.options import ToolOverrideOptions

LIST_OF_NUMBERS = "must be a list or tuple of whole numbers"
AT_LEAST_TWO = "must be a whole number of at least 2"
AT_LEAST_ONE = "must be a whole number of at least 1"
LIST_OF_NAMES = "must be a list or tuple of tool names"
STRINGS = "tool names must be strings"


class Unprintable:
    def __repr__(self) -> str:
        msg = "no"
        raise RuntimeError(msg)


class Tool(str, Enum):  # noqa: UP042  `str` and `Enum` apart is what many projects have
    GREP = "grep"


class Times(IntEnum):
    TWICE = 2


def test_defaults() -> None:
    """Without options: 3, 5 and 8, every tool, 500 characters, and nothing beyond the original."""
    assert RepeatGuardConfig().model_dump() == {
        "thresholds": (3, 5, 8),
        "include": (),
        "exclude": (),
        "arguments_preview_chars": 500,
        "redact_arguments": (),
        "counting": "consecutive",
        "ignore_arguments": {},
        "overrides": {},
        "remind_every": None,
        "limit": None,
        "exit_behavior": "end",
        "style": "default",
        "first_reminder": None,
        "later_reminder": None,
    }


@pytest.mark.parametrize(
    ("field", "value", "rule", "shown"),
    [
        ("thresholds", [], "needs at least one number", "[]"),
        ("thresholds", (), "needs at least one number", "()"),
        ("thresholds", [1], AT_LEAST_TWO, "1"),
        ("thresholds", [3, 0], AT_LEAST_TWO, "0"),
        ("thresholds", [3, -5], AT_LEAST_TWO, "-5"),
        ("thresholds", [2.5], AT_LEAST_TWO, "2.5"),
        ("thresholds", [3.0], AT_LEAST_TWO, "3.0"),
        ("thresholds", [float("inf")], AT_LEAST_TWO, "inf"),
        ("thresholds", [float("nan")], AT_LEAST_TWO, "nan"),
        ("thresholds", ["3"], AT_LEAST_TWO, "'3'"),
        ("thresholds", [True], AT_LEAST_TWO, "True"),
        ("thresholds", [None], AT_LEAST_TWO, "None"),
        ("thresholds", [[3]], AT_LEAST_TWO, "[3]"),
        ("thresholds", [3, 3], "numbers must differ from each other", "[3, 3]"),
        ("thresholds", (5, 3, 5), "numbers must differ from each other", "(5, 3, 5)"),
        ("thresholds", 3, LIST_OF_NUMBERS, "3"),
        ("thresholds", "3,5", LIST_OF_NUMBERS, "'3,5'"),
        ("thresholds", None, LIST_OF_NUMBERS, "None"),
        ("thresholds", {3}, LIST_OF_NUMBERS, "{3}"),
        ("thresholds", {"0": 3}, LIST_OF_NUMBERS, "{'0': 3}"),
        ("thresholds", range(3, 5), LIST_OF_NUMBERS, "range(3, 5)"),
        ("thresholds", b"\x03", LIST_OF_NUMBERS, "b'\\x03'"),
        ("arguments_preview_chars", 0, AT_LEAST_ONE, "0"),
        ("arguments_preview_chars", -1, AT_LEAST_ONE, "-1"),
        ("arguments_preview_chars", 12.5, AT_LEAST_ONE, "12.5"),
        ("arguments_preview_chars", 5.0, AT_LEAST_ONE, "5.0"),
        ("arguments_preview_chars", "500", AT_LEAST_ONE, "'500'"),
        ("arguments_preview_chars", True, AT_LEAST_ONE, "True"),
        ("arguments_preview_chars", None, AT_LEAST_ONE, "None"),
        ("arguments_preview_chars", [500], AT_LEAST_ONE, "[500]"),
        ("include", "grep", LIST_OF_NAMES, "'grep'"),
        ("include", "", LIST_OF_NAMES, "''"),
        ("include", None, LIST_OF_NAMES, "None"),
        ("include", 0, LIST_OF_NAMES, "0"),
        ("include", {"grep"}, LIST_OF_NAMES, "{'grep'}"),
        ("include", ["ls", 1], STRINGS, "1"),
        ("include", [None], STRINGS, "None"),
        ("include", [b"grep"], STRINGS, "b'grep'"),
        ("exclude", "grep", LIST_OF_NAMES, "'grep'"),
        ("exclude", False, LIST_OF_NAMES, "False"),
        ("exclude", {"0": "grep"}, LIST_OF_NAMES, "{'0': 'grep'}"),
        ("exclude", [["grep"]], STRINGS, "['grep']"),
        ("include", "x" * 5_000, LIST_OF_NAMES, f"'{'x' * 99}\N{HORIZONTAL ELLIPSIS}"),
        ("include", Unprintable(), LIST_OF_NAMES, "a value of type Unprintable"),
        ("thresholds", [-(10**5_000)], AT_LEAST_TWO, "a value of type int"),
    ],
)
def test_wrong_value(field: str, value: object, rule: str, shown: str) -> None:
    """A wrong value is refused at construction; the message names field, rule and value."""
    with pytest.raises(ValidationError) as caught:
        RepeatGuardConfig(**{field: value})
    (problem,) = caught.value.errors(include_context=False, include_input=False)
    assert (problem["loc"], problem["msg"]) == ((field,), f"Value error, {rule}, got {shown}")
    assert field in str(caught.value)


def test_unknown_option() -> None:
    """A misspelt option is refused by its name."""
    with pytest.raises(ValidationError) as caught:
        RepeatGuardConfig(threshold=(3,))  # type: ignore[call-arg]
    (problem,) = caught.value.errors(include_url=False)
    assert (problem["type"], problem["loc"]) == ("extra_forbidden", ("threshold",))


def test_options_are_the_fields() -> None:
    """What type checkers know as an adapter's options is what the settings have."""
    assert {*RepeatGuardOptions.__annotations__} == {*RepeatGuardConfig.model_fields}
    assert {*ToolOverrideOptions.__annotations__} == {*ToolOverride.model_fields}


def test_unknown_option_of_an_adapter() -> None:
    """Where no signature lists the options, the error does."""
    with pytest.raises(ValidationError) as caught:
        RepeatGuardConfig.resolve(None, {"threshold": (3,)})
    (note,) = caught.value.__notes__
    assert note.startswith("The options are thresholds, include, exclude, ")
    with pytest.raises(ValidationError) as caught:
        RepeatGuardConfig.resolve(None, {"thresholds": ()})
    assert not hasattr(caught.value, "__notes__")


def test_all_wrong_values_are_reported_at_once() -> None:
    """Every wrong field is in the one report."""
    with pytest.raises(ValidationError) as caught:
        RepeatGuardConfig(thresholds=(), include="grep", more=1)  # type: ignore[call-arg]
    assert [problem["loc"] for problem in caught.value.errors()] == [
        ("thresholds",),
        ("include",),
        ("more",),
    ]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param({"thresholds": [8, 2, 5]}, {"thresholds": (2, 5, 8)}, id="sorted"),
        pytest.param({"thresholds": [Times.TWICE]}, {"thresholds": (2,)}, id="int-enum"),
        pytest.param(
            {"thresholds": (2**53, 2**53 + 1)}, {"thresholds": (2**53, 2**53 + 1)}, id="big"
        ),
        pytest.param({"include": ["", "*"]}, {"include": ("", "*")}, id="odd-names"),
        pytest.param({"exclude": (Tool.GREP,)}, {"exclude": ("grep",)}, id="str-enum"),
        pytest.param(
            {"arguments_preview_chars": 1}, {"arguments_preview_chars": 1}, id="smallest-preview"
        ),
    ],
)
def test_right_value(options: dict[str, Any], expected: dict[str, object]) -> None:
    """Lists and tuples are taken, and kept as plain tuples."""
    config = RepeatGuardConfig(**options)
    assert config.model_dump(include=set(expected)) == expected
    kept = [config.thresholds, config.include, config.exclude]
    assert {type(item) for values in kept for item in values} <= {int, str}


@pytest.mark.parametrize(
    ("include", "exclude", "tracked"),
    [
        pytest.param([], [], ["grep", "web_get", "todo"], id="all"),
        pytest.param(["web_*"], [], ["web_get"], id="include"),
        pytest.param([], ["web_*"], ["grep", "todo"], id="exclude"),
        pytest.param(["web_*", "grep"], ["web_get"], ["grep"], id="exclude-wins"),
        pytest.param(["*"], ["*"], [], id="none"),
        pytest.param([""], [], [], id="only-the-empty-name"),
    ],
)
def test_tracked_tools(include: list[str], exclude: list[str], tracked: list[str]) -> None:
    """A tool is tracked if `include` is empty or matches it, and `exclude` does not match it."""
    config = RepeatGuardConfig(include=include, exclude=exclude)
    assert [name for name in ("grep", "web_get", "todo") if config.tracks(name)] == tracked


@pytest.mark.parametrize(
    ("options", "length"),
    [
        pytest.param({"thresholds": (4, 9, 2)}, 9, id="last-threshold"),
        pytest.param({"limit": 20}, 20, id="limit"),
        pytest.param({"limit": 4}, 8, id="limit-below-the-last-threshold"),
        pytest.param({"overrides": {"gr*": {"thresholds": (12,)}}}, 12, id="override"),
        pytest.param({"remind_every": 3}, math.inf, id="never-silent"),
    ],
)
def test_length_from_which_chains_are_alike(options: dict[str, Any], length: float) -> None:
    """Past the last threshold and the limit nothing changes, unless reminders go on."""
    assert RepeatGuardConfig(**options).settles_at("grep") == length


def test_never_changed() -> None:
    """A configuration is frozen, can be compared and hashed, and survives pickling."""
    config = RepeatGuardConfig(thresholds=(2,))
    with pytest.raises(ValidationError):
        config.thresholds = (3,)  # type: ignore[misc]
    copied = pickle.loads(pickle.dumps(config))
    assert {config, copied} == {RepeatGuardConfig(thresholds=(2,))}


def test_resolve_config() -> None:
    """A ready configuration is taken as it is."""
    config = RepeatGuardConfig(thresholds=(2,))
    assert RepeatGuardConfig.resolve(config, {}) is config


def test_resolve_options() -> None:
    """Single options make a configuration; none at all make the default one."""
    made = [RepeatGuardConfig.resolve(None, options) for options in ({}, {"thresholds": (2,)})]
    assert made == [RepeatGuardConfig(), RepeatGuardConfig(thresholds=(2,))]


@pytest.mark.parametrize(
    ("resolve", "message"),
    [
        pytest.param(
            lambda: RepeatGuardConfig.resolve(
                RepeatGuardConfig(), {"thresholds": (2,), "exclude": ()}
            ),
            "Got config= and also exclude, thresholds. "
            "Pass either one config or single options, not both.",
            id="both",
        ),
        pytest.param(
            lambda: RepeatGuardConfig.resolve({"thresholds": (2,)}, {}),  # type: ignore[arg-type]
            "config must be a RepeatGuardConfig, got dict.",
            id="no-config",
        ),
    ],
)
def test_resolve_refuses(resolve: Callable[[], object], message: str) -> None:
    """A configuration and options together, or something else as a configuration, are errors."""
    with pytest.raises(TypeError) as caught:
        resolve()
    assert str(caught.value) == message
