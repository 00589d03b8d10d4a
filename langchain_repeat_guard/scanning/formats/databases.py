"""Opens the databases of LangGraph's checkpointers for reading, and for nothing else."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote, urlsplit, urlunsplit

from langchain_repeat_guard.errors import MissingExtraError
from langchain_repeat_guard.scanning.formats.checkpoints import UndecodedValues, read_threads
from langchain_repeat_guard.scanning.records import Place, Problem
from langchain_repeat_guard.scanning.runs import Run

_POSTGRES_SCHEMES = ("postgres://", "postgresql://")
# Its saver fetches all that it is asked for at once.
_POSTGRES_PAGE = 200
_COMPANIONS = ("-wal", "-journal")


def is_postgres_address(path: str) -> bool:
    """Tell an address from the path of a file."""
    return path.startswith(_POSTGRES_SCHEMES)


def read_sqlite(path: str, messages_key: str) -> Iterator[Run | Problem]:
    """Yield the threads of an SQLite file that `SqliteSaver` or `AsyncSqliteSaver` has written.

    Neither the file nor its folder is written to. Where SQLite could not read without that (a
    process has died, an old table layout), a temporary copy is read instead.

    Raises:
        MissingExtraError: The saver's package is not installed.
    """
    try:
        from langgraph.checkpoint.sqlite import SqliteSaver  # noqa: PLC0415  an optional dependency
    except ModuleNotFoundError as error:
        feature = "Scanning an SQLite file"
        raise MissingExtraError(feature, "cli") from error

    try:
        with _opened(path) as (connection, is_copy):
            if not _columns(connection, "checkpoints"):
                yield Problem(Place(path), "an SQLite file without the tables of a checkpointer")
                return
            saver = SqliteSaver(connection)
            ids_only = SqliteSaver(connection, serde=UndecodedValues())
            # The saver's setup writes: it may bring a copy up to date, and nothing else.
            saver.is_setup = ids_only.is_setup = not is_copy
            yield from read_threads(saver, ids_only, path, messages_key)
    except sqlite3.DatabaseError as error:
        yield Problem(Place(path), f"cannot be read: {error}")


@contextmanager
def _opened(path: str) -> Iterator[tuple[sqlite3.Connection, bool]]:
    """Give a connection that leaves the file as it is, and say whether it is one to a copy."""
    if not _would_be_touched(path):
        with closing(_connect_read_only(path)) as connection:
            columns = _columns(connection, "writes")
            if not columns or "task_path" in columns:
                yield connection, False
                return
    with TemporaryDirectory() as folder:
        copy = Path(folder, "copy.sqlite")
        for suffix in ("", *_COMPANIONS):
            if (original := Path(path + suffix)).exists():
                shutil.copyfile(original, f"{copy}{suffix}")
        with closing(sqlite3.connect(copy, check_same_thread=False)) as connection:
            yield connection, True


def _would_be_touched(path: str) -> bool:
    """Tell whether SQLite has to recover something before it can read, which writes."""
    return _has_content(path, "-journal") or (
        _has_content(path, "-wal") and not Path(f"{path}-shm").exists()
    )


def _connect_read_only(path: str) -> sqlite3.Connection:
    # Without a log of changes nobody has the file open. SQLite would still put files beside it.
    mode = "mode=ro" if _has_content(path, "-wal") else "mode=ro&immutable=1"
    address = f"file:{quote(str(Path(path).absolute()))}?{mode}"
    return sqlite3.connect(address, uri=True, check_same_thread=False)


def _has_content(path: str, suffix: str) -> bool:
    companion = Path(path + suffix)
    return companion.exists() and companion.stat().st_size > 0


def _columns(connection: sqlite3.Connection, table: str) -> set[str]:
    return {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}


def read_postgres(address: str, messages_key: str) -> Iterator[Run | Problem]:
    """Yield the threads of a PostgreSQL database that `PostgresSaver` has written.

    The session is read-only: the server refuses every write.

    Raises:
        MissingExtraError: The saver's package is not installed.
    """
    try:
        import psycopg  # noqa: PLC0415  an optional dependency
        from langgraph.checkpoint.postgres import PostgresSaver  # noqa: PLC0415
        from psycopg.rows import dict_row  # noqa: PLC0415
    except ModuleNotFoundError as error:
        feature = "Scanning a PostgreSQL database"
        raise MissingExtraError(feature, "postgres") from error

    shown = without_password(address)
    try:
        with psycopg.Connection.connect(
            address,
            autocommit=True,
            prepare_threshold=0,
            row_factory=dict_row,
            options="-c default_transaction_read_only=on",
        ) as connection:
            saver = PostgresSaver(connection)
            ids_only = PostgresSaver(connection, serde=UndecodedValues())
            yield from read_threads(saver, ids_only, shown, messages_key, _POSTGRES_PAGE)
    except psycopg.Error as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        yield Problem(Place(shown), f"cannot be read: {reason}")


def without_password(address: str) -> str:
    """Return `address` as it may be shown.

    Example:
        >>> without_password("postgresql://me:secret@db:5432/app?password=secret")
        'postgresql://me@db:5432/app'
    """
    parts = urlsplit(address)
    user, at, host = parts.netloc.rpartition("@")
    return urlunsplit((parts.scheme, f"{user.partition(':')[0]}{at}{host}", parts.path, "", ""))
