"""The chain of one agent, and when it draws a reminder."""

import dataclasses
import json
import pickle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langchain_repeat_guard import Chain, RepeatGuardConfig, RepeatGuardStateError, observe

Call = tuple[str, Any]
CATS: Call = ("grep", {"q": "cats"})
DOGS: Call = ("grep", {"q": "dogs"})
LIST: Call = ("ls", {"q": "cats"})
TODO: Call = ("todo", {})


def counts(calls: list[Call], config: RepeatGuardConfig) -> list[int]:
    """Return the length of the chain after each call."""
    chain = Chain()
    lengths = []
    for name, arguments in calls:
        chain, _ = observe(chain, name, arguments, config=config)
        lengths.append(chain.count)
    return lengths


def reminded_at(calls: list[Call], config: RepeatGuardConfig) -> list[int]:
    """Return which calls, from 1 on, draw a reminder."""
    chain = Chain()
    places = []
    for place, (name, arguments) in enumerate(calls, 1):
        chain, reminder = observe(chain, name, arguments, config=config)
        if reminder:
            places.append(place)
    return places


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        pytest.param([CATS] * 3, [1, 2, 3], id="identical"),
        pytest.param([CATS, DOGS, DOGS, CATS], [1, 1, 2, 1], id="other-arguments"),
        pytest.param([CATS, LIST, CATS], [1, 1, 1], id="other-tool"),
        pytest.param([CATS, TODO, CATS], [1, 1, 2], id="untracked-in-between"),
        pytest.param([TODO, TODO, CATS], [0, 0, 1], id="untracked-first"),
    ],
)
def test_count(calls: list[Call], expected: list[int]) -> None:
    """An identical call makes the chain longer, another tracked one starts it anew."""
    assert counts(calls, RepeatGuardConfig(exclude=("todo",))) == expected


@pytest.mark.parametrize(
    ("thresholds", "expected"),
    [
        pytest.param((3, 5, 8), [3, 5, 8], id="default"),
        pytest.param((2,), [2], id="one"),
        pytest.param((12, 2), [2, 12], id="any-order"),
        pytest.param((100,), [], id="not-reached"),
    ],
)
def test_reminded_exactly_at_thresholds(thresholds: tuple[int, ...], expected: list[int]) -> None:
    """A reminder comes exactly where the length equals a threshold; past the last one, none."""
    config = RepeatGuardConfig(thresholds=thresholds)
    assert reminded_at([CATS] * 20, config) == expected


def test_thresholds_count_from_the_start_of_a_chain() -> None:
    """After another call in between, each threshold is reached once more."""
    config = RepeatGuardConfig(thresholds=(2, 3))
    assert reminded_at([CATS] * 3 + [DOGS] + [CATS] * 3, config) == [2, 3, 6, 7]


def test_untracked_call_returns_the_chain_itself() -> None:
    """An untracked call is transparent, and its arguments are not even looked at."""
    chain = Chain("a" * 32, 2)
    config = RepeatGuardConfig(include=("grep",))
    after, reminder = observe(chain, "ls", {}, config=config)
    assert (after is chain, reminder) == (True, None)


def test_observing_is_pure() -> None:
    """The same chain and call always give the same answer, and neither is changed."""
    config = RepeatGuardConfig(thresholds=(2,))
    arguments = {"q": ["cats"]}
    chain, _ = observe(Chain(), "grep", arguments, config=config)
    before = dataclasses.replace(chain)
    answers = [observe(chain, "grep", arguments, config=config) for _ in range(2)]
    assert (answers[0], chain, arguments) == (answers[1], before, {"q": ["cats"]})


def test_a_chain_is_frozen() -> None:
    """A chain is a value."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        Chain().count = 1  # type: ignore[misc]


def test_a_chain_holds_no_arguments() -> None:
    """What is stored gives away nothing of the arguments but a digest."""
    chain, _ = observe(Chain(), "login", {"password": "hunter2-test"}, config=RepeatGuardConfig())
    assert "hunter2" not in f"{chain!r}{chain.to_dict()}"


CALLS = st.lists(st.sampled_from([CATS, DOGS, LIST, TODO]), max_size=12)


@settings(max_examples=150, deadline=None)
@given(CALLS, CALLS)
def test_a_stored_chain_goes_on(before: list[Call], after: list[Call]) -> None:
    """A chain that went through JSON in between ends as one that did not."""
    config = RepeatGuardConfig(thresholds=(2, 3), exclude=("todo",))
    chain = Chain()
    for name, arguments in before:
        chain, _ = observe(chain, name, arguments, config=config)
    stored = Chain.from_dict(json.loads(json.dumps(chain.to_dict())))
    assert stored == chain == pickle.loads(pickle.dumps(chain))
    for name, arguments in after:
        undisturbed = observe(chain, name, arguments, config=config)
        assert observe(stored, name, arguments, config=config) == undisturbed
        chain = stored = undisturbed[0]


@settings(max_examples=150, deadline=None)
@given(CALLS)
def test_untracked_calls_change_nothing(calls: list[Call]) -> None:
    """The chain is that of the tracked calls alone."""
    config = RepeatGuardConfig(exclude=("todo",))
    tracked = [call for call in calls if call is not TODO]
    assert counts(calls, config)[-1:] in ([], (counts(tracked, config) or [0])[-1:])


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(None, id="none"),
        pytest.param([], id="list"),
        pytest.param({}, id="empty"),
        pytest.param({"key": ""}, id="no-count"),
        pytest.param({"count": 1}, id="no-key"),
        pytest.param({"key": 1, "count": 1}, id="key-is-no-text"),
        pytest.param({"key": "", "count": "1"}, id="count-is-text"),
        pytest.param({"key": "", "count": 1.0}, id="count-is-a-float"),
        pytest.param({"key": "", "count": True}, id="count-is-true"),
        pytest.param({"key": "", "count": False}, id="count-is-false"),
        pytest.param({"key": "", "count": -1}, id="count-is-negative"),
    ],
)
def test_what_is_no_stored_chain(value: object) -> None:
    """A stored value that is not ours is refused, by type and rule."""
    with pytest.raises(RepeatGuardStateError) as caught:
        Chain.from_dict(value)
    assert str(caught.value) == (
        "The stored chain must be a dict with a string 'key' and a whole 'count', "
        f"got {type(value).__name__}. Delete it or write it with to_dict()."
    )
