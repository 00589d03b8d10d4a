"""The one function that turns messages and a carried chain into the reminders due now."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from langchain_repeat_guard.core.config import RepeatGuardConfig
from langchain_repeat_guard.history.carried import Carried
from langchain_repeat_guard.history.counting import (
    IsVisit,
    Past,
    advance,
    as_counted,
    carried_before,
    count_calls,
    never,
    tracked_calls,
)
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


def judge(
    messages: Sequence[Any],
    carried: Carried | None,
    *,
    config: RepeatGuardConfig,
    is_user_prompt: IsUserPrompt = was_written_by_user,
    repairs_malformed: bool = False,
    is_visit: IsVisit = never,
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
        is_visit: Tells whether the agent works in another graph, which may hand it the messages of
            others. What an answer has closed without being counted is then theirs; and all but the
            newest step, if the agent has not even seen a prompt.
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
        memory = memory.rewound()
    past = read()
    if not memory.counted and is_visit():
        past = _of_this_visit(past, only_newest=memory.is_new)
    may_remind, is_closed = True, False
    for item in past:
        if type(item) is Step:
            if (known := as_counted(item, memory, config)) is not None:
                return Verdict(known, (), item)
            if is_closed and is_visit():
                continue
            issued = item.calls
            if not item.answers_all(issued):
                return Verdict(memory)
            calls = tracked_calls(issued, config)
            before = carried_before(item, calls, past, memory, config, is_visit=is_visit)
            counted = count_calls(before.chain, calls, config)
            after = advance(before, item, counted.chain)
            if not may_remind:
                return Verdict(after, (), item)
            return Verdict(after, () if item.is_reminded else counted.due, item, counted.at_limit)
        if type(item) is Prompt:
            # An earlier prompt stands last where all behind it was deleted: the chain goes on.
            is_known = memory.has_seen_prompt(item.message_id)
            return Verdict(memory if is_known else memory.after_prompt(item.message_id))
        may_remind = False
        is_closed = is_closed or (type(item) is Closing and item.is_answer)
    return Verdict(memory)


def begin(
    messages: Sequence[Any],
    *,
    config: RepeatGuardConfig,
    is_user_prompt: IsUserPrompt = was_written_by_user,
) -> Verdict:
    """Say what an agent carries into its first step, where others have worked on its `messages`.

    A graph may hand an agent the messages of other agents, or of its own earlier visits, none of
    which share a chain with this one.
    """
    carried = Carried()
    newest = ""
    for item in read_back(messages, is_user_prompt, own_texts=config.own_texts):
        if type(item) is Prompt:
            carried = carried.after_prompt(item.message_id)
            break
        if type(item) is Step and not newest:
            newest = item.token
    return Verdict(carried.behind(newest))


def _of_this_visit(past: Past, *, only_newest: bool) -> Past:
    """Leave out the steps of others."""
    is_over = False
    for item in past:
        is_over = is_over or (type(item) is Closing and item.is_answer)
        if type(item) is not Step or not is_over:
            yield item
        is_over = is_over or (only_newest and type(item) is Step)


def _was_rewound(past: Past, memory: Carried) -> bool:
    """Tell whether the newest counted steps were taken out of the history, but not all of them."""
    for item in past:
        if type(item) is Prompt:
            return False
        if type(item) is Step and (place := place_among(memory.counted, item.token)) is not None:
            return place != len(memory.counted) - 1
    return False
