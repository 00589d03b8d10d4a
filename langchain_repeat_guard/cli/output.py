"""What every command writes: one line for people on stderr, one document on stdout."""

import json
from typing import Any

import typer

from langchain_repeat_guard.cli.text import cut, shown

_LONGEST_LINE = 400


def say(message: str) -> None:
    """Print `message` in one line of stderr."""
    typer.echo(f"repeat-guard: {cut(shown(message), _LONGEST_LINE)}", err=True)


def print_json(document: dict[str, Any]) -> None:
    """Print `document` on stdout."""
    typer.echo(json.dumps(document, indent=2))
