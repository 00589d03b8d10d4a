"""Files, directories and standard input as streams of bytes, unpacked where they are packed."""

import gzip
import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, cast

from typing_extensions import Buffer, override

STDIN = "-"
SQLITE_MAGIC = b"SQLite format 3\0"

_GZIP_MAGIC = b"\x1f\x8b"
_BUFFER = 1 << 18

OnBytes = Callable[[int], None]
BufferedReader: TypeAlias = "io.BufferedReader[io.RawIOBase]"


@dataclass(frozen=True, slots=True)
class Source:
    """A file to read, or standard input."""

    name: str
    """As it is shown: the path as given or found, or `-`."""

    is_named: bool = True
    """Whether the user named it. A file found in a directory may be of another kind."""

    @property
    def size(self) -> int | None:
        """Bytes on disk, or None where that is not known."""
        try:
            return None if self.name == STDIN else Path(self.name).stat().st_size
        except OSError:
            return None


def find_sources(path: str) -> Iterator[Source]:
    """Yield `path`, or the files in and below it, in the order of their names.

    Hidden files and folders are passed over. Links to folders are not followed.
    """
    if path == STDIN or not Path(path).is_dir():
        yield Source(path)
        return
    for folder, folders, files in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if not name.startswith("."):
                yield Source(str(Path(folder, name)), is_named=False)


@contextmanager
def open_stream(source: Source, on_bytes: OnBytes | None = None) -> Iterator[BufferedReader]:
    """Open a source for reading, unpacked if it is gzip.

    Args:
        source: What to open.
        on_bytes: Called with the number of bytes read, before unpacking, as they are read.

    Raises:
        OSError: It cannot be opened.
    """
    with ExitStack() as stack:
        if source.name == STDIN:
            file = stack.enter_context(io.FileIO(sys.stdin.fileno(), closefd=False))
        else:
            file = stack.enter_context(io.FileIO(source.name))
        stream = _buffered(_Counted(file, on_bytes))
        while stream.peek(2)[:2] == _GZIP_MAGIC:
            packed = gzip.GzipFile(fileobj=stream, mode="rb")
            stream = _buffered(stack.enter_context(packed))
        yield stream


def _buffered(raw: object) -> BufferedReader:
    return io.BufferedReader(cast("io.RawIOBase", raw), _BUFFER)


class _Counted(io.RawIOBase):
    """A raw file that says how many bytes were read."""

    def __init__(self, file: io.FileIO, on_bytes: OnBytes | None) -> None:
        self._file = file
        self._on_bytes = on_bytes

    @override
    def readable(self) -> bool:
        return True

    @override
    def readinto(self, buffer: Buffer, /) -> int | None:
        count = self._file.readinto(buffer)
        if count and self._on_bytes:
            self._on_bytes(count)
        return count
