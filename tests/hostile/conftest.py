"""What the tests of hostile and broken input share."""

import logging
from collections.abc import Callable, Iterator

import pytest
from helpers.attachments import ATTACHMENTS
from helpers.probes import PROBES


@pytest.fixture(params=list(ATTACHMENTS))
def attachment(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=list(PROBES))
def adapter(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class _Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


@pytest.fixture
def own_log() -> Iterator[Callable[[], list[str]]]:
    """Take the guard's log lines since the last time that they were taken."""
    handler = _Lines()
    logger = logging.getLogger("langchain_repeat_guard")
    logger.addHandler(handler)

    def take() -> list[str]:
        taken, handler.lines = handler.lines, []
        return taken

    yield take
    logger.removeHandler(handler)
