"""What all tests share: the PostgreSQL server, and the options of the whole suite."""

from collections.abc import Iterator

import pytest
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


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """Start a PostgreSQL server for whoever needs one, and stop it at the end. Gives its URI."""
    with running_postgres() as uri:
        yield uri
