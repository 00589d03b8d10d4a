"""What every adapter that sees messages needs: its settings, and verdicts that never raise."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from langchain_core.messages import ToolMessage
from langchain_core.runnables.config import ensure_config

from langchain_repeat_guard.core.config import RepeatGuardConfig
from langchain_repeat_guard.core.failsafe import FailOpen
from langchain_repeat_guard.errors import (
    RepeatGuardSetupError,
    RepeatGuardStateError,
    RepeatLimitError,
)
from langchain_repeat_guard.history.carried import CHANNEL, Carried
from langchain_repeat_guard.history.delivery import (
    Delivery,
    DueReminder,
    check_delivery,
    limit_message,
    remind_in_tool_message,
    reminder_message,
)
from langchain_repeat_guard.history.events import (
    ReminderEvent,
    reminder_event,
)
from langchain_repeat_guard.history.handover import TakenReminders
from langchain_repeat_guard.history.judge import Own, Verdict, judge
from langchain_repeat_guard.history.refusals import refusing_model, refusing_sender
from langchain_repeat_guard.history.steps import was_written_by_user


class StateUpdate(NamedTuple):
    """What an adapter writes to the state, and what it tells listeners."""

    values: dict[str, Any]
    event: ReminderEvent | None
    is_at_limit: bool
    """Whether the run is to end now; its last message is among `values`."""


class HistoryGuard:
    """One adapter's settings and its view of an agent's history."""

    def __init__(
        self,
        adapter: str,
        *,
        config: RepeatGuardConfig | None,
        options: dict[str, Any],
        messages_key: object,
        is_user_prompt: object,
        delivery: str,
        repairs_malformed: bool = False,
        can_end_run: bool = False,
        comes_first: bool = False,
    ) -> None:
        """Check the settings.

        Raises:
            TypeError: `config` comes together with single options, or a setting has a wrong type.
            ValueError: An option breaks its rule, or asks for what the adapter cannot do.
        """
        if not isinstance(messages_key, str) or not messages_key:
            msg = f"messages_key must be the name of a state key, got {messages_key!r}"
            raise TypeError(msg)
        if messages_key == CHANNEL:
            msg = f"messages_key must not be {CHANNEL!r}: that key holds the guard's chain itself"
            raise ValueError(msg)
        if is_user_prompt is not None and not callable(is_user_prompt):
            msg = f"is_user_prompt must be a function of a message, got {is_user_prompt!r}"
            raise TypeError(msg)
        self.config: RepeatGuardConfig = RepeatGuardConfig.resolve(config, options)
        self.ends_at_limit: bool = (
            self.config.limit is not None and self.config.exit_behavior == "end"
        )
        if self.ends_at_limit and not can_end_run:
            msg = (
                f"A {adapter} cannot end a run by exit_behavior='end': only the middlewares can. "
                "Use exit_behavior='error', which raises RepeatLimitError."
            )
            raise RepeatGuardSetupError(msg)
        self.messages_key = messages_key
        self.delivery: Delivery = check_delivery(delivery)
        self._repairs_malformed = repairs_malformed
        self._comes_first = comes_first
        self.failsafe: FailOpen = FailOpen(adapter)
        self._is_user_prompt = is_user_prompt or was_written_by_user
        self._has_seen_step = False

    def judge(self, messages: Sequence[Any], carried: Carried | None) -> Verdict:
        """Say what is due behind the last of `messages`.

        Raises:
            RepeatLimitError: A chain has reached the limit, and is to end the run so.
        """
        verdict = judge(
            messages,
            carried,
            config=self.config,
            is_user_prompt=self._is_user_prompt,
            repairs_malformed=self._repairs_malformed,
            own=self._own_steps(carried),
        )
        step = verdict.step
        if step is not None and (verdict.due or not self._has_seen_step):
            # Before the first reminder: one that is refused may be in a checkpoint already.
            self._has_seen_step = True
            self._warn_of_refusal(refusing_sender(step.message))
        if verdict.at_limit and self.config.limit is not None and not self.ends_at_limit:
            tool, count = verdict.at_limit
            raise RepeatLimitError(tool=tool, count=count, limit=self.config.limit)
        return verdict

    def _own_steps(self, carried: Carried | None) -> Own:
        """Tell which steps are this agent's, by where it runs: another graph may have begun."""
        if carried is None or carried.counted:
            return Own.ALL
        metadata = ensure_config().get("metadata") or {}
        if "|" not in str(metadata.get("langgraph_checkpoint_ns")):
            return Own.ALL
        is_first_superstep = metadata.get("langgraph_step") == 1
        return Own.NOTHING if self._comes_first or is_first_superstep else Own.NEWEST_STEP

    def update(self, messages: Sequence[Any], stored: object) -> StateUpdate:
        """Return the state update that stores the reminder due now, and the chain.

        Args:
            messages: The state's messages.
            stored: What the state's channel holds.
        """
        carried = self.read_channel(stored)
        verdict = self.judge(messages, carried)
        values: dict[str, Any] = {}
        event = None
        if verdict.at_limit:
            values[self.messages_key] = [limit_message(*verdict.at_limit)]
        elif verdict.due and verdict.step:
            answer = verdict.step.answers[0]
            if delivered := self._delivered(verdict.due, verdict.message_id, answer):
                values[self.messages_key] = delivered
                event = reminder_event(verdict.due, verdict.message_id)
        if verdict.carried != carried:
            values[CHANNEL] = verdict.carried.to_dict()
        return StateUpdate(values, event, is_at_limit=verdict.at_limit is not None)

    def update_with(self, taken: TakenReminders, messages: Sequence[Any]) -> StateUpdate:
        """Return the state update that stores reminders which something else has found.

        Args:
            taken: The reminders.
            messages: The state's messages.
        """
        last = messages[-1] if messages else None
        answer = last if isinstance(last, ToolMessage) else None
        delivered = self._delivered(taken.due, taken.message_id, answer)
        event = reminder_event(taken.due, taken.message_id) if delivered else None
        values = {self.messages_key: delivered} if delivered else {}
        return StateUpdate(values, event, is_at_limit=False)

    def _delivered(
        self, due: Sequence[DueReminder], message_id: str | None, answer: ToolMessage | None
    ) -> list[Any]:
        """Return the messages to store; `answer` is the last tool message of the step, if any."""
        if self.delivery == "human_message" or answer is None:
            return [reminder_message(due, message_id)]
        if not answer.id:
            self.failsafe.warn_once(
                "delivery",
                "cannot append to a tool message without id. delivery='tool_message' needs the "
                "reducer add_messages on the state's messages.",
            )
            return []
        return [remind_in_tool_message(answer, due)]

    def check_model(self, model: object) -> None:
        """Log one warning if `model` is known to refuse what this guard delivers."""
        self._warn_of_refusal(refusing_model(model))

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
            f"found a {type(value).__name__} in the state key 'repeat_guard' that it has not "
            "written, and replaces it. Keep that key free for the guard.",
        )
