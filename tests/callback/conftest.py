"""No fault of the guard stays unnoticed."""

from collections.abc import Iterator

import pytest
from helpers.watching import lines_beside_reminders


@pytest.fixture(autouse=True)
def _no_fault(request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fail any test in which the guard logs more than reminders, but those that are about it."""
    yield
    if "faults_expected" not in request.keywords:
        assert lines_beside_reminders(caplog) == []
