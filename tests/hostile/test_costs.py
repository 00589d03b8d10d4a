"""No input makes the guard slower than linear, and large arguments are not copied about."""

import sys
from collections.abc import Callable
from typing import Any

import pytest
from helpers.costs import operations, peak_bytes
from helpers.models import asks, call, malformed, says
from helpers.probes import PROBES
from helpers.texts import FIRST_TEXT
from langchain_core.messages import HumanMessage, ToolMessage

from langchain_repeat_guard import RepeatGuardConfig, is_reminder
from langchain_repeat_guard.core.arguments import fingerprint
from langchain_repeat_guard.core.redaction import redact
from langchain_repeat_guard.core.texts import is_reminder_text

BYTES = 20_000_000
MOST_COPIES = 3


OWN_TEXTS = (
    "{tool}: {arguments}{arguments}: {count}: do something that is new, please",
    "{tool}\n\n{tool}\n\n{arguments}: do something that is new, please",
)


def answer(id_: str) -> ToolMessage:
    return ToolMessage("no", tool_call_id=id_, id=f"t{id_}")


def parallel_calls(size: int) -> list[Any]:
    ids = [f"c{number}" for number in range(size)]
    return [asks(*(call("grep", {"q": "a"}, id_) for id_ in ids), id="a"), *map(answer, ids)]


def malformed_calls(size: int) -> list[Any]:
    ids = [f"c{number}" for number in range(size)]
    message = asks(*(malformed("grep", "{", id_) for id_ in ids), id="a")
    message.additional_kwargs["tool_calls"] = [
        {"id": id_, "function": {"name": "grep", "arguments": "{"}} for id_ in reversed(ids)
    ]
    return [message, *map(answer, ids)]


def answers_of_nobody(size: int) -> list[Any]:
    return [
        asks(call("grep", {}, "c"), id="a"),
        *(answer(f"o{n}") for n in range(size)),
        answer("c"),
    ]


def long_history(size: int) -> list[Any]:
    steps = [[asks(call("grep", {}, f"c{n}"), id=f"a{n}"), answer(f"c{n}")] for n in range(size)]
    return [message for step in steps for message in step]


def notes(size: int) -> list[Any]:
    said = [HumanMessage("note", additional_kwargs={"lc_source": "host"}) for _ in range(size)]
    return [*parallel_calls(1)[:1], *said, answer("c0")]


def unfinished_steps(size: int) -> list[Any]:
    open_steps = [asks(call("grep", {}, f"x{n}"), id=f"x{n}") for n in range(size)]
    return [*open_steps, *long_history(1)]


def nested(size: int) -> list[Any]:
    value: Any = "x"
    for _ in range(size):
        value = {"a": [value]}
    return [asks(call("grep", {"q": value}, "c"), id="a"), answer("c")]


def many_keys(size: int) -> list[Any]:
    value = {f"k{number}": [number, {}, 1e-9] for number in range(size)}
    return [
        asks(*(call("grep", value, f"c{n}") for n in range(3)), id="a"),
        *map(answer, ["c0", "c1", "c2"]),
    ]


def marked_steps(size: int) -> list[Any]:
    return [says("", id="s"), *long_history(size)]


SHAPES = [
    parallel_calls,
    malformed_calls,
    answers_of_nobody,
    long_history,
    notes,
    unfinished_steps,
    nested,
    many_keys,
]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_work_grows_no_faster_than_the_input(
    adapter: str, shape: Callable[[int], list[Any]]
) -> None:
    """Four times the input takes at most four times the operations, and a little."""

    def work(size: int) -> int:
        probe = PROBES[adapter](thresholds=(2, 3), redact_arguments=("k1",))
        state = {"messages": shape(size), "repeat_guard": {}}
        return operations(lambda: probe(state))

    work(10)  # what runs once only
    assert work(400) <= 4.4 * work(100)


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(lambda n: RepeatGuardConfig(include=("*a" * n,)).tracks("a" * n), id="stars"),
        pytest.param(lambda n: redact("[" * n + "]" * n, ("x",)), id="brackets"),
        pytest.param(lambda n: redact('{"a":' * n + "1" + "}" * n, ("b",)), id="keys"),
        pytest.param(
            lambda n: is_reminder(HumanMessage("\n\n".join([FIRST_TEXT] * n) + "!")), id="almost"
        ),
        pytest.param(lambda n: is_reminder_text("a: " * n, OWN_TEXTS), id="own-text-of-fields"),
        pytest.param(lambda n: is_reminder_text("a\n\n" * n, OWN_TEXTS), id="own-text-of-lines"),
    ],
)
def test_texts_take_linear_work(run: Callable[[int], object]) -> None:
    """Patterns, canonical text and reminder text are read once."""
    run(10)  # what runs once only
    assert operations(lambda: run(400)) <= 4.4 * operations(lambda: run(100))


def large(kind: str) -> Any:
    """Return an argument of about `BYTES` bytes."""
    if kind == "raw":
        return "{" + "x" * BYTES
    text = {
        "ascii": "x" * BYTES,
        "latin": "é" * BYTES,
        "astral": "😀" * (BYTES // 4),
        "bmp": "語" * (BYTES // 2),
        "many": "x",
    }[kind]
    return {"path": "a", "content": text, "password": "p"}


@pytest.mark.parametrize("redacted", [(), ("password",)], ids=["plain", "redacted"])
@pytest.mark.parametrize("kind", ["ascii", "latin", "bmp", "astral"])
def test_a_large_argument_is_copied_three_times_at_most(
    adapter: str, kind: str, redacted: tuple[str, ...]
) -> None:
    """Counting, comparing and quoting it hold no more than that at any time."""
    messages: list[Any] = []
    for turn in range(3):
        args = large(kind)
        messages += [asks(call("write", args, f"c{turn}"), id=f"a{turn}"), answer(f"c{turn}")]
    size = sys.getsizeof(args["content"])
    probe = PROBES[adapter](thresholds=(2, 3), redact_arguments=redacted)
    state = {"messages": messages, "repeat_guard": {}}
    assert peak_bytes(lambda: probe(state)) <= MOST_COPIES * size + 5_000_000


def test_a_large_malformed_argument_is_copied_three_times_at_most() -> None:
    """A raw string is held to the same."""
    raw = large("raw")
    assert peak_bytes(lambda: fingerprint("write", raw)) <= MOST_COPIES * BYTES
