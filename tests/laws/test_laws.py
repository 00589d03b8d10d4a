"""The laws of the guard, checked by one machine on random runs of all adapters."""

import zlib
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, seed, settings
from hypothesis.stateful import run_state_machine_as_test
from laws.agents import KINDS, Kind
from laws.machine import Laws

EXAMPLES = 14
STEPS = 25


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_laws_hold(kind: Kind, request: pytest.FixtureRequest) -> None:
    """L1 to L8 hold whatever agents, users, hosts and processes do; one agent is of this kind.

    `--laws-examples N` plays N runs of each kind at random, instead of the same runs each time.
    """
    wanted = request.config.getoption("--laws-examples")
    budget = settings(
        max_examples=wanted or EXAMPLES,
        stateful_step_count=STEPS,
        deadline=None,
        database=None,
        print_blob=True,
        suppress_health_check=list(HealthCheck),
    )
    machine: Any = partial(Laws, kind)
    if not wanted:
        machine = seed(zlib.crc32(kind.name.encode()))(machine)
    run_state_machine_as_test(machine, settings=budget)
