"""Both middlewares and both ways to run an agent, for all tests here."""

import logging
from collections.abc import Iterator

import pytest
from helpers.agents import GuardLog, MakeGuard

from langchain_repeat_guard import (
    RepeatGuardMiddleware,
    TransientRepeatGuardMiddleware,
)


@pytest.fixture(
    params=[RepeatGuardMiddleware, TransientRepeatGuardMiddleware], ids=["stored", "transient"]
)
def guard(request: pytest.FixtureRequest) -> MakeGuard:
    """Return the class of one of the two middlewares."""
    kind: MakeGuard = request.param
    return kind


@pytest.fixture(autouse=True)
def _no_warning_of_the_guard(
    request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture
) -> Iterator[None]:
    """Fail any test in which the guard logs something, but those that are about it."""
    yield
    if "guard_log" not in request.fixturenames:
        assert _guard_lines(caplog) == []


@pytest.fixture
def guard_log(caplog: pytest.LogCaptureFixture) -> GuardLog:
    """Return a function that returns what the guard has logged so far."""
    return lambda: _guard_lines(caplog)


def _guard_lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    records = [*caplog.get_records("setup"), *caplog.get_records("call")]
    return [
        record.getMessage()
        for record in records
        if record.name == "langchain_repeat_guard" and record.levelno >= logging.WARNING
    ]
