"""Both ways to run an agent, and no fault of the guard unnoticed."""

from collections.abc import Iterator

import pytest
from helpers.modes import Run, run_async, run_sync


@pytest.fixture(params=[run_sync, run_async], ids=["sync", "async"])
def run(request: pytest.FixtureRequest) -> Run:
    """Return one of the two ways to run an agent."""
    way: Run = request.param
    return way


@pytest.fixture(autouse=True)
def _no_fault(request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """L7: fail any test in which the guard logs more than reminders, but those about faults."""
    yield
    if "faults_expected" not in request.keywords:
        lines = [
            record.getMessage()
            for record in caplog.get_records("call")
            if record.name == "langchain_repeat_guard"
        ]
        assert [line for line in lines if not line.startswith("reminder: ")] == []
