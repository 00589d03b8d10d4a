"""The history of messages leads to the reminders of the original plugin."""

import json
from collections import defaultdict

import pytest
from helpers.conformance import Outcome, Scenario
from helpers.scenario_messages import SCENARIOS, delivered, outcome, sections
from langchain_core.messages import AnyMessage, ToolMessage

from langchain_repeat_guard import RepeatGuardConfig
from langchain_repeat_guard.history.carried import Carried
from langchain_repeat_guard.history.delivery import reminder_message
from langchain_repeat_guard.history.judge import judge


def play(scenario: Scenario, *, is_carried: bool) -> Outcome:
    """Judge each agent's messages before each of its model calls, as a node would."""
    try:
        config = RepeatGuardConfig(**scenario.options)
    except ValueError:
        return Outcome(is_refused=True)
    histories = defaultdict[str, list[AnyMessage]](list)
    stored = defaultdict[str, str](lambda: "null")
    given: list[tuple[str, AnyMessage]] = []
    for thread, said, turns in sections(scenario):
        history = histories[thread]
        history += said
        for turn in turns:
            call = turn.tool_calls[0]
            status = "error" if scenario.kind == "blocked_calls" else "success"
            history += [turn, ToolMessage("result", tool_call_id=call["id"], status=status)]
            carried = Carried.from_dict(json.loads(stored[thread])) if is_carried else None
            verdict = judge(history, carried, config=config)
            stored[thread] = json.dumps(verdict.carried.to_dict())
            if verdict.due:
                reminder = reminder_message(verdict.due, verdict.message_id)
                history.append(reminder)
                given.append((thread, reminder))
    return outcome(given)


@pytest.mark.parametrize("is_carried", [False, True], ids=["messages-alone", "chain-carried"])
@pytest.mark.parametrize("scenario", [pytest.param(one, id=one.id) for one in SCENARIOS])
def test_scenario(scenario: Scenario, *, is_carried: bool) -> None:
    """With messages alone, or with the chain carried as JSON, the outcome is the original's."""
    assert play(scenario, is_carried=is_carried) in [
        delivered(one, scenario) for one in scenario.accepted
    ]


def test_no_scenario_is_missing() -> None:
    """All scenarios are played in which every call's arguments are an object."""
    assert len(SCENARIOS) == 471
