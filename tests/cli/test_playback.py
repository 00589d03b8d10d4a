"""`repeat-guard demo` plays a recorded run back through a real agent."""

import json
import tempfile
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from helpers.command import installed_repeat_guard, repeat_guard
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from langchain_repeat_guard import cli
from langchain_repeat_guard.cli.agent import build_agent
from langchain_repeat_guard.cli.demo import play
from langchain_repeat_guard.cli.playback import (
    END_OF_RECORDING,
    RecordedCall,
    RecordedModel,
    RecordedRun,
    RecordedStep,
    load_recording,
    replaying_tools,
)
from langchain_repeat_guard.cli.transcript import CallRecord, StepRecord, steps_of
from langchain_repeat_guard.core.config import RepeatGuardConfig
from langchain_repeat_guard.core.texts import FIRST_TEXT, LATER_TEXT

GOLDEN = Path(__file__).parent / "data" / "demo_100_columns.txt"

QUERY = (
    "SELECT continent, COUNT(DISTINCT language) AS language_count FROM countrylanguage JOIN country"
    " ON countrylanguage.CountryCode = country.Code GROUP BY continent"
    " ORDER BY language_count DESC LIMIT 1"
)


def document(*flags: str) -> dict[str, Any]:
    result = repeat_guard("demo", "--json", *flags)
    assert result.exit_code == 0, result.stderr
    parsed: dict[str, Any] = json.loads(result.stdout)
    return parsed


def steps_with_reminders(found: dict[str, Any]) -> list[tuple[int, str, int | None, list[str]]]:
    return [
        (
            step["step"],
            step["calls"][0]["arguments"]["command"],
            step["calls"][0]["count"],
            [one["summary"] for one in (step["reminder"] or {"details": []})["details"]],
        )
        for step in found["steps"]
    ]


def test_shipped_run_is_reminded_after_three_five_and_eight_identical_calls() -> None:
    """The steps, counts and reminders of the recording are known."""
    assert steps_with_reminders(document()) == [
        (1, "SHOW TABLES", 1, []),
        (2, QUERY, 1, []),
        (3, QUERY, 2, []),
        (4, QUERY, 3, ["sql \N{MULTIPLICATION SIGN} 3"]),
        (5, QUERY, 4, []),
        (6, QUERY, 5, ["sql \N{MULTIPLICATION SIGN} 5"]),
        (7, QUERY, 6, []),
        (8, QUERY, 7, []),
        (9, QUERY, 8, ["sql \N{MULTIPLICATION SIGN} 8"]),
        (10, QUERY, 9, []),
    ]


def test_reminder_carries_text_and_data_of_the_message_that_the_model_received() -> None:
    """A step's reminder is the message itself, not only its summary."""
    assert document()["steps"][3]["reminder"] == {
        "text": FIRST_TEXT,
        "details": [
            {
                "tool": "sql",
                "count": 3,
                "threshold": 3,
                "tool_call_id": "c4",
                "summary": "sql \N{MULTIPLICATION SIGN} 3",
            }
        ],
    }


def test_document_lists_reminders_and_the_calls_after_the_first() -> None:
    """The reminders stand together too, and what came after the first one is counted."""
    found = document()
    assert [one["after_step"] for one in found["reminders"]] == [4, 6, 9]
    assert found["reminders"][1]["text"].startswith(LATER_TEXT.partition("\n")[0])
    assert found["calls_after_first_reminder"] == 6


def test_document_names_source_and_licence() -> None:
    """Third-party data never goes without its origin."""
    source = document()["source"]
    assert (source["name"], source["model"], source["license"]) == ("InterCode", "gpt-4", "MIT")
    assert source["copyright"] == "Copyright (c) 2023 Princeton Natural Language Processing"
    assert source["url"].startswith("https://github.com/princeton-nlp/intercode/")


def test_licence_of_the_recording_ships_beside_it() -> None:
    """The licence file that the recording names is in the package, whole."""
    source = load_recording().source
    text = files(cli).joinpath("data", source.license_file).read_text(encoding="utf-8")
    assert source.copyright in text
    assert "The above copyright notice and this permission notice shall be included" in text


@pytest.mark.parametrize(
    ("flags", "reminded"),
    [
        pytest.param(["--thresholds", "2,9"], [(3, 2), (10, 9)], id="thresholds-in-one-list"),
        pytest.param(
            ["--thresholds", "9", "--thresholds", "2"], [(3, 2), (10, 9)], id="thresholds-repeated"
        ),
        pytest.param(["--include", "s*"], [(4, 3), (6, 5), (9, 8)], id="tool-included"),
        pytest.param(["--include", "grep"], [], id="tool-not-included"),
        pytest.param(["--exclude", "grep, sql"], [], id="tool-excluded"),
    ],
)
def test_settings_of_the_guard_are_flags(flags: list[str], reminded: list[tuple[int, int]]) -> None:
    """The guard in the graph runs with the settings that the flags ask for."""
    found = document(*flags)["reminders"]
    assert [(one["after_step"], one["details"][0]["count"]) for one in found] == reminded


def test_preview_length_is_a_flag() -> None:
    """The detailed text quotes as many characters as asked for."""
    text = document("--arguments-preview-chars", "10")["reminders"][1]["text"]
    assert '- arguments: {"command"… (+' in text


def test_untracked_calls_have_no_count() -> None:
    """A tool that is not tracked has no row of calls, rather than a row of 0."""
    counts = {step["calls"][0]["count"] for step in document("--exclude", "sql")["steps"]}
    assert counts == {None}


def test_each_setting_of_the_guard_has_a_flag() -> None:
    """A setting that the command line does not offer fails here."""
    flags = repeat_guard("demo", "--help").stdout
    for name in RepeatGuardConfig.model_fields:
        assert f"--{name.replace('_', '-')} " in flags


def test_output_in_a_hundred_columns_is_the_known_one() -> None:
    """What people see: each call, its answer, the length of the row, the reminder in its place."""
    result = repeat_guard("demo", columns=100)
    assert result.exit_code == 0
    assert result.stdout == GOLDEN.read_text(encoding="utf-8")


def test_conclusion_says_that_a_recorded_model_cannot_react() -> None:
    """Nobody may think that the reminders did nothing."""
    words = " ".join(repeat_guard("demo").stdout.split())
    assert (
        "3 reminders; 6 calls came after the first one. "
        "A recorded model cannot react: it repeats what it once did without the guard."
    ) in words


def test_conclusion_without_reminders_names_the_thresholds() -> None:
    """Silence is explained."""
    assert "No reminder: no row of identical, tracked calls came to 12, 20.\n" in (
        repeat_guard("demo", "--thresholds", "12,20").stdout
    )


@pytest.mark.parametrize("columns", [30, 60, 79, 80, 200])
def test_lines_fit_the_terminal(columns: int) -> None:
    """Nothing but the address of the source is wider than the terminal; nothing trails spaces."""
    lines = repeat_guard("demo", columns=columns).stdout.splitlines()
    too_wide = [line for line in lines if len(line) > columns and not line.startswith("https://")]
    assert too_wide == []
    assert [line for line in lines if line != line.rstrip()] == []


def test_tiniest_terminal_still_gets_its_output() -> None:
    """A width that nothing fits in costs looks, not the run."""
    assert repeat_guard("demo", columns=1).exit_code == 0


def test_installed_command_prints_the_same_as_in_process() -> None:
    """The installed script is the same command, and leaves stderr empty."""
    done = installed_repeat_guard("demo", PYTHONIOENCODING="utf-8")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().replace("\r\n", "\n") == repeat_guard("demo").stdout


def test_terminal_without_unicode_gets_plain_characters() -> None:
    """An old encoding costs some characters, not the run."""
    done = installed_repeat_guard("demo", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"+- reminder in front of the next call -" in done.stdout


def test_agent_saves_its_state_in_a_temporary_sqlite_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the agent runs there is a database; afterwards nothing is left."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    steps = play(load_recording(), RepeatGuardConfig())
    next(steps)
    (database,) = tmp_path.glob("*/demo.sqlite")
    assert database.read_bytes().startswith(b"SQLite format 3")
    assert len(list(steps)) == 9
    assert list(tmp_path.iterdir()) == []


ODD = RecordedRun(
    source=load_recording().source,
    summary="",
    task="Fetch it.",
    steps=(
        RecordedStep(
            text="Let me see.",
            calls=(
                RecordedCall(id="a", name="http.post", arguments={"url": "x"}, result="one"),
                RecordedCall(id="b", name="Ünknown tool!", arguments={}, result="two"),
            ),
        ),
        RecordedStep(
            text="",
            calls=(RecordedCall(id="c", name="http.post", arguments={"self": 1}, result=""),),
        ),
    ),
)


def test_tools_of_any_name_and_several_calls_in_a_step_play_back() -> None:
    """A recording may hold tool names that no provider would take, and parallel calls."""
    assert list(play(ODD, RepeatGuardConfig())) == [
        StepRecord(
            1,
            [
                CallRecord("http.post", {"url": "x"}, 1, "one"),
                CallRecord("Ünknown tool!", {}, 1, "two"),
            ],
            None,
        ),
        StepRecord(2, [CallRecord("http.post", {"self": 1}, 1, "")], None),
    ]


async def test_recorded_model_plays_in_async_agents_too() -> None:
    """The model is a chat model like any other: bound to tools, awaited, ended by its end."""
    tools = replaying_tools(ODD)
    model = RecordedModel(run=ODD).bind_tools(tools)
    agent = build_agent(model, tools, guard=RepeatGuardConfig(), max_model_calls=9)
    state: Any = {"messages": [HumanMessage(ODD.task)]}
    messages = (await agent.ainvoke(state))["messages"]
    assert [str(message.text) for message in messages] == [
        "Fetch it.",
        "Let me see.",
        "one",
        "two",
        "",
        "",
        END_OF_RECORDING,
    ]


def test_reminder_counts_only_directly_in_front_of_the_next_call() -> None:
    """A reminder with another message behind it is not the last thing that the model reads."""
    call: Any = {"name": "grep", "args": {}, "id": "1"}
    step: list[BaseMessage] = [
        AIMessage("", tool_calls=[call]),
        ToolMessage("none", tool_call_id="1"),
    ]
    reminder = HumanMessage(FIRST_TEXT, additional_kwargs={"lc_source": "repeat_guard"})
    config = RepeatGuardConfig()
    (shown,) = steps_of([[*step, reminder]], config)
    (hidden,) = steps_of([[*step, reminder, HumanMessage("And now?")]], config)
    assert shown.reminder is not None
    assert hidden.reminder is None
