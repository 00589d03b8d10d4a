"""Paths in, runs out: what a path holds is recognised by its content."""

import codecs
import zlib
from collections.abc import Iterable, Iterator
from os import PathLike, fspath
from pathlib import Path

from langchain_repeat_guard.scanning.formats.databases import (
    is_postgres_address,
    read_postgres,
    read_sqlite,
)
from langchain_repeat_guard.scanning.formats.documents import read_documents
from langchain_repeat_guard.scanning.formats.sources import (
    SQLITE_MAGIC,
    STDIN,
    OnBytes,
    Source,
    find_sources,
    open_stream,
)
from langchain_repeat_guard.scanning.records import Place, Problem
from langchain_repeat_guard.scanning.runs import Run

_PEEKED = 1 << 12


def read_runs(
    paths: Iterable[str | PathLike[str]] | str | PathLike[str],
    *,
    messages_key: str = "messages",
    on_bytes: OnBytes | None = None,
) -> Iterator[Run | Problem]:
    """Yield the recorded runs in files, directories and databases, for `scan`.

    Read are: JSON and JSON Lines of OpenAI-style messages, of LangChain's `messages_to_dict` and
    `dumpd`, and of LangSmith's runs; SQLite files and PostgreSQL databases of LangGraph's savers.
    Files may be packed with gzip. Nothing is written, and no file is held in memory as a whole. A
    line that is broken becomes a `Problem`, and the rest is read.

    Args:
        paths: Files, directories (with all below them), `-` for standard input, and addresses such
            as `postgresql://user@host/database`. In directories, files that hold neither JSON nor
            a checkpointer are passed over.
        messages_key: The channel of a checkpointer that holds the messages.
        on_bytes: Called with the number of bytes read, as they are read.

    Yields:
        Runs. One that was read from single messages is an iterator: use it before the next run.

    Raises:
        MissingExtraError: A database needs a package that is not installed.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from langchain_repeat_guard import read_runs
        >>> with TemporaryDirectory() as folder:
        ...     _ = Path(folder, "run.json").write_text('[{"role": "user", "content": "Go."}]')
        ...     [len(list(run.messages)) for run in read_runs(folder)]
        [1]
    """
    for item in [paths] if isinstance(paths, str | PathLike) else paths:
        path = fspath(item)
        if is_postgres_address(path):
            yield from read_postgres(path, messages_key)
            continue
        for source in find_sources(path):
            try:
                yield from _read_source(source, messages_key, on_bytes)
            except (OSError, EOFError, zlib.error) as error:
                reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
                yield Problem(Place(source.name), f"cannot be read: {reason}")


def total_bytes(paths: Iterable[str]) -> int | None:
    """Return how many bytes `read_runs` will report, or None where that cannot be known."""
    total = 0
    for path in paths:
        for source in find_sources(path):
            size = None if is_postgres_address(path) else source.size
            if size is None:
                return None
            total += size
    return total


def _read_source(
    source: Source, messages_key: str, on_bytes: OnBytes | None
) -> Iterator[Run | Problem]:
    with open_stream(source, on_bytes) as stream:
        start = stream.peek(_PEEKED)
        if not start.startswith(SQLITE_MAGIC):
            if source.is_named or _may_be_json(start):
                yield from read_documents(stream, source.name)
            return
        is_plain_file = source.name != STDIN and not _is_packed(source)
    if is_plain_file:
        yield from read_sqlite(source.name, messages_key)
    else:
        yield Problem(Place(source.name), "an SQLite file can be read where it lies, unpacked")


def _may_be_json(start: bytes) -> bool:
    return start.removeprefix(codecs.BOM_UTF8).lstrip()[:1] in (b"{", b"[")


def _is_packed(source: Source) -> bool:
    with Path(source.name).open("rb") as file:
        return not file.read(len(SQLITE_MAGIC)).startswith(SQLITE_MAGIC)
