"""The exceptions of this package.

RepeatGuardError
├── RepeatGuardStateError (ValueError)   a stored chain is not one of ours
├── RepeatGuardSetupError (ValueError)   an adapter is attached where it cannot work
└── MissingExtraError (ImportError)      an optional dependency is not installed

Options that break a rule raise `pydantic.ValidationError`, which is a `ValueError` too.
"""

from typing import Any


class RepeatGuardError(Exception):
    """Base of every exception that this package raises."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Let the exception pass between processes, although it is built from other arguments."""
        return type(self).__new__, (type(self), *self.args), self.__dict__


class RepeatGuardStateError(RepeatGuardError, ValueError):
    """A stored value is not what this package has written. Its content is never shown.

    Example:
        >>> str(RepeatGuardStateError([1], "a dict"))
        'The stored chain must be a dict, got list. Delete it or write it with to_dict().'
    """

    def __init__(self, value: object, rule: str) -> None:
        """Name the type of `value` and the `rule` it breaks."""
        self.rule = rule
        super().__init__(
            f"The stored chain must be {rule}, got {type(value).__name__}. "
            "Delete it or write it with to_dict()."
        )


class RepeatGuardSetupError(RepeatGuardError, ValueError):
    """An adapter was built or attached in a way that cannot work. The message says what does."""


class MissingExtraError(RepeatGuardError, ImportError):
    """An optional dependency is missing.

    Example:
        >>> print(MissingExtraError("The demo", "cli"))
        The demo needs an optional dependency: pip install "langchain-repeat-guard[cli]"
    """

    def __init__(self, feature: str, extra: str) -> None:
        """Say which `pip install` brings `feature`."""
        self.extra = extra
        super().__init__(
            f'{feature} needs an optional dependency: pip install "langchain-repeat-guard[{extra}]"'
        )
