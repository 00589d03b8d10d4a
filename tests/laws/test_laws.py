"""The laws of the guard, checked by one machine on random runs of all adapters."""

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test
from laws.machine import Laws


def test_the_laws_hold(request: pytest.FixtureRequest) -> None:
    """L1 to L8 hold whatever agents, users, hosts and processes do.

    `--laws-examples N` plays N runs at random, instead of the same runs each time.
    """
    wanted = request.config.getoption("--laws-examples")
    budget = settings(
        max_examples=wanted or 100,
        stateful_step_count=25,
        derandomize=not wanted,
        deadline=None,
        database=None,
        print_blob=True,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(Laws, settings=budget)
