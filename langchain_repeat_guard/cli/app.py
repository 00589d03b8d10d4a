"""The commands and their flags. Whatever is slow to import is imported inside a command."""
# ruff: noqa: PLC0415  LangGraph takes seconds to load, and --help needs none of it

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from itertools import chain
from typing import Annotated

import typer

from langchain_repeat_guard.cli.config_flags import with_config_flags
from langchain_repeat_guard.cli.options import (
    MODEL_CALLS,
    live_flags,
)
from langchain_repeat_guard.cli.output import print_json, say
from langchain_repeat_guard.cli.scan import scan_command
from langchain_repeat_guard.core.config import RepeatGuardConfig
from langchain_repeat_guard.errors import RepeatGuardSetupError

RUN_FAILED = 1
USAGE = 2

app: typer.Typer = typer.Typer(
    help="Reminds tool-calling agents that repeat the same tool call.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _print_version(wanted: bool) -> None:  # noqa: FBT001  typer calls it so
    if wanted:
        typer.echo(f"repeat-guard {version('langchain-repeat-guard')}")
        raise typer.Exit


@app.callback()
def _common(
    *,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Keep `repeat-guard` a command with subcommands, and give it its own flags."""


app.command("scan")(scan_command)


@app.command("demo")
@with_config_flags
def demo_command(
    *,
    config: RepeatGuardConfig,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="PROVIDER:NAME",
            help="Compare guard off and guard on with this live model, such as openai:gpt-4o-mini.",
        ),
    ] = None,
    base_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Where the live model is served, if not at its provider: openai:NAME reaches any "
            "server that speaks OpenAI's protocol (OPENAI_API_KEY must be set, to anything).",
        ),
    ] = None,
    max_steps: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help=f"Ask the live model at most so often per run [default: {MODEL_CALLS}].",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document and nothing else.")
    ] = False,
) -> None:
    """Show what the guard does in a recorded run, or with --model in two live runs.

    List flags can be repeated, or take several values parted by commas.
    """
    model_calls = live_flags(model, base_url, max_steps)
    if model is None:
        _play_back(config, as_json=as_json)
    else:
        _compare(model, base_url, config, model_calls, as_json=as_json)


def _play_back(config: RepeatGuardConfig, *, as_json: bool) -> None:
    from langchain_repeat_guard.cli import render
    from langchain_repeat_guard.cli.demo import play
    from langchain_repeat_guard.cli.playback import load_recording
    from langchain_repeat_guard.cli.report import playback_report

    run = load_recording()
    if as_json:
        with _run_errors():
            played = list(play(run, config))
        print_json(playback_report(run, config, played))
        return
    console = render.make_console()
    steps = []
    with _run_errors():
        playing = play(run, config)
        first = next(playing)  # a guard that cannot be attached fails here, before any output
        render.print_introduction(console, run)
        for step in chain([first], playing):
            render.print_step(console, step)
            steps.append(step)
    render.print_conclusion(console, run, config, steps)


def _compare(
    model: str, base_url: str | None, config: RepeatGuardConfig, max_steps: int, *, as_json: bool
) -> None:
    from langchain_repeat_guard.cli import live, render
    from langchain_repeat_guard.cli.report import live_report

    try:
        chat_model = live.make_model(model, base_url)
    except live.ModelSetupError as error:
        say(f"cannot use {model}: {error}")
        raise typer.Exit(USAGE) from error
    runs = []
    with _run_errors():
        for with_guard, name in ((False, "guard off"), (True, "guard on")):
            with render.waiting(f"{model}, {name}"):
                run = live.run_live(chat_model, config, with_guard=with_guard, max_steps=max_steps)
            runs.append(run)
    if as_json:
        print_json(live_report(model, live.TASK, config, max_steps, runs))
    else:
        render.print_comparison(render.make_console(), model, live.TASK, runs)


@contextmanager
def _run_errors() -> Iterator[None]:
    """Turn whatever a run raises into one line and exit code 1."""
    try:
        yield
    except RepeatGuardSetupError as error:
        say(str(error))
        raise typer.Exit(USAGE) from error
    except Exception as error:
        say(f"the run failed: {type(error).__name__}: {error}")
        raise typer.Exit(RUN_FAILED) from error
