"""Recorded runs in, records of what the guard would have said out."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from langchain_repeat_guard.core.checks import function_option
from langchain_repeat_guard.core.config import RepeatGuardConfig
from langchain_repeat_guard.history.replay import ReplaySettings
from langchain_repeat_guard.history.steps import IsUserPrompt
from langchain_repeat_guard.scanning.agents import RunScan
from langchain_repeat_guard.scanning.formats.messages import UNREADABLE, Kind, Parts, read_parts
from langchain_repeat_guard.scanning.records import Problem, Record
from langchain_repeat_guard.scanning.runs import Run

_SAME_TO_ALL: frozenset[Kind] = frozenset({"calls", "answer"})


def scan(
    runs: Iterable[Run | Problem],
    config: RepeatGuardConfig | None = None,
    *,
    is_user_prompt: IsUserPrompt | None = None,
) -> Iterator[Record]:
    """Say where reminders would have fallen in recorded runs.

    The verdicts are those of the callback, the nodes and the middlewares on the same messages: a
    call counts once its step is complete, a user's prompt starts anew, each agent is on its own.
    Nothing is kept of a run but its figures, so that any number of runs of any length will do.

    Args:
        runs: What `read_runs` yields, or runs of your own.
        config: What to track and when to remind; None for the defaults.
        is_user_prompt: Tells a user's prompt from other human messages, as in the adapters.

    Yields:
        For each run a `FoundReminder` for each reminder, as they fall, and behind them a
        `RunRecord` for each of its agents. A `Problem` for whatever could not be read.

    Raises:
        TypeError: `config` or `is_user_prompt` has a wrong type. At once, before anything is read.

    Example:
        >>> from langchain_repeat_guard import RepeatGuardConfig, scan
        >>> from langchain_repeat_guard.scanning import Run
        >>> call = {"id": "c", "function": {"name": "grep", "arguments": '{"q": "a"}'}}
        >>> step = [
        ...     {"role": "assistant", "content": "", "tool_calls": [call]},
        ...     {"role": "tool", "content": "nothing found", "tool_call_id": "c"},
        ... ]
        >>> found, run = scan([Run(step * 2)], RepeatGuardConfig(thresholds=(2,)))
        >>> (found.reminder.summary, found.after_message, run.calls)
        ('grep × 2', 3, 2)
    """
    configs = [RepeatGuardConfig.resolve(config, {})]
    found = scan_with_each(runs, configs, is_user_prompt=is_user_prompt)
    return (record for _, record in found)


def scan_with_each(
    runs: Iterable[Run | Problem],
    configs: Sequence[RepeatGuardConfig],
    *,
    is_user_prompt: IsUserPrompt | None = None,
) -> Iterator[tuple[int, Record]]:
    """Scan with several settings at once, reading the runs once.

    Yields:
        As `scan`, each record with the number of its setting, from 0. A `Problem` has number 0. The
        records of the settings for one agent of a run follow each other.

    Raises:
        TypeError: As `scan`.
    """
    function_option("is_user_prompt", is_user_prompt)
    settings = [ReplaySettings(RepeatGuardConfig.resolve(config, {})) for config in configs]
    return _scan_all(runs, settings, is_user_prompt)


def _scan_all(
    runs: Iterable[Run | Problem],
    settings: Sequence[ReplaySettings],
    is_user_prompt: IsUserPrompt | None,
) -> Iterator[tuple[int, Record]]:
    for run in runs:
        if isinstance(run, Problem):
            yield 0, run
        else:
            scans = [RunScan(run.place, one) for one in settings]
            yield from _scan_run(run, scans, is_user_prompt)


def _scan_run(
    run: Run, scans: Sequence[RunScan], is_user_prompt: IsUserPrompt | None
) -> Iterator[tuple[int, Record]]:
    first, *others = scans
    for index, message in enumerate(run.messages):
        if type(message) is Problem:
            yield 0, message
            continue
        try:
            reading = read_parts(message, is_user_prompt, first.own_texts)
            others_read = _read_by_each(scans, message, reading, is_user_prompt) if others else ()
        except UNREADABLE as error:
            yield 0, _unreadable(run, index, error)
            continue
        for found in first.take(index, reading):
            yield 0, found
        if others:
            yield from _take_with_each(others, index, others_read)
    if not others:
        for record in first.finish():
            yield 0, record
        return
    for records in zip(*(one.finish() for one in scans), strict=True):
        yield from enumerate(records)


def _read_by_each(
    scans: Sequence[RunScan], message: Any, reading: Parts, is_user_prompt: IsUserPrompt | None
) -> Sequence[Parts]:
    """Return what `message` is to all of `scans` but the first, which reads it as `reading`.

    Own texts alone make a difference, and only to what a human message is.
    """
    first, *others = scans
    if reading[0] in _SAME_TO_ALL:
        return [reading] * len(others)
    known = {first.own_texts: reading}
    for one in others:
        if one.own_texts not in known:
            known[one.own_texts] = read_parts(message, is_user_prompt, one.own_texts)
    return [known[one.own_texts] for one in others]


def _take_with_each(
    others: Sequence[RunScan], index: int, readings: Sequence[Parts]
) -> Iterator[tuple[int, Record]]:
    for number, (one, reading) in enumerate(zip(others, readings, strict=True), 1):
        for found in one.take(index, reading):
            yield number, found


def _unreadable(run: Run, index: int, error: Exception) -> Problem:
    # The text of foreign errors is left out: it may quote the message.
    reason = str(error) if type(error) is ValueError else f"malformed ({type(error).__name__})"
    return Problem(run.place, f"message {index}: {reason}")
