"""The one function that turns messages and a carried chain into the reminders due now."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import partial
from typing import Any, NamedTuple

from langchain_repeat_guard.core.arguments import SameArguments, fingerprint
from langchain_repeat_guard.core.chain import Chain, count_call
from langchain_repeat_guard.core.config import RepeatGuardConfig
from langchain_repeat_guard.history.calls import IssuedCall
from langchain_repeat_guard.history.carried import Carried
from langchain_repeat_guard.history.delivery import DueReminder
from langchain_repeat_guard.history.steps import (
    Closing,
    IsUserPrompt,
    Prompt,
    Step,
    read_back,
    was_written_by_user,
)
from langchain_repeat_guard.history.tokens import place_among

_TrackedCall = tuple[int, IssuedCall, tuple[str, str]]
Past = Iterator[Step | Prompt | Closing]


class Own(Enum):
    """Which steps of a history are the agent's own where nothing is known of it yet.

    A graph may let an agent work on the messages of others, and of its own earlier visits, which
    share no chain with this one.
    """

    ALL = auto()
    NEWEST_STEP = auto()
    NOTHING = auto()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is due behind the last message now, and what to carry to the next step."""

    carried: Carried
    due: Sequence[DueReminder] = ()
    step: Step | None = None
    """The newest step. `due` and `at_limit` are about its calls."""

    at_limit: tuple[str, int] | None = None
    """The tool whose chain has reached the limit, and its length."""

    @property
    def message_id(self) -> str | None:
        """Id of the newest step's AIMessage, if it has one."""
        return self.step.message.id or None if self.step else None


class _Counted(NamedTuple):
    """What the calls of a step come to."""

    chain: Chain
    due: Sequence[DueReminder]
    at_limit: tuple[str, int] | None


def judge(
    messages: Sequence[Any],
    carried: Carried | None,
    *,
    config: RepeatGuardConfig,
    is_user_prompt: IsUserPrompt = was_written_by_user,
    repairs_malformed: bool = False,
    own: Own = Own.ALL,
) -> Verdict:
    """Say which reminders are due behind the last of `messages`.

    A call counts once its step is complete. The newest step gets its reminders if nothing stands
    behind its tool messages but notes that no user wrote.

    Args:
        messages: An agent's history, oldest first.
        carried: What the last verdict said to carry; None where nothing is kept between steps. The
            chain is then read from the messages alone.
        config: What to track and when to remind.
        is_user_prompt: Tells a user's prompt from other human messages.
        repairs_malformed: Whether the host answers malformed calls on the way to the model, so that
            a step is complete without those answers.
        own: Which of the steps are the agent's own, as long as nothing is carried.
    """
    memory = carried or Carried()
    rewindable = config.counting == "since_new_call" and memory.counted
    read = partial(
        read_back,
        messages,
        is_user_prompt,
        own_texts=config.own_texts,
        repairs_malformed=repairs_malformed,
    )
    if rewindable and _was_rewound(read(), memory):
        memory = Carried(prompts=memory.prompts)
    past = read()
    if not memory.counted:
        if own is Own.NOTHING:
            return Verdict(_begun(memory, past))
        if own is Own.NEWEST_STEP:
            past = _without_older_steps(past)
    may_remind = True
    for item in past:
        if type(item) is Step:
            if (known := _as_counted(item, memory, config)) is not None:
                return Verdict(known, (), item)
            issued = item.calls
            if not item.answers_all(issued):
                return Verdict(memory)
            calls = _tracked(issued, config)
            before = _before(item, calls, past, memory, config)
            counted = _count(before.chain, calls, config)
            after = _advance(before, item, counted.chain)
            if not may_remind:
                return Verdict(after, (), item)
            return Verdict(after, () if item.is_reminded else counted.due, item, counted.at_limit)
        if type(item) is Prompt:
            # An earlier prompt stands last where all behind it was deleted: the chain goes on.
            is_known = memory.has_seen_prompt(item.message_id)
            return Verdict(memory if is_known else memory.after_prompt(item.message_id))
        may_remind = False
    return Verdict(memory)


def observe_calls(
    chain: Chain, calls: Sequence[IssuedCall], config: RepeatGuardConfig
) -> tuple[Chain, Sequence[DueReminder]]:
    """Count the calls of one complete step, in the order in which the model issued them."""
    counted = _count(chain, _tracked(calls, config), config)
    return counted.chain, counted.due


def _tracked(calls: Sequence[IssuedCall], config: RepeatGuardConfig) -> Sequence[_TrackedCall]:
    return [
        (index, call, fingerprint(call.name, call.args, config.ignored_paths(call.name)))
        for index, call in enumerate(calls)
        if config.tracks(call.name)
    ]


def _count(chain: Chain, calls: Sequence[_TrackedCall], config: RepeatGuardConfig) -> _Counted:
    due: list[DueReminder] = []
    at_limit = None
    for index, call, key_and_text in calls:
        chain, reminder = count_call(chain, call.name, key_and_text, config=config)
        if reminder:
            due.append(DueReminder(reminder, call.id, index))
        if config.limit is not None and chain.count >= config.limit:
            at_limit = (call.name, chain.count)
    return _Counted(chain, due, at_limit)


def _advance(carried: Carried, step: Step, chain: Chain) -> Carried:
    """Return what is carried after `step`, which leaves `chain`."""
    return carried if chain is carried.chain else carried.with_step(step.token, chain)


def _advance_all(carried: Carried, steps: Iterable[Step], config: RepeatGuardConfig) -> Carried:
    """Return what is carried after `steps`, oldest first."""
    for step in steps:
        chain, _ = observe_calls(carried.chain, step.calls, config)
        carried = _advance(carried, step, chain)
    return carried


def _before(
    step: Step,
    calls: Sequence[_TrackedCall],
    past: Past,
    memory: Carried,
    config: RepeatGuardConfig,
) -> Carried:
    """Return what is carried into `step`, whose tracked calls are `calls`."""
    if not memory.counted:
        if config.counting == "since_new_call":
            return _read_all(step, past, memory, config)
        return _read_chain(step, calls, past, memory, config)
    base = memory
    unseen: list[Step] = []
    for item in past:
        if type(item) is Prompt:
            if memory.has_seen_prompt(item.message_id):
                unseen = []
            else:
                base = memory.after_prompt(item.message_id)
            break
        if type(item) is Step:
            if (known := _as_counted(item, memory, config)) is not None:
                base = known
                break
            if item.is_complete:
                unseen.append(item)
    else:
        unseen = []
    # Where the counted steps were deleted, nothing but `step` goes on top of what is carried.
    return _advance_all(base, reversed(unseen), config)


def _as_counted(step: Step, memory: Carried, config: RepeatGuardConfig) -> Carried | None:
    """Return what was carried after `step`, or None if it was not counted."""
    if not memory.counted:
        return None
    if memory.counted[-1][0] == step.token:
        return memory
    place = place_among(memory.counted, step.token)
    if place is None or place == len(memory.counted) - 1:
        return None if place is None else memory
    # Later steps were taken out of the history. Only their keys were kept: read this one's.
    calls = _tracked(step.calls, config)[-1:]
    return memory.back_to(place, calls[0][2][0] if calls else "")


def _begun(memory: Carried, past: Past) -> Carried:
    """Return what an agent carries into its first step, behind the steps of others."""
    for item in past:
        if type(item) is Prompt:
            return memory.after_prompt(item.message_id).behind("")
        if type(item) is Step:
            newest = item.token
            prompt = next((one for one in past if type(one) is Prompt), None)
            return (memory.after_prompt(prompt.message_id) if prompt else memory).behind(newest)
    return memory.behind("")


def _without_older_steps(past: Past) -> Past:
    is_newest = True
    for item in past:
        if type(item) is not Step:
            yield item
        elif is_newest:
            is_newest = False
            yield item


def _was_rewound(past: Past, memory: Carried) -> bool:
    """Tell whether the newest counted steps were taken out of the history, but not all of them."""
    for item in past:
        if type(item) is Prompt:
            return False
        if type(item) is Step and (place := place_among(memory.counted, item.token)) is not None:
            return place != len(memory.counted) - 1
    return False


def _read_all(step: Step, past: Past, memory: Carried, config: RepeatGuardConfig) -> Carried:
    """Return what `step` finds, read from all messages since the user's prompt."""
    steps = {step.token: step}
    for item in past:
        if type(item) is Prompt:
            memory = memory.after_prompt(item.message_id)
            break
        if type(item) is Step and item.is_complete:
            steps.setdefault(item.token, item)
    return _advance_all(memory, list(steps.values())[:0:-1], config)


def _read_chain(
    step: Step,
    calls: Sequence[_TrackedCall],
    past: Past,
    memory: Carried,
    config: RepeatGuardConfig,
) -> Carried:
    """Return what `step` finds, read from the messages alone, as far back as it matters.

    That is: until a call that the first one of `step` does not repeat, and never further than the
    last threshold, past which all lengths are alike.
    """
    if not calls:
        return memory
    _, first, (key, _) = calls[0]
    same = SameArguments(first.name, first.args, key, config.ignored_paths(first.name))
    enough = config.settles_at(first.name)
    count = 0
    seen = {step.token}
    for item in past:
        if type(item) is Prompt:
            memory = memory.after_prompt(item.message_id)
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
        return memory
    return Carried(Chain(key, count), (), memory.prompts)


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
