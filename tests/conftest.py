"""What all tests share: both ways to run an agent, a PostgreSQL server, and options."""

from collections.abc import Iterator

import pytest
from helpers.modes import Run, run_async, run_sync
from helpers.postgres import running_postgres


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the flag for longer runs of the laws."""
    parser.addoption(
        "--laws-examples",
        type=int,
        default=0,
        metavar="N",
        help="play N random runs of each kind in tests/laws, instead of a fixed set",
    )


@pytest.fixture(params=[run_sync, run_async], ids=["sync", "async"])
def run(request: pytest.FixtureRequest) -> Run:
    """Return one of the two ways to run an agent."""
    way: Run = request.param
    return way


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """Start a PostgreSQL server for whoever needs one, and stop it at the end. Gives its URI."""
    with running_postgres() as uri:
        yield uri
