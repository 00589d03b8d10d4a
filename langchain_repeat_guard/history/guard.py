"""What every adapter that sees messages needs: its settings, and verdicts that never raise."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from langchain_repeat_guard.core.checks import function_option
from langchain_repeat_guard.core.config import RepeatGuardConfig
from langchain_repeat_guard.core.failsafe import FailOpen
from langchain_repeat_guard.core.limit import refuse_to_end_runs
from langchain_repeat_guard.errors import RepeatGuardStateError, RepeatLimitError
from langchain_repeat_guard.history.carried import CHANNEL, Carried
from langchain_repeat_guard.history.counting import never
from langchain_repeat_guard.history.delivery import (
    Delivery,
    DueReminder,
    check_delivery,
    limit_message,
    remind_in_tool_message,
    reminder_message,
)
from langchain_repeat_guard.history.events import ReminderEvent, reminder_event
from langchain_repeat_guard.history.handover import TakenReminders
from langchain_repeat_guard.history.judge import Verdict, begin, judge
from langchain_repeat_guard.history.refusals import refusing_model, refusing_sender
from langchain_repeat_guard.history.steps import IsUserPrompt, was_written_by_user
from langchain_repeat_guard.history.whereabouts import in_another_graph, is_first_superstep


class StateUpdate(NamedTuple):
    """What an adapter writes to the state, and what it tells listeners."""

    values: dict[str, Any]
    event: ReminderEvent | None = None
    is_at_limit: bool = False
    """Whether the run is to end now; its last message is among `values`."""


class Delivered(NamedTuple):
    """A step's reminder in the form in which it joins an agent's messages."""

    message: HumanMessage | ToolMessage
    replaced: ToolMessage | None
    """The message in whose place it stands; None: it stands behind all others."""

    event: ReminderEvent
    """What to tell listeners once it is among the messages."""


def _has_calls(message: object) -> bool:
    return isinstance(message, AIMessage) and bool(message.tool_calls or message.invalid_tool_calls)


class HistoryGuard:
    """One adapter's settings and its view of an agent's history."""

    def __init__(
        self,
        adapter: str,
        *,
        config: RepeatGuardConfig | None,
        options: Mapping[str, Any],
        messages_key: object,
        is_user_prompt: IsUserPrompt | None,
        delivery: str,
        repairs_malformed: bool = False,
        can_end_run: bool = False,
        asked_before_first_step: bool = False,
    ) -> None:
        """Check the settings.

        Args:
            adapter: How log lines name the adapter.
            config: Settings, or single ones by name as `options`.
            options: Fields of `RepeatGuardConfig`.
            messages_key: The state's key for the messages.
            is_user_prompt: Tells a user's prompt from other human messages; None: by metadata.
            delivery: Where reminders stand.
            repairs_malformed: Whether the host answers malformed calls on the way to the model.
            can_end_run: Whether the adapter can end a run in place of the model's answer.
            asked_before_first_step: Whether the adapter is asked before the agent's first model
                call, too, and so sees what was there before.

        Raises:
            RepeatGuardSetupError: The settings ask for what the adapter cannot do.
            TypeError: `config` comes together with single options, or a setting has a wrong type.
            ValueError: An option breaks its rule.
        """
        if not isinstance(messages_key, str) or not messages_key:
            msg = f"messages_key must be the name of a state key, got {messages_key!r}"
            raise TypeError(msg)
        if messages_key == CHANNEL:
            msg = f"messages_key must not be {CHANNEL!r}: that key holds the guard's chain itself"
            raise ValueError(msg)
        function_option("is_user_prompt", is_user_prompt)
        self.config: RepeatGuardConfig = RepeatGuardConfig.resolve(config, options)
        if not can_end_run:
            refuse_to_end_runs(adapter, self.config, options)
        self.ends_at_limit: bool = (
            self.config.limit is not None and self.config.exit_behavior == "end"
        )
        self.messages_key = messages_key
        self.delivery: Delivery = check_delivery(delivery)
        self._repairs_malformed = repairs_malformed
        self._asked_before_first_step = asked_before_first_step
        self.failsafe: FailOpen = FailOpen(adapter)
        self._is_user_prompt = is_user_prompt or was_written_by_user
        self._has_seen_step = False

    def check(self, messages: Sequence[Any], carried: Carried | None) -> Verdict:
        """Return the verdict on `messages`; warn or end the run where it asks for that.

        Raises:
            RepeatLimitError: A chain has reached the limit, and is to end the run so.
        """
        verdict = self.judge(messages, carried)
        step = verdict.step
        # Before the first reminder: one that is refused may be in a checkpoint already.
        if step is not None and (verdict.due or not self._has_seen_step):
            self._check_sender(step.message)
        if verdict.at_limit and self.config.limit is not None and not self.ends_at_limit:
            tool, count = verdict.at_limit
            raise RepeatLimitError(tool=tool, count=count, limit=self.config.limit)
        return verdict

    def judge(self, messages: Sequence[Any], carried: Carried | None) -> Verdict:
        """Say what is due behind the last of `messages`, in the run in progress."""
        # Another graph may have begun: what stands in the messages already is then not the agent's.
        is_visit = never if carried is None else in_another_graph
        if carried is not None and not carried.counted:
            if not in_another_graph():
                is_visit = never
            elif carried.is_new and (self._asked_before_first_step or is_first_superstep()):
                return begin(messages, config=self.config, is_user_prompt=self._is_user_prompt)
        return judge(
            messages,
            carried,
            config=self.config,
            is_user_prompt=self._is_user_prompt,
            repairs_malformed=self._repairs_malformed,
            is_visit=is_visit,
        )

    def update(self, messages: Sequence[Any], stored: object) -> StateUpdate:
        """Return the state update that stores the reminder due now, and the chain.

        Args:
            messages: The state's messages.
            stored: What the state's channel holds.
        """
        carried = self.read_channel(stored)
        verdict = self.check(messages, carried)
        if verdict.at_limit:
            last = limit_message(*verdict.at_limit)
            update = StateUpdate({self.messages_key: [last]}, is_at_limit=True)
        elif verdict.due and verdict.step:
            answer = verdict.step.answers[0]
            update = self.store(self.deliver(verdict.due, verdict.message_id, answer))
        else:
            update = StateUpdate({})
        if verdict.carried != carried:
            update.values[CHANNEL] = verdict.carried.to_dict()
        return update

    def update_with(self, taken: TakenReminders | None, messages: Sequence[Any]) -> StateUpdate:
        """Return the state update that stores reminders which something else has found.

        Args:
            taken: The reminders, if there are any.
            messages: The state's messages.
        """
        if taken or not self._has_seen_step:
            senders = (one for one in reversed(messages) if _has_calls(one))
            if sender := next(senders, None):
                self._check_sender(sender)
        if taken is None:
            return StateUpdate({})
        last = messages[-1] if messages else None
        answer = last if isinstance(last, ToolMessage) else None
        return self.store(self.deliver(taken.due, taken.message_id, answer))

    def deliver(
        self, due: Sequence[DueReminder], message_id: str | None, answer: ToolMessage | None
    ) -> Delivered:
        """Return a step's reminder as it joins the messages.

        Args:
            due: What the step's calls have earned.
            message_id: Id of the step's AIMessage, if it has one.
            answer: The last tool message of the step, if there is one.
        """
        event = reminder_event(due, message_id)
        if self.delivery == "human_message" or answer is None:
            return Delivered(reminder_message(due, message_id), None, event)
        return Delivered(remind_in_tool_message(answer, due), answer, event)

    def store(self, reminder: Delivered) -> StateUpdate:
        """Return the state update that stores `reminder`; what cannot be stored is no event."""
        if reminder.replaced is not None and not reminder.replaced.id:
            self.failsafe.warn_once(
                "delivery",
                "cannot append to a tool message without id. delivery='tool_message' needs the "
                "reducer add_messages on the state's messages.",
            )
            return StateUpdate({})
        return StateUpdate({self.messages_key: [reminder.message]}, reminder.event)

    def check_model(self, model: object) -> None:
        """Log one warning if `model` is known to refuse what this guard delivers."""
        self._warn_of_refusal(refusing_model(model))

    def _check_sender(self, message: AIMessage) -> None:
        self._has_seen_step = True
        self._warn_of_refusal(refusing_sender(message))

    def _warn_of_refusal(self, chat_model: str | None) -> None:
        if chat_model is not None and self.delivery == "human_message":
            self.failsafe.warn_once(
                "refusal",
                f"delivers reminders as user messages, and the provider behind {chat_model} is "
                "known to refuse a user message behind tool results. Pass "
                "delivery='tool_message', which every provider accepts.",
            )

    def warn_of_missing_messages(self) -> None:
        """Log once that the state has no messages where the guard looks for them."""
        self.failsafe.warn_once(
            "messages",
            f"found no messages in the state under messages_key={self.messages_key!r}, and leaves "
            "the state alone. Pass the key that the graph keeps its messages under.",
        )

    def read_channel(self, stored: object) -> Carried:
        """Return what the state carries; what is not ours is replaced, with one log line."""
        try:
            return Carried.from_dict(stored)
        except RepeatGuardStateError:
            self.warn_of_foreign_state(stored)
            return Carried()

    def warn_of_foreign_state(self, value: object) -> None:
        """Log once that the state's channel holds something that no guard has written."""
        self.failsafe.warn_once(
            "state",
            f"found a {type(value).__name__} in the state key {CHANNEL!r} that it has not "
            "written, and replaces it. Keep that key free for the guard.",
        )
