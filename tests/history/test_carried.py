"""What a state carries between steps."""

import json
from typing import Any
from uuid import UUID

import pytest

from langchain_repeat_guard import Chain, RepeatGuardStateError
from langchain_repeat_guard.history.carried import Carried

CARRIED = Carried(Chain("k", 3), (("m1", 2), ("m2", 3)), ("0123abcd", "4567ef89"))


def test_it_survives_json() -> None:
    """A checkpoint may store it as JSON."""
    assert Carried.from_dict(json.loads(json.dumps(CARRIED.to_dict()))) == CARRIED


def test_dict_is_plain() -> None:
    """Strings, numbers, lists and dicts only."""
    assert CARRIED.to_dict() == {
        "chain": {"key": "k", "count": 3},
        "counted": [["m1", 2], ["m2", 3]],
        "prompts": "0123abcd4567ef89",
    }


@pytest.mark.parametrize("nothing", [None, {}], ids=["none", "empty"])
def test_nothing_is_nothing_carried(nothing: object) -> None:
    """A state starts without a chain."""
    assert Carried.from_dict(nothing) == Carried()


def test_eight_steps_are_remembered() -> None:
    """The newest ones, with the length of the chain after each."""
    carried = Carried()
    for number in range(1, 11):
        carried = carried.with_step(f"m{number}", Chain("k", number))
    assert carried == Carried(
        Chain("k", 10), tuple((f"m{number}", number) for number in range(3, 11))
    )


def test_eight_prompts_are_remembered() -> None:
    """The newest ones; each resets the chain, and the newest one only once."""
    carried = Carried()
    for number in range(1, 11):
        carried = carried.after_prompt(f"h{number}").with_step("m", Chain("k", 1))
    assert [number for number in range(1, 11) if carried.has_seen_prompt(f"h{number}")] == [
        *range(3, 11)
    ]
    assert carried.after_prompt("h10") is carried
    assert carried.after_prompt("h9").counted == ()
    assert carried.after_prompt("").counted == ()


def test_long_ids_stay_below_600_bytes() -> None:
    """Eight ids as LangChain makes them, and eight prompts."""
    carried = Carried()
    for number in range(9):
        carried = carried.after_prompt(str(UUID(int=number)))
    for number in range(8):
        carried = carried.with_step(f"lc_run--{UUID(int=number)}", Chain("0" * 32, number + 1))
    assert len(json.dumps(carried.to_dict()).encode()) < 600


@pytest.mark.parametrize(
    "stored",
    [
        pytest.param("chain", id="a-string"),
        pytest.param([1], id="a-list"),
        pytest.param({"chain": {"key": "k", "count": 1}}, id="parts-missing"),
        pytest.param({"chain": None, "counted": [], "prompts": ""}, id="no-chain"),
        pytest.param({"chain": {"key": 1, "count": 1}, "counted": [], "prompts": ""}, id="key"),
        pytest.param({"chain": {"key": "", "count": -1}, "counted": [], "prompts": ""}, id="below"),
        pytest.param({"chain": {"key": "", "count": 0}, "counted": [], "prompts": 1}, id="prompt"),
        pytest.param({"chain": {"key": "", "count": 0}, "counted": "m", "prompts": ""}, id="text"),
        *(
            pytest.param(
                {"chain": {"key": "", "count": 0}, "counted": [entry], "prompts": ""},
                id=f"entry-{entry}",
            )
            for entry in ("m1", ["m1"], [1, 1], ["m1", "1"], ["m1", -1], ["m1", True], ["m1", 1, 1])
        ),
    ],
)
def test_what_is_not_ours_is_refused_without_showing_it(stored: Any) -> None:
    """The message names a type and a rule."""
    with pytest.raises(RepeatGuardStateError, match=r"^The stored chain must be a "):
        Carried.from_dict(stored)
