"""The core does what the original plugin does, scenario by scenario."""

import pytest
from helpers.conformance import Expected, Outcome, Scenario, scenarios

from langchain_repeat_guard import Chain, RepeatGuardConfig, observe

SCENARIOS = list(scenarios())


def play(scenario: Scenario) -> Outcome:
    """Run a scenario through `observe`, with one chain per agent."""
    try:
        config = RepeatGuardConfig(**scenario.options)
    except ValueError:
        return Outcome(is_refused=True)
    chains: dict[str, Chain] = {}
    reminders = []
    for index, event in enumerate(scenario.events):
        if event.agent is None:
            continue
        if event.type == "user":
            chains[event.agent] = Chain()
        if event.type == "call":
            before = chains.get(event.agent, Chain())
            after, due = observe(before, event.name, event.arguments, config=config)
            chains[event.agent] = after
            if due:
                reminders.append(Expected(index, event.agent, due.text, due.summary))
    return Outcome(is_refused=False, reminders=tuple(reminders))


@pytest.mark.parametrize("scenario", [pytest.param(one, id=one.id) for one in SCENARIOS])
def test_scenario(scenario: Scenario) -> None:
    """The outcome is the original's, or the one that Python should have instead."""
    assert play(scenario) in scenario.accepted


def test_no_scenario_is_missing() -> None:
    """The file is read whole: 662 lines, each with an id of its own."""
    assert len({one.id for one in SCENARIOS}) == len(SCENARIOS) == 662
