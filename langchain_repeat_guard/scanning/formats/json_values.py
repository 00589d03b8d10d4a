"""JSON, JSON Lines and values one after another, as a stream that never holds the whole file.

As long as each line is a JSON value, a file is read line by line. From the first line on that goes
on in the next one, it is read value by value, and the members of an array at the top are taken one
by one, so that neither needs the whole in memory.
"""

import codecs
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from pydantic_core import from_json

_LONGEST_FIRST_LINE = 1 << 24
_CHUNK = 1 << 16
_NEAR_END = 16
_SPACE = re.compile(r"[ \t\n\r]*")
_SPACE_AND_COMMAS = re.compile(r"[ \t\n\r,]*")
_INDENT = re.compile(r"[ \t]*")
_LONGEST_INDENT = 200

_raw_decode = json.JSONDecoder().raw_decode


@dataclass(slots=True)
class Value:
    """A JSON value, and where it starts."""

    data: Any
    line: int
    array: int | None = None
    """Line of the array at the top of the file of which it is a member, if it is one."""


@dataclass(frozen=True, slots=True)
class Broken:
    """Text that is no JSON."""

    line: int
    reason: str
    is_open: bool = False
    """Whether more text behind it could mend it."""


def read_values(stream: BinaryIO) -> Iterator[Value | Broken]:
    """Yield the values in `stream`, and what is broken between them.

    A value that is broken costs itself: reading goes on with the next line that may start one.
    """
    line, number = _first_line(stream)
    if not line:
        return
    first = _value_of_line(line, number) if len(line) < _LONGEST_FIRST_LINE else None
    if isinstance(first, Value):
        yield first
        yield from _read_lines(stream, number)
    else:
        yield from _ValueReader(stream, line, number).read()


def _first_line(stream: BinaryIO) -> tuple[bytes, int]:
    number = 0
    while line := stream.readline(_LONGEST_FIRST_LINE):
        number += 1
        if number == 1:
            line = line.removeprefix(codecs.BOM_UTF8)
        if not line.isspace():
            return line, number
    return b"", number


def _read_lines(stream: BinaryIO, number: int) -> Iterator[Value | Broken]:
    for line in stream:
        number += 1
        try:
            yield Value(from_json(line), number)
        except ValueError:
            if line.isspace():
                continue
            value = _value_of_line(line, number)
            if isinstance(value, Broken) and value.is_open:
                yield from _ValueReader(stream, line, number).read()
                return
            yield value


def _value_of_line(line: bytes, number: int) -> Value | Broken:
    try:
        return Value(json.loads(line), number)
    except json.JSONDecodeError as error:
        is_open = error.pos >= len(error.doc.rstrip())
        return Broken(number, f"not valid JSON: {error.msg} (column {error.colno})", is_open)
    except UnicodeDecodeError as error:
        return Broken(number, f"not UTF-8 (byte {error.start + 1} of the line)")
    except RecursionError:
        return Broken(number, "nested too deeply")


class _ValueReader:
    """Reads values out of a window over the stream, which grows as far as one value needs."""

    def __init__(self, stream: BinaryIO, start: bytes, line: int) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._text = self._decoder.decode(start)
        self._position = 0
        self._line = line

    def read(self) -> Iterator[Value | Broken]:
        """Yield everything."""
        array: int | None = None
        while character := self._next_character(array is not None):
            if character == "[" and array is None:
                array = self._line
                self._position += 1
            elif character == "]" and array is not None:
                array = None
                self._position += 1
            else:
                indent = self._indent()
                value = self._next_value(array)
                yield value
                if isinstance(value, Broken) and self._find_line(indent) == "[" and not indent:
                    array = None  # lines that are arrays: the broken one is behind us
        if array is not None:
            yield Broken(self._line, "not valid JSON: the file ends inside an array")

    def _next_character(self, is_in_array: bool) -> str:  # noqa: FBT001  private
        """Go to the next value or bracket, and return its first character; "" at the end."""
        space = _SPACE_AND_COMMAS if is_in_array else _SPACE
        while True:
            found = space.match(self._text, self._position)
            self._move_to(found.end() if found else self._position)
            if self._position < len(self._text) or not self._grow():
                return self._text[self._position : self._position + 1]

    def _next_value(self, array: int | None) -> Value | Broken:
        while True:
            try:
                data, end = _raw_decode(self._text, self._position)
            except json.JSONDecodeError as error:
                if not (self._is_cut(error) and self._grow()):
                    return self._broken(error)
            except RecursionError:
                return Broken(self._line, "nested too deeply")
            else:
                # A number at the end of the window may go on behind it.
                if end < len(self._text) or not self._grow():
                    value = Value(data, self._line, array)
                    self._move_to(end)
                    return value

    def _is_cut(self, error: json.JSONDecodeError) -> bool:
        """Tell whether more text could mend the error."""
        is_open = error.msg.startswith("Unterminated string")
        return is_open or error.pos >= len(self._text) - _NEAR_END

    def _broken(self, error: json.JSONDecodeError) -> Broken:
        lines = self._text.count("\n", self._position, error.pos)
        column = error.pos - self._text.rfind("\n", 0, error.pos)
        place = f"line {self._line + lines}, column {column}"
        return Broken(self._line, f"not valid JSON: {error.msg} ({place})")

    def _indent(self) -> str:
        start = self._text.rfind("\n", 0, self._position) + 1
        found = _INDENT.match(self._text, start)
        return found[0] if found else ""

    def _find_line(self, indent: str) -> str:
        """Go to the next line that may start a value as far in; return its first character."""
        start = re.compile(rf"\n{indent}(?=[{{\[])")
        while not (found := start.search(self._text, self._position)):
            keep = max(self._position, len(self._text) - len(indent) - 2)
            self._move_to(keep)
            if not self._grow():
                self._move_to(len(self._text))
                return ""
        self._move_to(found.end())
        return self._text[self._position]

    def _move_to(self, position: int) -> None:
        self._line += self._text.count("\n", self._position, position)
        self._position = position

    def _grow(self) -> bool:
        """Read more, at least as much as the value has now; tell whether there was more."""
        rest = self._text[self._position :]
        more = self._stream.read(max(_CHUNK, len(rest)))
        if not more:
            return False
        behind = self._text[: self._position].rpartition("\n")[2][-_LONGEST_INDENT:]
        self._text = behind + rest + self._decoder.decode(more)
        self._position = len(behind)
        return True
