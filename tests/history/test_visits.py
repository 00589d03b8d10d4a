"""How many messages are looked at."""

from typing import Any, SupportsIndex, overload

import pytest
from helpers.models import asks, call
from langchain_core.messages import BaseMessage, HumanMessage, ToolMessage

from langchain_repeat_guard import RepeatGuardConfig
from langchain_repeat_guard.history.carried import Carried
from langchain_repeat_guard.history.judge import judge

MESSAGES = 10_000


class CountingList(list[BaseMessage]):
    """A list that counts how often one of its members is looked at, by index or by iteration."""

    visits = 0

    @overload
    def __getitem__(self, key: SupportsIndex) -> BaseMessage: ...
    @overload
    def __getitem__(self, key: slice) -> list[BaseMessage]: ...
    def __getitem__(self, key: SupportsIndex | slice) -> Any:
        self.visits += len(range(*key.indices(len(self)))) if isinstance(key, slice) else 1
        return super().__getitem__(key)

    def __iter__(self) -> Any:
        self.visits += len(self)
        return super().__iter__()

    def __reversed__(self) -> Any:
        self.visits += len(self)
        return super().__reversed__()


def history(length: int, *, query: str | None = None, at_the_end: int = 0) -> CountingList:
    """Return messages whose calls all differ, but for the last `at_the_end` ones."""
    messages = CountingList([HumanMessage("hi", id="h")])
    steps = length // 2
    for number in range(steps):
        is_same = number >= steps - at_the_end
        arguments = {"q": "same" if is_same else f"query {number}"}
        messages.append(asks(call("grep", arguments, f"c{number}"), id=f"m{number}"))
        messages.append(ToolMessage("ok", tool_call_id=f"c{number}"))
    return messages


@pytest.mark.parametrize("carried", [None, Carried()], ids=["messages-alone", "empty-channel"])
@pytest.mark.parametrize(
    ("at_the_end", "visits"),
    [
        pytest.param(0, 4, id="no-repeat"),
        pytest.param(3, 8, id="three-calls"),
        pytest.param(8, 18, id="eight-calls"),
        pytest.param(MESSAGES // 2, 18, id="nothing-but-repeats"),
    ],
)
def test_scan_goes_back_as_far_as_the_chain_reaches(
    carried: Carried | None, at_the_end: int, visits: int
) -> None:
    """Two messages a step, one step more than the chain is long, never past the last threshold."""
    messages = history(MESSAGES, at_the_end=at_the_end)
    judge(messages, carried, config=RepeatGuardConfig())
    assert messages.visits == visits


@pytest.mark.parametrize("at_the_end", [0, 8, MESSAGES // 2])
def test_carried_chain_needs_the_last_step_and_the_one_before(at_the_end: int) -> None:
    """However long the chain is."""
    messages = history(MESSAGES, at_the_end=at_the_end)
    before = judge(messages[:-2], Carried(), config=RepeatGuardConfig()).carried
    messages.visits = 0
    judge(messages, before, config=RepeatGuardConfig())
    assert messages.visits == 4
