"""The command `repeat-guard`. Its dependencies come with the extra `cli`."""

import io
import sys

from langchain_repeat_guard.errors import MissingExtraError

_BROUGHT_BY_THE_EXTRA = {"langchain", "langgraph.checkpoint.sqlite", "rich", "typer"}


def main() -> None:
    """Run the command line, and exit with its code: 0 fine, 1 the run failed, 2 wrong usage."""
    _never_fail_on_encoding()
    try:
        from langchain_repeat_guard.cli.app import app  # noqa: PLC0415  needs the extra

        app(prog_name="repeat-guard")
    except ModuleNotFoundError as error:
        if not _is_in_extra(error.name or ""):
            raise
        sys.stderr.write(f"{MissingExtraError('repeat-guard', 'cli')}\n")
        sys.exit(2)
    except OSError as error:
        sys.stderr.write(f"repeat-guard: cannot write the output: {error}\n")
        sys.exit(1)


def _is_in_extra(module: str) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in _BROUGHT_BY_THE_EXTRA)


def _never_fail_on_encoding() -> None:
    """Print a question mark where the terminal's encoding lacks a character."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
