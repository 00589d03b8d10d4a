"""Values for tests of arguments, and questions about how the core sees them."""

import copy
import dataclasses
import enum
from typing import Any

from pydantic import BaseModel, ConfigDict, PrivateAttr

from langchain_repeat_guard import Chain, Reminder, RepeatGuardConfig, observe

WHOLE_TEXT = RepeatGuardConfig(thresholds=(2, 3), arguments_preview_chars=10_000_000)


class Point(BaseModel):
    x: Any = 0
    y: Any = 0


class Pixel(BaseModel):
    x: Any = 0
    y: Any = 0


class OpenModel(BaseModel):
    model_config = ConfigDict(extra="allow")
    x: int = 0


class Secretive(BaseModel):
    x: int = 0
    _hidden: int = PrivateAttr(default=0)


@dataclasses.dataclass
class Span:
    start: Any = 0
    end: Any = 0
    note: str = dataclasses.field(default="", compare=False)


@dataclasses.dataclass(frozen=True)
class Node:
    value: Any


class Colour(enum.Enum):
    RED = 1
    GREEN = object()
    BLUE = object()  # noqa: PIE796  two objects, not one value


class Shade(enum.Enum):
    RED = 1


class Mode(str, enum.Enum):  # noqa: UP042  `str` and `Enum` apart is what many schemas have
    READ = "read"


class Level(enum.IntEnum):
    LOW = 1


class Access(enum.Flag):
    READ = 1
    WRITE = 2


def count_after(first: object, second: object) -> int:
    """Return the length of the chain after a call with each of the two arguments."""
    chain, _ = observe(Chain(), "tool", first, config=WHOLE_TEXT)
    return observe(chain, "tool", second, config=WHOLE_TEXT)[0].count


def are_identical(first: object, second: object) -> bool:
    """Tell whether two calls with these arguments are identical."""
    return count_after(first, second) == 2


def detailed_reminder(arguments: object) -> Reminder | None:
    """Return the detailed reminder that the third call with these arguments draws, if any."""
    chain = Chain()
    reminder = None
    for _ in range(3):
        chain, reminder = observe(chain, "tool", arguments, config=WHOLE_TEXT)
    return reminder


def quoted(arguments: object) -> str:
    """Return the canonical text of the arguments, as the detailed reminder quotes it."""
    reminder = detailed_reminder(arguments)
    assert reminder is not None
    line = reminder.text.split("\n- arguments: ", 1)[1]
    return line.rsplit("\n", 1)[0]


def nested(depth: int, innermost: object, kind: type) -> object:
    """Return `innermost` within `depth` containers of one kind."""
    value = innermost
    for _ in range(depth):
        value = _AROUND[kind](value)
    return value


_AROUND: dict[type, Any] = {
    list: lambda value: [value],
    tuple: lambda value: (value,),
    dict: lambda value: {"a": value},
    Node: Node,
    Point: lambda value: Point.model_construct(x=value),
}


def with_keys_reversed(value: Any) -> Any:
    """Return an equal JSON value whose objects have their keys in the opposite order."""
    if isinstance(value, dict):
        return {key: with_keys_reversed(value[key]) for key in reversed(value)}
    if isinstance(value, list):
        return [with_keys_reversed(member) for member in value]
    return copy.copy(value)
