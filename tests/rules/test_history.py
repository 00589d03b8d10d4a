"""Each rule through the one function that reads messages, with and without what is carried."""

import json
from typing import Any

import pytest
from helpers.rules import OPTIONS, PROMPTS, Call, Found, Options, Prompts, expected, history
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from langchain_repeat_guard import RepeatGuardConfig
from langchain_repeat_guard.history.carried import Carried
from langchain_repeat_guard.history.delivery import reminder_message
from langchain_repeat_guard.history.judge import Verdict, judge

SETTINGS = settings(max_examples=80, deadline=None)
GREP = ("grep", {"pattern": "a"})
READ = ("read", {"path": "a"})
SINCE_NEW: Options = {"counting": "since_new_call", "thresholds": (2, 3, 4)}


def stored(carried: Carried) -> Carried:
    """Return what a checkpoint gives back."""
    return Carried.from_dict(json.loads(json.dumps(carried.to_dict())))


def found_in(verdict: Verdict) -> Found:
    """Return the reminder of a verdict as a message would carry it."""
    if not verdict.due:
        return []
    message = reminder_message(verdict.due, verdict.message_id)
    return [(str(message.id), str(message.content))]


@SETTINGS
@given(prompts=PROMPTS, options=OPTIONS)
def test_read_from_the_messages_alone(prompts: Prompts, options: Options) -> None:
    """L1: nothing is carried, all is read anew behind each step."""
    config = RepeatGuardConfig(**options)
    found: Found = []
    for messages in history(prompts):
        found += found_in(judge(messages, None, config=config))
    assert found == expected(prompts, options)


@SETTINGS
@given(prompts=PROMPTS, options=OPTIONS)
def test_carried_through_a_checkpoint(prompts: Prompts, options: Options) -> None:
    """L1 and L2: after each step the state goes through JSON; asked twice, it says the same."""
    config = RepeatGuardConfig(**options)
    found: Found = []
    carried = Carried()
    for messages in history(prompts):
        verdict = judge(messages, carried, config=config)
        assert judge(messages, stored(carried), config=config) == verdict
        found += found_in(verdict)
        carried = stored(verdict.carried)
        assert not judge(messages, carried, config=config).due
    assert found == expected(prompts, options)


@SETTINGS
@given(prompts=PROMPTS, options=OPTIONS, data=st.data())
def test_older_messages_may_go(prompts: Prompts, options: Options, data: Any) -> None:
    """L3: whatever is left of the history in front of the newest step."""
    config = RepeatGuardConfig(**options)
    found: Found = []
    carried = Carried()
    for number, messages in enumerate(history(prompts)):
        newest = max(n for n, one in enumerate(messages) if isinstance(one, AIMessage))
        # The guard has to see each prompt once, as it does where it runs after every step.
        newest_prompt = max(n for n, one in enumerate(messages) if isinstance(one, HumanMessage))
        is_first = newest == newest_prompt + 1
        cut = data.draw(st.integers(0, newest_prompt if is_first else newest), label=f"{number}")
        verdict = judge(messages[cut:], carried, config=config)
        found += found_in(verdict)
        carried = stored(verdict.carried)
    assert found == expected(prompts, options)


@SETTINGS
@given(prompts=PROMPTS, options=OPTIONS, data=st.data())
def test_newer_messages_may_go(prompts: Prompts, options: Options, data: Any) -> None:
    """L2: after the newest steps were taken out of the history, the others count as before."""
    config = RepeatGuardConfig(**options)
    histories = [*history(prompts[:1])]
    if len(histories) < 2:
        return
    carried = Carried()
    for messages in histories:
        carried = stored(judge(messages, carried, config=config).carried)
    # The ids of the last 8 counted steps are known.
    back = data.draw(st.integers(1, min(7, len(histories) - 1)))
    kept = histories[-1 - back]
    # Where no counted step is left, a summary may have taken them, and the chain goes on.
    assume(any(one.name != "poll" for one in answers_in(kept)))
    again = rewritten(histories[-1], kept)
    alone = judge(again, None, config=config)
    assert found_in(judge(again, carried, config=config)) == found_in(alone)


def answers_in(messages: list[BaseMessage]) -> list[ToolMessage]:
    """Return the tool messages."""
    return [one for one in messages if isinstance(one, ToolMessage)]


def rewritten(whole: list[BaseMessage], kept: list[BaseMessage]) -> list[BaseMessage]:
    """Return the messages kept, and behind them the last step of `whole` as a new one."""
    newest = max(n for n, one in enumerate(whole) if isinstance(one, AIMessage))
    return [*kept, whole[newest].model_copy(update={"id": "again"}), *whole[newest + 1 :]]


def test_a_cycle_survives_a_summary() -> None:
    """A-B-A-B with everything but the newest step replaced by a note."""
    config = RepeatGuardConfig(**SINCE_NEW)
    carried = Carried()
    due = []
    note = HumanMessage("so far", additional_kwargs={"lc_source": "summarization"})
    for messages in history([[[GREP], [READ]] * 4]):
        kept = messages if len(messages) == 3 else [note, *messages[-2:]]
        verdict = judge(kept, carried, config=config)
        carried = stored(verdict.carried)
        due += [(one.reminder.summary) for one in verdict.due]
    assert due == ["read × 2", "grep × 2", "read × 3", "grep × 3", "read × 4"]


def test_sets_of_parallel_calls_are_found() -> None:
    """The same three calls at once, in any order, again and again."""
    ping: Call = ("ping", {})
    steps = [[GREP, READ, ping], [ping, READ, GREP], [READ, ping, GREP]]
    *_, messages = history([steps])
    verdict = judge(messages, None, config=RepeatGuardConfig(**SINCE_NEW))
    assert [one.reminder.summary for one in verdict.due] == ["read × 2", "ping × 3", "grep × 2"]


@pytest.mark.parametrize("counting", ["consecutive", "since_new_call"])
def test_limit_is_reached_by_any_call_of_a_step(counting: Any) -> None:
    """Also where another call of the step breaks the chain off again."""
    config = RepeatGuardConfig(counting=counting, limit=3)
    *_, messages = history([[[GREP], [GREP], [GREP, READ]]])
    assert judge(messages, None, config=config).at_limit == ("grep", 3)
