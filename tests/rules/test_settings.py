"""The settings of the rules: what each means, and how wrong values are refused."""

from typing import Any

import pytest
from pydantic import ValidationError

from langchain_repeat_guard import Chain, Reminder, RepeatGuardConfig, observe
from langchain_repeat_guard.core.paths import without
from langchain_repeat_guard.core.texts import FIRST_TEXT, LATER_TEXT

NOT_THOSE = "Input should be"
AT_LEAST_ONE = "must be a whole number of at least 1"
AT_LEAST_TWO = "must be a whole number of at least 2"
BY_NAME = "must be a dict by tool name or pattern"
NAMES = "tool names must be strings"


@pytest.mark.parametrize(
    ("field", "value", "place", "rule"),
    [
        ("counting", "total", (), NOT_THOSE),
        ("counting", None, (), NOT_THOSE),
        ("counting", True, (), NOT_THOSE),
        ("counting", "Consecutive", (), NOT_THOSE),
        ("style", "rude", (), NOT_THOSE),
        ("style", None, (), NOT_THOSE),
        ("exit_behavior", "continue", (), NOT_THOSE),
        ("exit_behavior", None, (), NOT_THOSE),
        ("remind_every", 0, (), AT_LEAST_ONE),
        ("remind_every", -1, (), AT_LEAST_ONE),
        ("remind_every", 2.0, (), AT_LEAST_ONE),
        ("remind_every", "2", (), AT_LEAST_ONE),
        ("remind_every", True, (), AT_LEAST_ONE),
        ("remind_every", [2], (), AT_LEAST_ONE),
        ("limit", 1, (), AT_LEAST_TWO),
        ("limit", 0, (), AT_LEAST_TWO),
        ("limit", -5, (), AT_LEAST_TWO),
        ("limit", 4.0, (), AT_LEAST_TWO),
        ("limit", "4", (), AT_LEAST_TWO),
        ("limit", True, (), AT_LEAST_TWO),
        ("limit", float("inf"), (), AT_LEAST_TWO),
        ("ignore_arguments", None, (), BY_NAME),
        ("ignore_arguments", [("a", "b")], (), BY_NAME),
        ("ignore_arguments", "http_*", (), BY_NAME),
        ("ignore_arguments", {1: ("a",)}, (), NAMES),
        ("ignore_arguments", {"a": "id"}, (), "must be a list or tuple of argument paths"),
        ("ignore_arguments", {"a": None}, (), "must be a list or tuple of argument paths"),
        ("ignore_arguments", {"a": ()}, (), "needs at least one argument path"),
        ("ignore_arguments", {"a": [1]}, (), "argument paths must be strings"),
        ("ignore_arguments", {"a": [""]}, (), "must be keys joined by single dots"),
        ("ignore_arguments", {"a": ["a..b"]}, (), "must be keys joined by single dots"),
        ("ignore_arguments", {"a": [".a"]}, (), "must be keys joined by single dots"),
        ("ignore_arguments", {"a": ["a."]}, (), "must be keys joined by single dots"),
        ("overrides", None, (), BY_NAME),
        ("overrides", ["shell"], (), BY_NAME),
        ("overrides", {None: {"thresholds": (2,)}}, (), NAMES),
        ("overrides", {"shell": (5, 10)}, ("shell",), "Input should be a valid dictionary"),
        ("overrides", {"shell": None}, ("shell",), "Input should be a valid dictionary"),
        ("overrides", {"shell": {}}, ("shell", "thresholds"), "Field required"),
        ("overrides", {"shell": {"thresholds": ()}}, ("shell", "thresholds"), "at least one"),
        ("overrides", {"shell": {"thresholds": (1,)}}, ("shell", "thresholds"), AT_LEAST_TWO),
        ("overrides", {"shell": {"thresholds": 5}}, ("shell", "thresholds"), "must be a list"),
        ("overrides", {"shell": {"thresholds": (3, 3)}}, ("shell", "thresholds"), "must differ"),
    ],
)
def test_wrong_value(field: str, value: Any, place: tuple[str, ...], rule: str) -> None:
    """A wrong value is refused at construction; the message names the field and the rule."""
    with pytest.raises(ValidationError) as caught:
        RepeatGuardConfig(**{field: value})
    (problem,) = caught.value.errors(include_context=False, include_input=False)
    assert problem["loc"] == (field, *place)
    assert rule in problem["msg"]


def test_an_override_knows_no_other_fields() -> None:
    """A misspelt one is refused by its name."""
    with pytest.raises(ValidationError) as caught:
        RepeatGuardConfig(overrides={"shell": {"thresholds": (5,), "limit": 9}})
    (problem,) = caught.value.errors(include_url=False)
    assert (problem["type"], problem["loc"]) == ("extra_forbidden", ("overrides", "shell", "limit"))


def test_a_dict_that_changes_later_changes_nothing() -> None:
    """The settings keep their own."""
    ignored = {"grep": ["id"]}
    config = RepeatGuardConfig(ignore_arguments=ignored)
    ignored["grep"].append("q")
    ignored["read"] = ["q"]
    assert config.ignore_arguments == {"grep": ("id",)}


def test_settings_with_dicts_can_be_keys() -> None:
    """Equal ones are one key, also where names cannot be encoded."""
    overrides = {"a": {"thresholds": (2,)}, "b": {"thresholds": (3,)}}
    turned = dict(reversed(overrides.items()))
    one, other = (
        RepeatGuardConfig(overrides=order, exclude=("\ud800",)) for order in (overrides, turned)
    )
    assert one == other
    assert len({one, other}) == 1


def told(times: int, tool: str, args: Any, **options: Any) -> list[Reminder]:
    """Return what so many calls earn; `args` may be a function of the call's number."""
    chain = Chain()
    found = []
    config = RepeatGuardConfig(**options)
    for number in range(times):
        given = args(number) if callable(args) else args
        chain, reminder = observe(chain, tool, given, config=config)
        found += [reminder] if reminder else []
    return found


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param({}, [3, 5, 8], id="off"),
        pytest.param({"remind_every": 1}, [3, 5, *range(8, 21)], id="every"),
        pytest.param({"remind_every": 5}, [3, 5, 8, 13, 18], id="every-fifth"),
        pytest.param({"remind_every": 50}, [3, 5, 8], id="not-reached"),
        pytest.param({"remind_every": 4, "thresholds": (2,)}, [2, 6, 10, 14, 18], id="from-first"),
        pytest.param(
            {"remind_every": 4, "overrides": {"g*": {"thresholds": (10,)}}},
            [10, 14, 18],
            id="from-the-override",
        ),
    ],
)
def test_remind_every(options: dict[str, Any], expected: list[int]) -> None:
    """Past the last threshold that holds for the tool, again every so many calls."""
    found = told(20, "grep", {"q": "a"}, **options)
    assert [one.count for one in found] == expected
    assert [one.template for one in found] == [FIRST_TEXT, *[LATER_TEXT] * (len(expected) - 1)]
    assert [one.threshold for one in found] == expected


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        pytest.param("shell", [5, 10], id="named"),
        pytest.param("shell_root", [4], id="pattern"),
        pytest.param("Shell", [2], id="case-counts"),
        pytest.param("grep", [2], id="no-override"),
    ],
)
def test_overrides(tool: str, expected: list[int]) -> None:
    """The first pattern that fits holds; the first text comes at its first threshold."""
    overrides = {"shell": {"thresholds": (10, 5)}, "shell*": {"thresholds": (4,)}}
    found = told(12, tool, {}, thresholds=(2,), overrides=overrides)
    assert [one.count for one in found] == expected
    assert found[0].template == FIRST_TEXT


ARGS = {"q": "a", "request_id": 7, "headers": {"date": "x", "host": "h"}, "pages": [{"n": 1}]}


@pytest.mark.parametrize(
    ("paths", "left"),
    [
        pytest.param(("request_id",), {k: ARGS[k] for k in ("q", "headers", "pages")}, id="key"),
        pytest.param(("headers.date",), {**ARGS, "headers": {"host": "h"}}, id="path"),
        pytest.param(("headers",), {k: ARGS[k] for k in ("q", "request_id", "pages")}, id="whole"),
        pytest.param(("*_id",), {k: ARGS[k] for k in ("q", "headers", "pages")}, id="star"),
        pytest.param(("*.date",), {**ARGS, "headers": {"host": "h"}}, id="star-in-front"),
        pytest.param(("pages.0.n",), {**ARGS, "pages": [{}]}, id="index"),
        pytest.param(("pages.*.n",), {**ARGS, "pages": [{}]}, id="every-index"),
        pytest.param(("pages.*",), {**ARGS, "pages": []}, id="all-items"),
        pytest.param(("pages.1.n", "q.x", "no", "headers.date.x"), ARGS, id="nothing-there"),
        pytest.param(("date", "host", "n"), ARGS, id="only-at-the-top"),
        pytest.param(("*",), {}, id="all"),
        pytest.param(("q", "request_id", "headers", "pages"), {}, id="several"),
    ],
)
def test_paths(paths: tuple[str, ...], left: dict[str, Any]) -> None:
    """A path names keys from the top, `*` any characters of one of them, indexes in lists."""
    before = repr(ARGS)
    assert without(ARGS, paths) == left
    assert repr(ARGS) == before


@pytest.mark.parametrize("value", ["raw {", "", 7, None, 1.5, True], ids=repr)
def test_what_has_no_keys_stays(value: Any) -> None:
    """A raw string, which is malformed JSON, is compared as it is."""
    assert without(value, ("*", "a.b")) == value


@pytest.mark.parametrize(
    ("tool", "args", "expected"),
    [
        pytest.param("http_get", lambda n: {"url": "u", "id": n}, [2], id="ignored"),
        pytest.param("http_get", lambda n: {"url": n, "id": 1}, [], id="counts"),
        pytest.param("http_post", lambda n: {"url": "u", "id": n}, [], id="first-pattern-only"),
        pytest.param("grep", lambda n: {"url": "u", "id": n}, [], id="other-tool"),
        pytest.param("http_get", lambda n: f'{{"url": "u", "id": {n}', [], id="raw-string"),
        pytest.param("http_get", lambda n: ["u", n], [], id="list"),
    ],
)
def test_ignored_arguments(tool: str, args: Any, expected: list[int]) -> None:
    """What is ignored for a tool's first pattern makes no difference; all else does."""
    ignored = {"http_post": ("other",), "http_*": ("id",), "*": ("url",)}
    found = told(2, tool, args, thresholds=(2,), ignore_arguments=ignored if tool != "grep" else {})
    assert [one.count for one in found] == expected


def test_ignored_arguments_are_not_quoted() -> None:
    """The reminder shows what was compared."""
    found = told(
        3,
        "http_get",
        lambda n: {"url": "u", "headers": {"date": n, "host": "h"}},
        thresholds=(2, 3),
        ignore_arguments={"http_*": ("headers.date",)},
    )
    assert '- arguments: {"headers":{"host":"h"},"url":"u"}\n' in found[1].text
