"""What every adapter that sees messages needs: its settings, and verdicts that never raise."""

from collections.abc import Sequence
from typing import Any

from langchain_repeat_guard.core.config import RepeatGuardConfig
from langchain_repeat_guard.core.failsafe import FailOpen
from langchain_repeat_guard.errors import RepeatGuardStateError
from langchain_repeat_guard.history.carried import CHANNEL, Carried
from langchain_repeat_guard.history.delivery import Delivery, check_delivery
from langchain_repeat_guard.history.judge import Verdict, judge
from langchain_repeat_guard.history.steps import was_written_by_user


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
    ) -> None:
        """Check the settings.

        Raises:
            TypeError: `config` comes together with single options, or a setting has a wrong type.
            ValueError: An option breaks its rule.
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
        self.config = RepeatGuardConfig.resolve(config, options)
        self.messages_key = messages_key
        self.delivery: Delivery = check_delivery(delivery)
        self.failsafe = FailOpen(adapter)
        self._is_user_prompt = is_user_prompt or was_written_by_user

    def judge(self, messages: Sequence[Any], carried: Carried | None) -> Verdict:
        """Say what is due behind the last of `messages`."""
        return judge(messages, carried, config=self.config, is_user_prompt=self._is_user_prompt)

    def read_channel(self, stored: object) -> Carried:
        """Return what the state carries; what is not ours is replaced, with one log line."""
        try:
            return Carried.from_dict(stored)
        except RepeatGuardStateError:
            self.failsafe.warn_once(
                "state",
                f"found a {type(stored).__name__} in the state key 'repeat_guard' that it has not "
                "written, and replaces it. Keep that key free for the guard.",
            )
            return Carried()
