"""Flags, exit codes, colours, and what `repeat-guard` says when something is missing."""

import errno
import io
import os
import subprocess
import sys
from importlib.metadata import version

import pytest
from helpers.command import installed_repeat_guard, repeat_guard, repeat_guard_without

from langchain_repeat_guard.cli import demo, main
from langchain_repeat_guard.errors import MissingExtraError


class FullDisk(io.StringIO):
    """A stdout on which nothing can be written."""

    def write(self, _: str) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        pytest.param(
            ["--thresholds", "3,1"],
            "Invalid value for --thresholds: must be a whole number of at least 2, got 1",
            id="threshold-too-small",
        ),
        pytest.param(
            ["--thresholds", "3,many"],
            "Invalid value for --thresholds: must be a whole number of at least 2, got 'many'",
            id="threshold-no-number",
        ),
        pytest.param(
            ["--thresholds", "3,3"],
            "Invalid value for --thresholds: numbers must differ from each other, got [3, 3]",
            id="threshold-twice",
        ),
        pytest.param(
            ["--thresholds", ""],
            "Invalid value for --thresholds: needs at least one number, got []",
            id="no-threshold",
        ),
        pytest.param(
            ["--arguments-preview-chars", "0"],
            "Invalid value for --arguments-preview-chars: must be a whole number of at least 1, "
            "got 0",
            id="preview-too-small",
        ),
        pytest.param(
            ["--arguments-preview-chars", "all"],
            "Invalid value for --arguments-preview-chars: must be a whole number of at least 1, "
            "got 'all'",
            id="preview-no-number",
        ),
        pytest.param(
            ["--model", "gpt"],
            "Invalid value for --model: must be provider:name, such as openai:gpt-4o-mini, "
            "got 'gpt'",
            id="model-without-provider",
        ),
        pytest.param(
            ["--model", "openai:gpt", "--max-steps", "0"],
            "Invalid value for --max-steps: must be a whole number of at least 1, got 0",
            id="max-steps-too-small",
        ),
        pytest.param(
            ["--model", "openai:gpt", "--max-steps", "few"],
            "Invalid value for --max-steps: must be a whole number of at least 1, got 'few'",
            id="max-steps-no-number",
        ),
        pytest.param(
            ["--max-steps", "3"],
            "Invalid value for --max-steps: needs --model, got '3' alone",
            id="max-steps-without-model",
        ),
        pytest.param(
            ["--base-url", "http://127.0.0.1"],
            "Invalid value for --base-url: needs --model, got 'http://127.0.0.1' alone",
            id="base-url-without-model",
        ),
    ],
)
def test_wrong_value_is_refused_by_flag_value_and_rule(flags: list[str], message: str) -> None:
    """Wrong usage ends with exit code 2, an empty stdout and a message that says what is right."""
    result = repeat_guard("demo", *flags, columns=200)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


def test_unknown_flag_is_wrong_usage() -> None:
    """A misspelt flag is never ignored."""
    assert repeat_guard("demo", "--treshold", "3").exit_code == 2


def test_version_is_that_of_the_package() -> None:
    """`--version` prints the installed version."""
    result = repeat_guard("--version")
    assert result.exit_code == 0
    assert result.stdout == f"repeat-guard {version('langchain-repeat-guard')}\n"


def test_failed_run_ends_in_one_line_and_exit_code_1(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the agent raises is told in one line, without a traceback."""

    def play(*_: object) -> None:
        message = "no such\ntable \x1b[31m" + "x" * 500
        raise ValueError(message)

    monkeypatch.setattr(demo, "play", play)
    result = repeat_guard("demo", "--json")
    assert (result.exit_code, result.stdout) == (1, "")
    cut_at_400 = "the run failed: ValueError: no such table \\x1b[31m".ljust(400, "x")
    assert result.stderr == f"repeat-guard: {cut_at_400}…\n"


def test_full_disk_ends_in_one_line_and_exit_code_1(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot be written is told in one line, without a traceback."""
    monkeypatch.setattr(sys, "argv", ["repeat-guard", "--version"])
    monkeypatch.setattr(sys, "stdout", FullDisk())
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 1
    assert capsys.readouterr().err == (
        "repeat-guard: cannot write the output: [Errno 28] No space left on device\n"
    )


def test_output_has_no_colours_where_there_is_no_terminal() -> None:
    """Files and pipes get plain text."""
    assert "\x1b" not in repeat_guard("demo", TERM="xterm-256color").stdout


def test_terminal_gets_colours() -> None:
    """A terminal shows the reminders in colour."""
    result = repeat_guard("demo", TERM="xterm-256color", FORCE_COLOR="1")
    assert "\x1b[33m" in result.stdout


def test_no_color_turns_colours_off_on_a_terminal() -> None:
    """NO_COLOR is obeyed: bold and dim may stay, colours not. See no-color.org."""
    result = repeat_guard("demo", TERM="xterm-256color", FORCE_COLOR="1", NO_COLOR="1")
    assert "\x1b[1m" in result.stdout
    assert "\x1b[33m" not in result.stdout
    assert "\x1b[1;33m" not in result.stdout


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        pytest.param("typer", ["--version"], id="typer"),
        pytest.param("rich", ["demo"], id="rich"),
        pytest.param("langgraph.checkpoint.sqlite", ["demo", "--json"], id="sqlite-checkpointer"),
        pytest.param("langchain", ["demo", "--model", "openai:gpt"], id="langchain"),
    ],
)
def test_missing_extra_is_named(module: str, arguments: list[str]) -> None:
    """Without the extra the command says which pip install brings it, and exits with 2."""
    done = repeat_guard_without(module, *arguments)
    expected = f"{MissingExtraError('repeat-guard', 'cli')}\n"
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().replace("\r\n", "\n") == expected


def test_other_missing_modules_are_not_blamed_on_the_extra() -> None:
    """A broken installation shows its own error."""
    done = repeat_guard_without("langchain_repeat_guard.cli.options", "demo")
    assert done.returncode == 1
    assert b"ModuleNotFoundError" in done.stderr


def test_help_does_not_load_langgraph() -> None:
    """Help and version are there at once: what is slow to import waits for a run."""
    code = (
        "import sys; import langchain_repeat_guard.cli.app;"
        "print([name for name in sys.modules if name in ('langchain_core', 'langgraph')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)  # noqa: S603
    assert done.stdout.decode().strip() == "[]"


def test_installed_command_shows_help() -> None:
    """The console script works and lists its commands."""
    done = installed_repeat_guard("--help")
    assert done.returncode == 0
    assert b"demo" in done.stdout


def test_module_runs_like_the_script() -> None:
    """`python -m` is there for machines where scripts are not on the path."""
    command = [sys.executable, "-m", "langchain_repeat_guard.cli", "--version"]
    done = subprocess.run(command, capture_output=True, check=True)  # noqa: S603
    assert done.stdout.decode().split() == ["repeat-guard", version("langchain-repeat-guard")]


def test_what_the_demo_cannot_do_is_a_usage_error() -> None:
    """Its graph cannot end a run by a message, as a middleware can."""
    done = repeat_guard("demo", "--limit", "5")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "Use exit_behavior='error'" in done.stderr
