"""Scenarios that the original plugin was run through, and the outcomes that are accepted here."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_FILE = Path(__file__).parent.parent / "data" / "conformance.jsonl"

# A Python library should deliberately do otherwise than the JavaScript original.
_DIFFER = {
    "bigint-precision",
    "proto-key",
    "surrogate-wildcard",
    "undefined-args",
    "utf16-preview",
    "wildcard-newline",
}
# Both outcomes can be defended.
_EITHER = {
    "config-null",
    "config-unknown-key",
    "integral-float-config",
    "key-order-integer",
    "key-order-utf16",
    "nonfinite-number",
    "surrogate-tool-name",
}
_NAMES = {"argumentsPreviewChars": "arguments_preview_chars"}


@dataclass(frozen=True)
class Event:
    """Something that happens to an agent: a `call`, a `user` prompt, or a `step` without one."""

    type: str
    agent: str | None
    name: str = ""
    arguments: Any = None


@dataclass(frozen=True)
class Expected:
    """A reminder: the index of the call that draws it, and what it says."""

    event: int
    agent: str
    text: str
    summary: str


@dataclass(frozen=True)
class Outcome:
    """What a scenario leads to: options that are refused, or reminders."""

    is_refused: bool
    reminders: tuple[Expected, ...] = ()


@dataclass(frozen=True)
class Scenario:
    """One line of the file."""

    id: str
    kind: str
    options: dict[str, Any]
    events: tuple[Event, ...]
    accepted: tuple[Outcome, ...]


def scenarios() -> Iterator[Scenario]:
    """Yield all scenarios, with options under the names of this package."""
    # `splitlines` would split at U+2028 too.
    for line in _FILE.read_text("ascii").split("\n"):
        if line:
            yield _scenario(json.loads(line))


def _scenario(line: dict[str, Any]) -> Scenario:
    return Scenario(
        id=line["id"],
        kind=line["kind"],
        options={_NAMES.get(name, name): value for name, value in line["config"].items()},
        events=tuple(_event(event) for event in line["events"]),
        accepted=tuple(_outcome(line[side]) for side in _accepted_sides(line.get("divergence"))),
    )


def _event(event: dict[str, Any]) -> Event:
    return Event(event["type"], event["agent"], event.get("name", ""), event.get("args"))


def _accepted_sides(divergence: str | None) -> tuple[str, ...]:
    if divergence is None:
        return ("expected",)
    if divergence in _DIFFER:
        return ("recommended",)
    if divergence in _EITHER:
        return ("expected", "recommended")
    msg = f"nobody has said what to do about {divergence}"
    raise ValueError(msg)


def _outcome(side: dict[str, Any]) -> Outcome:
    return Outcome(
        side["error"],
        tuple(
            Expected(reminder["event"], reminder["agent"], reminder["text"], reminder["summary"])
            for reminder in side["reminders"]
        ),
    )
