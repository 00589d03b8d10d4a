"""What tests of several folders share."""

from collections.abc import Iterator

import pytest
from helpers.postgres import running_postgres


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """Start a PostgreSQL server for whoever needs one, and stop it at the end. Gives its URI."""
    with running_postgres() as uri:
        yield uri
