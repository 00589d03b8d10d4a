"""What this package and LangChain's ToolCallLimitMiddleware do in the same scenarios.

Run it: python tests/benchmarks/compare.py. Prints a Markdown table. Another guard is one more
function in `GUARDS`.
"""

import statistics
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.counting import count_calls
from benchmarks.playing import APIS, Adapter, Outcome, Player, Trace, judge
from benchmarks.scenarios import SCENARIOS, Act, Scenario
from helpers.models import asks, call
from langchain.agents.middleware import ToolCallLimitMiddleware, before_model

from langchain_repeat_guard import RepeatGuardMiddleware, TransientRepeatGuardMiddleware


def no_guard() -> list[Any]:
    """Return nothing: the run that the others are measured by."""
    return []


def empty_hook() -> list[Any]:
    """Return a `before_model` hook that does nothing: the price of one more superstep."""
    return [before_model(lambda state, runtime: None)]


def default() -> list[Any]:
    """Return this package's guard as it comes."""
    return [RepeatGuardMiddleware()]


def transient() -> list[Any]:
    """Return the guard that stores no message."""
    return [TransientRepeatGuardMiddleware()]


def since_new_call() -> list[Any]:
    """Return the guard that also looks for cycles."""
    return [RepeatGuardMiddleware(counting="since_new_call")]


def tuned() -> list[Any]:
    """Return the guard of somebody who knows the agent's tools and provider."""
    return [
        RepeatGuardMiddleware(
            counting="since_new_call",
            exclude=("take_note", "job_status"),
            delivery="tool_message",
        )
    ]


def limit() -> list[Any]:
    """Return LangChain's limit, with the numbers of its documentation."""
    return [ToolCallLimitMiddleware(thread_limit=20, run_limit=10)]


def limit_end() -> list[Any]:
    """Return the same limit, ending the run."""
    return [ToolCallLimitMiddleware(thread_limit=20, run_limit=10, exit_behavior="end")]


GUARDS: dict[str, tuple[str, Adapter]] = {
    "A": ("`RepeatGuardMiddleware()`", default),
    "B": ("`TransientRepeatGuardMiddleware()`", transient),
    "C": ('`RepeatGuardMiddleware(counting="since_new_call")`', since_new_call),
    "D": (
        'C with `exclude=("take_note", "job_status")` and `delivery="tool_message"`',
        tuned,
    ),
    "E": ("LangChain's `ToolCallLimitMiddleware(thread_limit=20, run_limit=10)`", limit),
    "F": ('E with `exit_behavior="end"`', limit_end),
}
"""By letter: how a guard is made, in words and in code."""

Results = dict[str, dict[str, Outcome]]
"""What each guard did in each scenario, by the guard's letter and the scenario's name."""


def outcomes(guard: Adapter, scenarios: Sequence[Scenario] = SCENARIOS) -> dict[str, Outcome]:
    """Return what `guard` did in each scenario, by the scenario's name."""
    return {one.name: judge(bare(one), Player(one, guard).play()) for one in scenarios}


@cache
def bare(scenario: Scenario) -> Trace:
    """Return the run without a guard."""
    return Player(scenario, no_guard).play()


def is_as_wanted(scenario: Scenario, outcome: Outcome) -> bool:
    """Tell whether a loop was answered, or good work left alone."""
    did_act = bool(outcome.nudges or outcome.calls_stopped or outcome.turns_stopped)
    return did_act is (scenario.wanted == "nudge")


def spans(numbers: Sequence[int]) -> str:
    """Write numbers with runs of three or more as spans: `3, 5, 8` or `11–30`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(
        f"{run[0]}–{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs
    )


def cell(scenario: Scenario, outcome: Outcome) -> str:
    """Write what a guard did; bold where it is not what is wanted."""
    parts = [f"at {spans(outcome.nudges)}"] if outcome.nudges else []
    if outcome.calls_stopped:
        parts.append(f"stops {outcome.calls_stopped}")
    if outcome.turns_stopped:
        parts.append("ends the run")
    text = ", ".join(parts) or "silent"
    return text if is_as_wanted(scenario, outcome) else f"**{text}**"


def row(*cells: object) -> str:
    """Write one line of a Markdown table."""
    return f"| {' | '.join(map(str, cells))} |"


def stopped_good_work(found: dict[str, Outcome]) -> int:
    """Count the scenarios of good work in which calls or turns were stopped."""
    good = [one.name for one in SCENARIOS if one.wanted == "silence"]
    return sum(bool(found[name].calls_stopped or found[name].turns_stopped) for name in good)


def tally(results: Results) -> list[str]:
    """Write the rows that count."""
    rows = []
    for wanted, title in (("nudge", "loops answered"), ("silence", "good work left alone")):
        some = [one for one in SCENARIOS if one.wanted == wanted]
        met = [
            f"{sum(is_as_wanted(one, found[one.name]) for one in some)} of {len(some)}"
            for found in results.values()
        ]
        rows.append(row(title, "", *met))
    rows.append(row("good work stopped", "", *map(stopped_good_work, results.values())))
    for api in APIS:
        refused = [
            sum(one.refused[api] > 0 for one in found.values()) for found in results.values()
        ]
        rows.append(row(f"scenarios with requests that `{api}` refuses", "", *refused))
    return rows


def table(results: Results) -> str:
    """Write the table."""
    lines = [row("scenario", "wanted", *results), row(*["---"] * (len(results) + 2))]
    for scenario in SCENARIOS:
        cells = [cell(scenario, found[scenario.name]) for found in results.values()]
        lines.append(row(scenario.name, scenario.wanted, *cells))
    return "\n".join([*lines, *tally(results)])


def steps(number: int) -> Scenario:
    """Return good work of `number` steps."""
    turns = [asks(call("search", {"query": str(one)})) for one in range(number)]
    return Scenario(f"{number} steps", "silence", lambda: [Act(turns)])


def calls_per_step(guard: Adapter) -> float:
    """Return the function calls of one step, of the second to the ninth of a run.

    The median of some runs, as threads may have to wait for each other.
    """

    def median(number: int) -> float:
        runs = [Player(steps(number), guard) for _ in range(5)]
        return statistics.median(count_calls(run.play) for run in runs)

    median(1)  # warms caches and lazy imports
    return (median(9) - median(1)) / 8


def costs() -> str:
    """Write what each guard adds to a step."""
    alone = calls_per_step(no_guard)
    added = {letter: calls_per_step(guard) - alone for letter, (_, guard) in GUARDS.items()}
    added["a hook that does nothing"] = calls_per_step(empty_hook) - alone
    listed = ", ".join(f"{name} {number:.0f}" for name, number in added.items())
    return f"Function calls added to each step's {alone:.0f}: {listed}."


def main() -> None:
    """Print the table, what its letters mean, and the costs."""
    for letter, (words, _) in GUARDS.items():
        print(f"- {letter}: {words}")
    print()
    print(table({letter: outcomes(guard) for letter, (_, guard) in GUARDS.items()}))
    print()
    print(costs())


if __name__ == "__main__":
    main()
