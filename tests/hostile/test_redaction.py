"""`redact_arguments`: values that reminders do not quote, while calls are compared in full."""

import datetime as dt
import json
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from langchain_repeat_guard import Chain, RepeatGuardConfig, observe
from langchain_repeat_guard.core.arguments import fingerprint
from langchain_repeat_guard.core.redaction import MASK, redact

SECRET = "hunter2"  # noqa: S105  what must not be shown
KEYS = ("*password*", "token")


class Login(BaseModel):
    user: str
    password: str


@dataclass
class Server:
    password: str
    port: int


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        pytest.param({"q": "x"}, '{"q":"x"}', id="no-such-key"),
        pytest.param({"password": "x"}, '{"password":"[redacted]"}', id="top"),
        pytest.param({"db_password_2": 1}, '{"db_password_2":"[redacted]"}', id="wildcards"),
        pytest.param({"Password": "x"}, '{"Password":"x"}', id="case-counts"),
        pytest.param({"tokens": "x"}, '{"tokens":"x"}', id="whole-key"),
        pytest.param(
            {"a": [{"b": {"token": "x", "z": 1}}]},
            '{"a":[{"b":{"token":"[redacted]","z":1}}]}',
            id="any-depth",
        ),
        pytest.param(
            {"token": {"a": [1, {"token": 2}]}, "z": 3},
            '{"token":"[redacted]","z":3}',
            id="with-all-that-is-in-it",
        ),
        pytest.param(
            {"a": 'token":"', "token": "}"},
            '{"a":"token\\":\\"","token":"[redacted]"}',
            id="quotes",
        ),
        pytest.param(
            {"to\\ken": 1, "token": []}, '{"to\\\\ken":1,"token":"[redacted]"}', id="escapes"
        ),
        pytest.param('{"password": "x"', MASK, id="a-raw-string-is-masked-whole"),
        pytest.param(["x", "password"], '["x","password"]', id="values-are-no-keys"),
        pytest.param([], "[]", id="empty"),
        pytest.param(None, "null", id="nothing"),
        pytest.param(
            {"on": dt.date(2026, 1, 2), "token": dt.date(2026, 1, 2)},
            '{"on":date("2026-01-02"),"token":"[redacted]"}',
            id="beyond-json",
        ),
        pytest.param(
            {1: "x", ("a", "token"): {"token": "y"}},
            '{1:"x",["a","token"]:{"token":"[redacted]"}}',
            id="keys-that-are-no-strings",
        ),
    ],
)
def test_what_is_shown(arguments: object, shown: str) -> None:
    """Keys are matched as tool names are; a value is masked with all that is in it."""
    text = fingerprint("t", arguments)[1]
    assert redact(text, KEYS) == shown


@pytest.mark.parametrize(
    "holder", [Login(user="ann", password=SECRET), Server(SECRET, 1)], ids=["model", "dataclass"]
)
def test_fields_of_objects_are_keys(holder: object) -> None:
    """A model's or a dataclass's field is masked like a key."""
    text = redact(fingerprint("t", {"a": holder})[1], KEYS)
    assert '"password":"[redacted]"' in text
    assert SECRET not in text


@pytest.mark.parametrize("text", ['{"a":1', '{"a":1]', '}{"token":1}', "(", '{"token":1}}}'])
def test_a_text_whose_brackets_do_not_close_is_masked_whole(text: str) -> None:
    """What cannot be read cannot be shown."""
    assert redact(text, KEYS) == MASK


def test_without_patterns_nothing_changes() -> None:
    """The default quotes all."""
    assert redact('"raw"', ()) == '"raw"'


LEAVES = st.none() | st.integers() | st.text(max_size=5)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["token", "a", 'b"', "c{", "password"]), inner, max_size=3
        )
    ),
    max_leaves=12,
)


def masked(value: Any) -> Any:
    """Return the value as it should be shown, by walking it."""
    if isinstance(value, dict):
        return {
            key: "[redacted]" if key == "token" or "password" in key else masked(member)
            for key, member in value.items()
        }
    return [masked(member) for member in value] if isinstance(value, list) else value


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.sampled_from(["token", "a", "password", "x,"]), VALUES, max_size=3))
def test_as_a_walk_of_the_value_would_do_it(arguments: dict[str, Any]) -> None:
    """The text that is shown is the canonical text of the value with the masks in it."""
    text = fingerprint("t", arguments)[1]
    assert redact(text, KEYS) == fingerprint("t", masked(arguments))[1]


def reminder_texts(*passwords: str) -> list[str]:
    config = RepeatGuardConfig(thresholds=(2, 3), redact_arguments=KEYS)
    chain, texts = Chain(), []
    for password in passwords:
        chain, reminder = observe(chain, "login", {"password": password}, config=config)
        texts += [reminder.text, reminder.message_text] if reminder else []
    return texts


def test_the_full_value_is_compared() -> None:
    """Another password is another call; the same one is a repeat, quoted with its mask."""
    assert reminder_texts("a", "b", "c") == []
    texts = reminder_texts("hunter2", "hunter2", "hunter2")
    assert len(texts) == 4
    assert '- arguments: {"password":"[redacted]"}\n' in texts[2]
    assert not any("hunter2" in text for text in texts)


def test_the_preview_counts_what_it_shows() -> None:
    """The number of cut characters says nothing about the length of a masked value."""
    config = RepeatGuardConfig(thresholds=(2, 3), redact_arguments=KEYS, arguments_preview_chars=12)
    chain, last = Chain(), None
    for _ in range(3):
        chain, last = observe(chain, "login", {"password": "x" * 1000}, config=config)
    assert last is not None
    cut = len('{"password":"[redacted]"}') - 12
    assert f'- arguments: {{"password":… (+{cut} more chars)\n' in last.text


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("password", "must be a list or tuple of argument names, got 'password'"),
        ([1], "argument names must be strings, got 1"),
    ],
)
def test_a_wrong_setting_is_refused(value: object, message: str) -> None:
    """A bare string where a list belongs would mask single letters."""
    with pytest.raises(ValidationError, match=message):
        RepeatGuardConfig(redact_arguments=value)


def test_json_inside_of_a_string_is_not_read() -> None:
    """A string is a value, as it is where calls are compared."""
    inside = json.dumps({"password": "x"})
    assert "hunter" not in redact(fingerprint("t", {"token": "hunter"})[1], KEYS)
    assert redact(fingerprint("t", {"body": inside})[1], KEYS) == json.dumps(
        {"body": inside}, separators=(",", ":")
    )
