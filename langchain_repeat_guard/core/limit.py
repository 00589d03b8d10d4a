"""Which adapters can keep what `limit` asks for."""

from collections.abc import Collection

from langchain_repeat_guard.core.config import RepeatGuardConfig
from langchain_repeat_guard.errors import RepeatGuardSetupError


def refuse_to_end_runs(adapter: str, config: RepeatGuardConfig, options: Collection[str]) -> None:
    """Refuse settings that ask an adapter for what only the middlewares can do.

    Args:
        adapter: Name of the adapter, which cannot end a run through its normal path.
        config: The settings in force.
        options: The names of those that were set one by one.

    Raises:
        RepeatGuardSetupError: The settings ask for `exit_behavior="end"`.
    """
    is_asked = config.limit is not None or "exit_behavior" in options
    if is_asked and config.exit_behavior == "end":
        msg = (
            f"A {adapter} cannot end a run by exit_behavior='end': only the middlewares can. "
            "Use exit_behavior='error', which raises RepeatLimitError."
        )
        raise RepeatGuardSetupError(msg)
