"""The exceptions of this package.

RepeatGuardError
├── RepeatGuardStateError (ValueError)   a stored chain is not one of ours
├── RepeatGuardSetupError (ValueError)   an adapter is attached where it cannot work
├── RepeatLimitError                     an agent repeated itself up to the limit
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


class RepeatLimitError(RepeatGuardError):
    """An agent made the same call so often that its run was to be ended.

    Example:
        >>> error = RepeatLimitError(tool="grep", count=10, limit=10)
        >>> str(error).partition(". ")[0]
        "'grep' was called 10 times with the same arguments (limit=10)"
    """

    def __init__(self, *, tool: str, count: int, limit: int) -> None:
        """Keep the facts; the arguments of the call are not among them."""
        self.tool = tool
        self.count = count
        self.limit = limit
        super().__init__(
            f"{tool!r} was called {count} times with the same arguments (limit={limit}). "
            f"Raise limit, exempt the tool with exclude=({tool!r},), or leave limit out to have "
            "the model reminded only."
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Let it be pickled, so that it leaves a worker process whole."""
        return _limit_error, (self.tool, self.count, self.limit)


def _limit_error(tool: str, count: int, limit: int) -> RepeatLimitError:
    return RepeatLimitError(tool=tool, count=count, limit=limit)
