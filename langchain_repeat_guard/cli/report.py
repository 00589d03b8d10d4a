"""What the commands found, as plain JSON values."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from langchain_repeat_guard.cli.playback import RecordedRun
from langchain_repeat_guard.cli.transcript import LiveRun, StepRecord
from langchain_repeat_guard.core.config import RepeatGuardConfig


def playback_report(
    run: RecordedRun, config: RepeatGuardConfig, steps: Sequence[StepRecord]
) -> dict[str, Any]:
    """Return the document of a played-back run."""
    return {
        "mode": "playback",
        "source": run.source.model_dump(),
        "task": run.task,
        "config": config.model_dump(mode="json"),
        "steps": [asdict(step) for step in steps],
        "reminders": [
            {"after_step": step.step, **asdict(step.reminder)} for step in steps if step.reminder
        ],
        "calls_after_first_reminder": calls_after_first_reminder(steps),
    }


def live_report(
    model: str, task: str, config: RepeatGuardConfig, max_steps: int, runs: Sequence[LiveRun]
) -> dict[str, Any]:
    """Return the document of a comparison; `runs` are the one without and the one with guard."""
    without_guard, with_guard = runs
    return {
        "mode": "live",
        "model": model,
        "task": task,
        "config": config.model_dump(mode="json"),
        "max_steps": max_steps,
        "guard_off": asdict(without_guard),
        "guard_on": asdict(with_guard),
    }


def calls_after_first_reminder(steps: Sequence[StepRecord]) -> int:
    """Return how many tool calls the model made after the first reminder; 0 without reminders."""
    reminded = [step.step for step in steps if step.reminder]
    return sum(len(step.calls) for step in steps if reminded and step.step > reminded[0])
