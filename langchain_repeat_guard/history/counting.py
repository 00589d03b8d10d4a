"""Steps counted on top of what is carried, or, where nothing is, read from the messages.

A call counts once every call of its step is answered, in the order in which the model issued it: an
agent's history is known to be final only then. What a count is, core says.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from langchain_repeat_guard.core.arguments import SameArguments, fingerprint
from langchain_repeat_guard.core.chain import Chain, count_call
from langchain_repeat_guard.core.config import RepeatGuardConfig
from langchain_repeat_guard.history.calls import IssuedCall
from langchain_repeat_guard.history.carried import Carried
from langchain_repeat_guard.history.delivery import DueReminder
from langchain_repeat_guard.history.steps import Closing, Prompt, Step
from langchain_repeat_guard.history.tokens import place_among

TrackedCall = tuple[int, IssuedCall, tuple[str, str]]
"""Place of a call among those of its message, the call, and its key and canonical arguments."""

IsVisit = Callable[[], bool]
"""Tells whether an agent works in another graph. Asked only where it matters: it takes time."""

Past = Iterator[Step | Prompt | Closing]
"""What is older than the step in hand, newest first; each is read once."""


class Counted(NamedTuple):
    """What the calls of a step come to."""

    chain: Chain
    due: Sequence[DueReminder]
    at_limit: tuple[str, int] | None


def never() -> bool:
    """Tell that an agent works in no other graph."""
    return False


def count_step(chain: Chain, calls: Sequence[IssuedCall], config: RepeatGuardConfig) -> Counted:
    """Count the calls of one complete step, in the order in which the model issued them."""
    return count_calls(chain, tracked_calls(calls, config), config)


def tracked_calls(calls: Sequence[IssuedCall], config: RepeatGuardConfig) -> Sequence[TrackedCall]:
    """Return those of a step's calls that count, with their keys."""
    return [
        (index, call, fingerprint(call.name, call.args, config.ignored_paths(call.name)))
        for index, call in enumerate(calls)
        if config.tracks(call.name)
    ]


def count_calls(chain: Chain, calls: Sequence[TrackedCall], config: RepeatGuardConfig) -> Counted:
    """Count the tracked calls of one complete step."""
    due: list[DueReminder] = []
    at_limit = None
    for index, call, key_and_text in calls:
        chain, reminder = count_call(chain, call.name, key_and_text, config=config)
        if reminder:
            due.append(DueReminder(reminder, call.id, index))
        if config.limit is not None and chain.count >= config.limit:
            at_limit = (call.name, chain.count)
    return Counted(chain, due, at_limit)


def advance(carried: Carried, step: Step, chain: Chain) -> Carried:
    """Return what is carried after `step`, which leaves `chain`."""
    return carried if chain is carried.chain else carried.with_step(step.token, chain)


def _advance_all(carried: Carried, steps: Iterable[Step], config: RepeatGuardConfig) -> Carried:
    """Return what is carried after `steps`, oldest first."""
    for step in steps:
        counted = count_step(carried.chain, step.calls, config)
        carried = advance(carried, step, counted.chain)
    return carried


def carried_before(
    step: Step,
    calls: Sequence[TrackedCall],
    past: Past,
    carried: Carried,
    config: RepeatGuardConfig,
    *,
    is_visit: IsVisit,
) -> Carried:
    """Return what is carried into `step`, whose tracked calls are `calls`."""
    if not carried.counted:
        if config.counting == "since_new_call":
            return _read_all(step, past, carried, config)
        return _read_chain(step, calls, past, carried, config)
    base = carried
    unseen: list[Step] = []
    is_closed = False
    for item in past:
        if type(item) is Prompt:
            if carried.has_seen_prompt(item.message_id):
                unseen = []
            else:
                base = carried.after_prompt(item.message_id)
            break
        if type(item) is Step:
            if (known := as_counted(item, carried, config)) is not None:
                base = known
                break
            if item.is_complete and not (is_closed and is_visit()):
                unseen.append(item)
        elif type(item) is Closing:
            is_closed = is_closed or item.is_answer
    else:
        unseen = []
    # Where the counted steps were deleted, nothing but `step` goes on top of what is carried.
    return _advance_all(base, reversed(unseen), config)


def as_counted(step: Step, carried: Carried, config: RepeatGuardConfig) -> Carried | None:
    """Return what was carried after `step`, or None if it was not counted."""
    if not carried.counted:
        return None
    if carried.counted[-1][0] == step.token:
        return carried
    place = place_among(carried.counted, step.token)
    if place is None or place == len(carried.counted) - 1:
        return None if place is None else carried
    # Later steps were taken out of the history. Only their keys were kept: read this one's.
    calls = tracked_calls(step.calls, config)[-1:]
    return carried.back_to(place, calls[0][2][0] if calls else "")


def _read_all(step: Step, past: Past, carried: Carried, config: RepeatGuardConfig) -> Carried:
    """Return what `step` finds, read from all messages since the user's prompt."""
    steps = {step.token: step}
    for item in past:
        if type(item) is Prompt:
            carried = carried.after_prompt(item.message_id)
            break
        if type(item) is Step and item.is_complete:
            steps.setdefault(item.token, item)
    return _advance_all(carried, list(steps.values())[:0:-1], config)


def _read_chain(
    step: Step,
    calls: Sequence[TrackedCall],
    past: Past,
    carried: Carried,
    config: RepeatGuardConfig,
) -> Carried:
    """Return what `step` finds, read from the messages alone, as far back as it matters.

    That is: until a call that the first one of `step` does not repeat, and never further than the
    last threshold, past which all lengths are alike.
    """
    if not calls:
        return carried
    _, first, (key, _) = calls[0]
    same = SameArguments(first.name, first.args, key, config.ignored_paths(first.name))
    enough = config.settles_at(first.name)
    count = 0
    seen = {step.token}
    for item in past:
        if type(item) is Prompt:
            carried = carried.after_prompt(item.message_id)
            break
        if type(item) is not Step or item.token in seen:
            continue
        seen |= {item.token}
        only = item.only_call
        if only is not None and only["name"] == first.name:
            is_broken = only["args"] not in same
            repeats = 0 if is_broken else 1
        else:
            repeats, is_broken = _repeats(first.name, same, item, config)
        count += repeats
        if is_broken or count >= enough:
            break
    if not count:
        return carried
    return Carried(Chain(key, count), (), carried.prompts)


def _repeats(
    name: str, same: SameArguments, step: Step, config: RepeatGuardConfig
) -> tuple[int, bool]:
    """Count the identical calls at the end of `step`; tell whether another call breaks off."""
    count = 0
    for call in reversed(step.calls if step.is_complete else ()):
        if config.tracks(call.name):
            if call.name != name or call.args not in same:
                return count, True
            count += 1
    return count, False
