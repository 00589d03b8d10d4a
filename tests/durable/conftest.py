"""Stores, and workers, for all tests here."""

from pathlib import Path
from typing import Any

import pytest
from helpers.loops import Loop
from helpers.postgres import new_database
from helpers.stores import Store
from helpers.workers import forking_context

GUARDS = {
    "stored": "RepeatGuardMiddleware",
    "transient": "TransientRepeatGuardMiddleware",
}


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    """Return an empty store: a new file, or a new database on the server."""
    if request.param == "sqlite":
        return Store("sqlite", str(tmp_path / "checkpoints.sqlite"))
    server = Store("postgres", new_database(request.getfixturevalue("postgres")))
    server.set_up()
    return server


@pytest.fixture(params=GUARDS.values(), ids=GUARDS.keys())
def loop(request: pytest.FixtureRequest, tmp_path: Path) -> Loop:
    """Return an agent with one of the two middlewares that repeats one call nine times."""
    return Loop(request.param, tmp_path / "requests.jsonl")


@pytest.fixture(scope="session")
def processes() -> Any:
    """Return the context that forks workers."""
    return forking_context()
