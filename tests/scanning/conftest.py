"""A PostgreSQL server for all tests here."""

from collections.abc import Iterator

import pytest
from helpers.postgres import running_postgres


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """Start a PostgreSQL server, and stop it behind the last test. Yields its URI."""
    with running_postgres() as uri:
        yield uri
