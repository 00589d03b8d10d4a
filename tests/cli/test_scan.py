"""`repeat-guard scan`: what it prints, and how it ends."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from helpers.command import installed_repeat_guard, repeat_guard, repeat_guard_without
from helpers.recorded import GREP, READ, openai_run
from rich.console import Console

from langchain_repeat_guard import RepeatGuardConfig
from langchain_repeat_guard.cli import config_flags, scan_render
from langchain_repeat_guard.cli.config_flags import changed_config, config_from_texts


@pytest.fixture
def runs(tmp_path: Path) -> str:
    """Return a file of three runs: one that loops, one that repeats once, one that is fine."""
    path = tmp_path / "runs.jsonl"
    lines = [
        {"run_id": "loop", "messages": openai_run(*[GREP] * 6, READ)},
        {"run_id": "twice", "messages": openai_run(READ, READ)},
        {"run_id": "fine", "messages": openai_run(GREP, READ)},
    ]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return str(path)


def document(*arguments: str) -> dict[str, Any]:
    """Return the JSON document that a scan prints."""
    result = repeat_guard("scan", *arguments, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    read: dict[str, Any] = json.loads(result.stdout)
    return read


def test_table_totals_and_worst_runs(runs: str) -> None:
    """People get a table of tools, the sums, and where to look first."""
    result = repeat_guard("scan", runs, columns=160)
    assert (result.exit_code, result.stderr) == (0, "")
    assert [line.split() for line in result.stdout.splitlines()[:4]] == [
        ["tool", "calls", "longest", "at", "3", "at", "5", "at", "8", "wasted", "chars", "re-sent"],
        ["─" * len(result.stdout.splitlines()[1])],
        ["grep", "7", "6", "1", "1", "0", "3", "345"],
        ["read", "4", "2", "0", "0", "0", "0", "0"],
    ]
    assert result.stdout.splitlines()[5:] == [
        "3 runs, 11 calls.",
        (
            "2 reminders in 1 of them; 3 calls wasted after a reminder, "
            "about 345 characters re-sent for them."
        ),
        "",
        "Worst runs",
        f"  {runs}:1 run loop: grep × 6 (message 11), 3 wasted",
    ]


def test_json_document(runs: str) -> None:
    """Programs get everything, with the settings that it is about."""
    found = document(runs)
    place = {"source": runs, "line": 1, "run_id": "loop", "thread_id": "", "namespace": ""}
    longest = {"tool": "grep", "count": 6, "message": 11}
    at = {"3": 1, "5": 1, "8": 0}
    assert found == {
        "mode": "scan",
        "config": RepeatGuardConfig().model_dump(mode="json"),
        "runs": 3,
        "agents": 3,
        "agents_reminded": 1,
        "calls": 11,
        "unanswered_calls": 0,
        "reminders": 2,
        "wasted_calls": 3,
        "resent_chars": 345,
        "tools": [
            {
                "tool": "grep",
                "calls": 7,
                "longest": 6,
                "reminders": at,
                "wasted_calls": 3,
                "resent_chars": 345,
            },
            {
                "tool": "read",
                "calls": 4,
                "longest": 2,
                "reminders": dict.fromkeys(at, 0),
                "wasted_calls": 0,
                "resent_chars": 0,
            },
        ],
        "worst_runs": [
            {
                "place": place,
                "agent": "",
                "calls": 7,
                "reminders": 2,
                "wasted_calls": 3,
                "resent_chars": 345,
                "longest": longest,
            }
        ],
        "problem_count": 0,
        "problems": [],
    }


def test_csv_rows(runs: str) -> None:
    """Spreadsheets get one row for each tool."""
    result = repeat_guard("scan", runs, "--csv", "--thresholds", "2,5")
    assert list(csv.reader(io.StringIO(result.stdout))) == [
        [
            *("setting", "tool", "calls", "longest", "reminders_at_2", "reminders_at_5"),
            *("reminders", "wasted", "resent_chars"),
        ],
        ["first", "grep", "7", "6", "1", "1", "2", "4", "406"],
        ["first", "read", "4", "2", "1", "0", "1", "0", "0"],
    ]


def test_compare_reads_once_and_shows_both(runs: str) -> None:
    """A second setting is the first with changes, on the same runs."""
    found = document(
        runs, "--exclude", "read", "--compare", "thresholds=2", "--compare", "exclude="
    )
    both = (found["first"]["config"]["exclude"], found["second"]["config"]["exclude"])
    assert both == (["read"], [])
    assert found["second"]["config"]["thresholds"] == [2]
    assert (found["first"]["reminders"], found["second"]["reminders"]) == (2, 2)
    counts = [found[f"agents_reminded_by_{who}"] for who in ("both", "first_only", "second_only")]
    assert counts == [1, 0, 1]
    (differing,) = found["differing_runs"]
    assert (differing["place"]["run_id"], differing["reminders_second"]) == ("twice", 1)


def test_comparison_for_people(runs: str) -> None:
    """The table shows the figures of both settings in one cell, A and B."""
    lines = repeat_guard("scan", runs, "--compare", "thresholds=2", columns=160).stdout.splitlines()
    assert lines[:2] == ["A: thresholds=(3, 5, 8)", "B: thresholds=(2,)"]
    assert lines[5].split() == ["grep", "7", "6", "/", "6", "2", "/", "1", "3", "/", "4"]
    assert lines[-2:] == [
        "Reminded by both: 1, by A only: 0, by B only: 1.",
        f"  B only: {runs}:2 run twice: read × 2 (message 3), 0 wasted",
    ]


def test_comparison_as_csv(runs: str) -> None:
    """Rows of both settings stand below each other."""
    result = repeat_guard("scan", runs, "--csv", "--compare", "thresholds=2")
    rows = list(csv.reader(io.StringIO(result.stdout)))
    assert [row[:2] for row in rows[1:]] == [
        ["first", "grep"],
        ["first", "read"],
        ["second", "grep"],
        ["second", "read"],
    ]


@pytest.mark.parametrize(("limit", "code"), [("1", 1), ("2", 1), ("3", 0)])
def test_fail_on_is_for_ci(runs: str, limit: str, code: int) -> None:
    """`--fail-on N` exits with 1 from N reminders on, behind the usual output."""
    result = repeat_guard("scan", runs, "--fail-on", limit)
    assert (result.exit_code, result.stderr) == (code, "")
    assert "2 reminders" in result.stdout


def test_broken_lines_are_told_on_stderr(tmp_path: Path) -> None:
    """The rest is read, and the command succeeds."""
    path = tmp_path / "runs.jsonl"
    good = json.dumps({"messages": openai_run(GREP)})
    path.write_text(f"{good}\nnonsense\n{good}\n", encoding="utf-8")
    result = repeat_guard("scan", str(path), columns=200)
    assert (result.exit_code, result.stderr) == (
        0,
        f"repeat-guard: {path}:2: not valid JSON: Expecting value (column 1)\n",
    )
    assert "2 runs, 2 calls." in result.stdout


def test_comparison_names_what_is_set(runs: str) -> None:
    """A setting that both have is shown on both sides, the defaults on none."""
    same = repeat_guard("scan", runs, "--compare", "remind_every=none").stdout.splitlines()
    assert same[:2] == ["A: the defaults", "B: the defaults"]
    flags = ("--exclude", "note", "--compare", "remind_every=5")
    lines = repeat_guard("scan", runs, *flags).stdout.splitlines()
    assert lines[:2] == [
        "A: exclude=('note',), remind_every=None",
        "B: exclude=('note',), remind_every=5",
    ]


@pytest.mark.parametrize("name", ["empty.jsonl", "folder"])
def test_input_without_a_run_is_told(name: str, tmp_path: Path) -> None:
    """A check in CI that reads nothing must not pass."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "empty.jsonl").touch()
    path = str(tmp_path / name)
    result = repeat_guard("scan", path, "--fail-on", "1")
    assert (result.exit_code, result.stderr) == (2, f"repeat-guard: no run in {path}\n")


def test_many_problems_are_summed_up(tmp_path: Path) -> None:
    """Stderr shows the first ones, and how many more there are."""
    path = tmp_path / "runs.jsonl"
    path.write_text("{}\n" * 150, encoding="utf-8")
    result = repeat_guard("scan", str(path), "--json")
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 21
    assert result.stderr.splitlines()[-1] == "repeat-guard: and 130 more that could not be read"
    found = json.loads(result.stdout)
    assert (found["problem_count"], len(found["problems"])) == (150, 100)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        pytest.param(["missing.json"], "there is no 'missing.json'", id="missing-file"),
        pytest.param(["-", "--json", "--csv"], "cannot be combined with --json", id="two-forms"),
        pytest.param(
            ["-", "--fail-on", "0"],
            "Invalid value for --fail-on: must be a whole number of at least 1, got 0",
            id="fail-on-zero",
        ),
        pytest.param(
            ["-", "--thresholds", "1"],
            "Invalid value for --thresholds: must be a whole number of at least 2, got 1",
            id="threshold",
        ),
        pytest.param(
            ["-", "--compare", "thresholds"],
            "must be FIELD=VALUE with one of thresholds, include, exclude",
            id="compare-without-value",
        ),
        pytest.param(
            ["-", "--compare", "treshold=3"],
            "must be FIELD=VALUE with one of thresholds, include, exclude",
            id="compare-unknown-field",
        ),
    ],
)
def test_wrong_usage(flags: list[str], message: str) -> None:
    """Wrong usage ends with exit code 2, before anything is read."""
    result = repeat_guard("scan", *flags, columns=300)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


def test_standard_input_of_the_installed_command(runs: str) -> None:
    """`-` takes what is piped in."""
    done = installed_repeat_guard("scan", "-", "--json", stdin=Path(runs).read_bytes())
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["runs"] == 3


@pytest.mark.parametrize(
    ("module", "extra"),
    [("langgraph.checkpoint.sqlite", "cli"), ("psycopg", "postgres")],
    ids=["sqlite", "postgres"],
)
def test_missing_saver_is_named(module: str, extra: str, tmp_path: Path) -> None:
    """A database whose saver is not installed says which extra brings it."""
    path = tmp_path / "memory.db"
    path.write_bytes(b"SQLite format 3\0")
    address = str(path) if extra == "cli" else "postgresql://127.0.0.1:1/db"
    done = repeat_guard_without(module, "scan", address)
    assert (done.returncode, done.stdout) == (2, b"")
    assert f'pip install "langchain-repeat-guard[{extra}]"'.encode() in done.stderr


def test_long_input_shows_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bar moves with the bytes that are read; short input and pipes have none."""

    def shown(total: int | None, *, is_terminal: bool) -> str:
        console = Console(file=io.StringIO(), force_terminal=is_terminal, width=100, _environ={})
        monkeypatch.setattr(scan_render, "make_console", lambda **_: console)
        with scan_render.progress(total) as on_bytes:
            on_bytes(50_000_000)
        written: str = console.file.getvalue()  # type: ignore[attr-defined]
        return written

    assert "50%" in shown(100_000_000, is_terminal=True)
    assert "50.0" in shown(None, is_terminal=True)
    assert shown(1000, is_terminal=True) == ""
    assert shown(100_000_000, is_terminal=False) == ""


def test_names_cannot_drive_the_terminal(tmp_path: Path) -> None:
    """A tool's name is what a model made up: escapes in it are shown, not obeyed."""
    path = tmp_path / "runs.json"
    path.write_text(json.dumps(openai_run(*[("\x1b[31mred", {})] * 3)), encoding="utf-8")
    result = repeat_guard("scan", str(path))
    assert "\x1b" not in result.stdout
    assert "\\x1b[31mred" in result.stdout


class LaterConfig(RepeatGuardConfig):
    """Settings with options of other kinds."""

    mode: str = "usual"
    """How to work. More text."""

    pause: int | None = None
    """Pause after so many calls."""

    strict: bool = False


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let flags be made from the fields of `LaterConfig`."""
    monkeypatch.setattr(config_flags, "RepeatGuardConfig", LaterConfig)
    monkeypatch.setattr(config_flags, "checked_config", lambda given: LaterConfig(**given))


@pytest.mark.usefixtures("later")
def test_every_field_is_a_flag_whatever_its_kind() -> None:
    """New options need no code here: texts become what the field's kind asks for."""
    texts: dict[str, Any] = {
        "thresholds": ["2,4"],
        "mode": "other",
        "pause": "7",
        "ignore_arguments": ['{"http_*": ["date"]}', '{"x": ["y"]}'],
        "strict": "true",
    }
    assert config_from_texts(texts) == LaterConfig(
        thresholds=(2, 4),
        mode="other",
        pause=7,
        ignore_arguments={"http_*": ("date",), "x": ("y",)},
        strict=True,
    )
    changed = changed_config(LaterConfig(pause=7), ["--pause=none", "mode=x"])
    assert changed == LaterConfig(mode="x")


@pytest.mark.usefixtures("later")
def test_flags_explain_themselves_by_the_docstrings() -> None:
    """The first sentence below a field is the help of its flag."""

    @config_flags.with_config_flags
    def command(*, config: Any) -> None: ...

    helps = {
        name: annotation.__metadata__[0].help
        for name, annotation in command.__annotations__.items()
    }
    assert helps["mode"] == "How to work. [default: usual]"
    assert helps["pause"] == "Pause after so many calls."
    assert helps["strict"] == "Sets strict."
