"""The nodes do what the original plugin does, in real graphs with messages and threads."""

import pytest
from helpers.conformance import Outcome, Scenario
from helpers.graphs import GUARDED, PickleSerializer, Place, Playback, answer, refuse, reminders
from helpers.scenario_messages import SCENARIOS, delivered, outcome, sections, threads
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver


def play(scenario: Scenario, place: Place) -> Outcome:
    """Run a scenario with a guard at `place`."""
    try:
        agent = Playback(
            place,
            refuse if scenario.kind == "blocked_calls" else answer,
            checkpointer=InMemorySaver(serde=PickleSerializer()),
            **scenario.options,
        )
    except ValueError:
        return Outcome(is_refused=True)
    for thread, said, turns in sections(scenario):
        agent.run(turns or [AIMessage("done")], *said, thread=thread)
    return outcome(
        [
            (thread, reminder)
            for thread in threads(scenario)
            for reminder in reminders(agent.messages(thread))
        ]
    )


@pytest.mark.parametrize("place", GUARDED)
@pytest.mark.parametrize("scenario", [pytest.param(one, id=one.id) for one in SCENARIOS])
def test_scenario(scenario: Scenario, place: Place) -> None:
    """Each agent is a thread; the reminders stand behind the calls that the original names."""
    assert play(scenario, place) in [delivered(one, scenario) for one in scenario.accepted]
