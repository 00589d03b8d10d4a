"""Each rule through the core's one function, against the rule written in plain Python."""

import json
from collections.abc import Sequence
from itertools import chain as joined
from typing import Any

import pytest
from helpers.rules import CALLS, OPTIONS, PROMPTS, Call, Options, Prompts, demanded, since_new_call
from hypothesis import given, settings
from hypothesis import strategies as st

from langchain_repeat_guard import Chain, RepeatGuardConfig, RepeatGuardStateError, observe

A: Call = ("grep", {"pattern": "a"})
B: Call = ("grep", {"pattern": "b"})
C: Call = ("read", {"path": "c"})
NO_OP: Call = ("wait", {})
SINCE_NEW = RepeatGuardConfig(counting="since_new_call", thresholds=(3,))


def counts(calls: Sequence[Call], config: RepeatGuardConfig = SINCE_NEW) -> list[int]:
    """Return the count of each call."""
    chain = Chain()
    found = []
    for name, args in calls:
        chain, _ = observe(chain, name, args, config=config)
        found.append(chain.count)
    return found


@settings(max_examples=150, deadline=None)
@given(prompts=PROMPTS, options=OPTIONS)
def test_reminders_are_those_of_the_rules(prompts: Prompts, options: Options) -> None:
    """L1: for any list of calls and any settings; a stored chain goes on as if never stored."""
    config = RepeatGuardConfig(**options)
    for steps in prompts:
        calls = [*joined.from_iterable(steps)]
        chain = Chain()
        found = []
        for place, (name, args) in enumerate(calls):
            chain = Chain.from_dict(json.loads(json.dumps(chain.to_dict())))
            chain, reminder = observe(chain, name, args, config=config)
            if reminder:
                assert (reminder.tool, reminder.threshold) == (name, reminder.count)
                found.append((place, reminder.count, reminder.text))
        assert found == [(due.place, due.count, due.text) for due in demanded(calls, options)]


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        pytest.param([A] * 4, [1, 2, 3, 4], id="in-a-row"),
        pytest.param([A, B] * 4, [1, 1, 1, 2, 2, 3, 3, 4], id="two-in-turn"),
        pytest.param([A, B, C] * 3, [1, 1, 1, 1, 1, 2, 2, 2, 3], id="three-in-turn"),
        pytest.param([A, NO_OP, A, NO_OP, A], [1, 1, 1, 2, 2], id="no-op-in-between"),
        pytest.param([A, A, B, A, A], [1, 2, 1, 1, 2], id="new-call-clears-all"),
        pytest.param([A, B, A, B, C, A, B], [1, 1, 1, 2, 1, 1, 1], id="also-in-a-cycle"),
    ],
)
def test_since_new_call(calls: list[Call], expected: list[int]) -> None:
    """Each call has its count; all clear when a call comes that the prompt has not seen."""
    assert counts(calls) == expected


def test_an_untracked_call_clears_nothing() -> None:
    """It is transparent, however new it is."""
    config = RepeatGuardConfig(counting="since_new_call", exclude=("wait",))
    assert counts([A, NO_OP, A, ("wait", {"s": 1}), A], config) == [1, 1, 2, 2, 3]


def test_what_equals_nothing_is_always_new() -> None:
    """Arguments without an honest comparison clear all counts, each time."""
    odd: Call = ("grep", {"pattern": object()})
    assert counts([A, A, odd, A, odd, odd, A]) == [1, 2, 1, 1, 1, 1, 1]


def test_256_distinct_calls_are_remembered() -> None:
    """The call last made before 256 others is new again, the one after it is not."""
    many: list[Call] = [("read", {"path": str(n)}) for n in range(257)]
    oldest, second = many[0], many[1]
    assert counts([*many, second, second])[-2:] == [1, 2]
    assert counts([*many, second, oldest, second])[-3:] == [1, 1, 1]


def test_the_memory_goes_by_last_use() -> None:
    """A call that was repeated is remembered longer than one that was made later, but once."""
    many: list[Call] = [("read", {"path": str(n)}) for n in range(256)]
    calls = [*many, many[0], many[0], ("read", {"path": "new"}), many[0], many[1], many[0]]
    # many[1] is forgotten, so that it clears the count of many[0].
    assert counts(calls)[-6:] == [1, 2, 1, 1, 1, 1]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 300), max_size=700))
def test_the_chain_stays_small(numbers: list[int]) -> None:
    """Never more than 256 entries, each a digest and a count."""
    chain = Chain()
    for number in numbers:
        chain, _ = observe(chain, "read", {"path": number}, config=SINCE_NEW)
    assert len(chain.seen) <= 256
    assert len(json.dumps(chain.to_dict())) < 256 * 48
    assert [len(key) for key, _ in chain.seen] == [32] * len(chain.seen)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(CALLS), min_size=1, max_size=30))
def test_counts_equal_the_definition(calls: list[Call]) -> None:
    """How often the call stands among those since the newest first one."""
    keys = [json.dumps(one) for one in calls]
    assert counts(calls) == [since_new_call(keys[: n + 1]) for n in range(len(keys))]


def test_a_chain_counted_in_a_row_goes_on_call_by_call() -> None:
    """Where the setting was changed between two processes, the running chain is not lost."""
    chain = Chain()
    for _ in range(2):
        chain, _ = observe(chain, *A, config=RepeatGuardConfig(thresholds=(3,)))
    chain, reminder = observe(chain, *A, config=SINCE_NEW)
    assert (chain.count, reminder is not None) == (3, True)


@pytest.mark.parametrize(
    "seen",
    [
        pytest.param("x", id="text"),
        pytest.param(None, id="none"),
        pytest.param({}, id="dict"),
        pytest.param([["k"]], id="no-count"),
        pytest.param([[1, 1]], id="key-is-no-text"),
        pytest.param([["k", "1"]], id="count-is-text"),
        pytest.param([["k", True]], id="count-is-true"),
        pytest.param([["k", -1]], id="count-is-negative"),
    ],
)
def test_what_is_no_stored_chain(seen: Any) -> None:
    """A list of calls that is not ours is refused."""
    with pytest.raises(RepeatGuardStateError):
        Chain.from_dict({"key": "k", "count": 1, "seen": seen})
