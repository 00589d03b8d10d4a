"""What the README says about this guard and another one is what they do."""

import re
from functools import cache
from pathlib import Path

import pytest
from benchmarks.compare import GUARDS, bare, outcomes, table
from benchmarks.playing import Outcome, judge
from benchmarks.scenarios import SCENARIOS

README = Path(__file__).parents[2] / "README.md"

PLAIN = (3, 5, 8)
NUDGES = {
    "the same call, 12 times": PLAIN,
    "the same, key order changes": PLAIN,
    "the same, each result has another time stamp": PLAIN,
    "A, B, A, B …, 12 calls": (),
    "the same 2 calls in parallel, 6 steps": (),
    "4 equal calls in parallel, 3 steps": (4, 8),
    "an unknown tool, 12 times": PLAIN,
    "a call that the user denies, 12 times": PLAIN,
    "the same call 6 times, a new note behind each": (),
    "the same 12 times, each resumed by a new instance": PLAIN,
    "the same 12 times, summarised on the way": PLAIN,
    "polling a job, 12 times": PLAIN,
    "2 threads in turns, 2 equal calls each": (),
    "the same call once per user turn, 30 turns": (),
    "12 pages of one list": (),
    "edit and test again, 6 rounds": (),
    "200 different calls": (),
}
"""Behind which calls the guard speaks with its defaults."""

CYCLES = {
    "A, B, A, B …, 12 calls": (6, 7, 10, 11),
    "the same 2 calls in parallel, 6 steps": (6, 8, 10, 12),
}
EXPECTED = {
    "A": NUDGES,
    "B": NUDGES,
    "C": NUDGES | CYCLES,
    "D": NUDGES
    | CYCLES
    | {"the same call 6 times, a new note behind each": (5, 9), "polling a job, 12 times": ()},
}


@cache
def found(letter: str) -> dict[str, Outcome]:
    """Return what a guard of the comparison does."""
    return outcomes(GUARDS[letter][1])


@pytest.mark.parametrize("letter", EXPECTED)
def test_speaks_where_expected_and_harms_nothing(letter: str) -> None:
    """Every call and turn takes place, and OpenAI's order holds.

    Mistral's order breaks where a reminder is a message of its own, as all but D's are.
    """
    seen = {
        name: (
            one.nudges,
            one.calls_stopped,
            one.turns_stopped,
            {api for api, number in one.refused.items() if number},
        )
        for name, one in found(letter).items()
    }
    assert seen == {
        name: (nudges, 0, 0, {"mistral"} if nudges and letter != "D" else set())
        for name, nudges in EXPECTED[letter].items()
    }


def test_scenarios_themselves_are_valid() -> None:
    """Without a guard, no request breaks an order rule."""
    refused = {one.name: judge(bare(one), bare(one)).refused for one in SCENARIOS}
    assert refused == {one.name: {"openai-chat": 0, "mistral": 0} for one in SCENARIOS}


@pytest.mark.parametrize("letter", GUARDS)
def test_readme_shows_what_was_measured(letter: str) -> None:
    """The column of each guard in the README is the one that the script prints."""
    rows = _cells(_section())
    column = rows[0].index(letter)
    assert [[*row[:2], row[column]] for row in rows] == _cells(table({letter: found(letter)}))


def test_readme_names_each_guard() -> None:
    """The README says what each letter stands for, and has no other column."""
    section = _section()
    assert re.findall(r"^- (\w): (.*)$", section, re.MULTILINE) == [
        (letter, words) for letter, (words, _) in GUARDS.items()
    ]
    assert _cells(section)[0] == ["scenario", "wanted", *GUARDS]


def _section() -> str:
    text = README.read_text(encoding="utf-8")
    return text.partition("\n## Compared\n")[2].partition("\n## ")[0]


def _cells(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
