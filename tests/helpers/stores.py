"""Checkpoint stores that any process can open."""

import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver


@dataclass(frozen=True)
class Store:
    """Where checkpoints are kept."""

    kind: Literal["sqlite", "postgres"]
    address: str
    """Path of the database file, or the server's URI."""

    def set_up(self) -> None:
        """Make the tables, once and before any process opens the store."""
        if self.kind == "postgres":
            with PostgresSaver.from_conn_string(self.address) as saver:
                saver.setup()

    @contextmanager
    def open(self) -> Iterator[Any]:
        """Yield a saver for sync runs."""
        if self.kind == "postgres":
            with PostgresSaver.from_conn_string(self.address) as saver:
                yield saver
            return
        with closing(sqlite3.connect(self.address, check_same_thread=False, timeout=30)) as link:
            yield SqliteSaver(link)

    @asynccontextmanager
    async def aopen(self) -> AsyncIterator[Any]:
        """Yield a saver for async runs."""
        kind = AsyncPostgresSaver if self.kind == "postgres" else AsyncSqliteSaver
        async with kind.from_conn_string(self.address) as saver:
            yield saver
