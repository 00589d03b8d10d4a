"""The one function that turns messages and a carried chain into the reminders due now."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_repeat_guard.core.arguments import fingerprint
from langchain_repeat_guard.core.chain import Chain, observe
from langchain_repeat_guard.core.config import RepeatGuardConfig
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


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is due behind the last message now, and what to carry to the next step."""

    carried: Carried
    due: Sequence[DueReminder] = ()
    step: Step | None = None
    """The step that `due` belongs to."""


def judge(
    messages: Sequence[Any],
    carried: Carried | None,
    *,
    config: RepeatGuardConfig,
    is_user_prompt: IsUserPrompt = was_written_by_user,
) -> Verdict:
    """Say which reminders are due behind the last of `messages`.

    A call counts once its step is complete. The step that is last in `messages` gets its reminders
    if nothing but its tool messages, and notes that no user wrote, stand behind it.

    Args:
        messages: An agent's history, oldest first.
        carried: What the last verdict said to carry; None where nothing is kept between steps. The
            chain is then read from the messages alone.
        config: What to track and when to remind.
        is_user_prompt: Tells a user's prompt from other human messages.
    """
    memory = carried or Carried()
    past = read_back(messages, is_user_prompt)
    may_remind = True
    for item in past:
        if isinstance(item, Step):
            if not item.is_complete or _place(item, memory) == len(memory.counted) - 1 >= 0:
                return Verdict(memory)
            before, unseen = _before(item, past, carried, memory, config)
            return _advance(before, [*unseen, item], config, may_remind=may_remind)
        if isinstance(item, Prompt):
            return Verdict(_after_prompt(item, memory))
        may_remind = False
    return Verdict(memory)


def _advance(
    carried: Carried, steps: Sequence[Step], config: RepeatGuardConfig, *, may_remind: bool
) -> Verdict:
    """Count `steps`, oldest first; the reminders of the last one are due."""
    due: list[DueReminder] = []
    for step in steps:
        due = []
        chain = carried.chain
        for call in step.calls:
            if not config.tracks(call.name):
                continue
            chain, reminder = observe(chain, call.name, call.args, config=config)
            if reminder:
                due.append(DueReminder(reminder, call.id))
        if chain is not carried.chain:
            carried = carried.with_step(step.message_id, chain)
    last = steps[-1]
    if not may_remind or last.is_reminded:
        due = []
    return Verdict(carried, due, last)


