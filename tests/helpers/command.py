"""Runs the command `repeat-guard` as its users do."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

from typer.testing import CliRunner, Result

from langchain_repeat_guard.cli.app import app

_COLOUR_VARIABLES = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE")


def repeat_guard(*arguments: str, columns: int = 100, **variables: str) -> Result:
    """Run the command in this process, with a terminal of `columns` and environment variables."""
    unset = dict.fromkeys(_COLOUR_VARIABLES)
    environment = {**unset, "COLUMNS": str(columns), **variables}
    return CliRunner().invoke(app, list(arguments), prog_name="repeat-guard", env=environment)


def installed_repeat_guard(
    *arguments: str, stdin: bytes | None = None, **variables: str
) -> subprocess.CompletedProcess[bytes]:
    """Run the installed script in a process of its own, with `stdin` piped in."""
    script = Path(sysconfig.get_path("scripts"), "repeat-guard")
    return _run([str(script), *arguments], variables, stdin)


def repeat_guard_without(module: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run the command in a process where `module` cannot be imported."""
    code = (
        f"import sys; sys.modules[{module!r}] = None; sys.argv[1:] = {list(arguments)!r}; "
        "from langchain_repeat_guard.cli import main; main()"
    )
    return _run([sys.executable, "-c", code], {})


def _run(
    command: list[str], variables: dict[str, str], stdin: bytes | None = None
) -> subprocess.CompletedProcess[bytes]:
    environment = {k: v for k, v in os.environ.items() if k not in _COLOUR_VARIABLES}
    environment |= {"COLUMNS": "100", **variables}
    return subprocess.run(  # noqa: S603  our own command
        command, env=environment, input=stdin, capture_output=True, check=False
    )
