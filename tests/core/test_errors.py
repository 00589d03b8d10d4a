"""The exceptions of this package."""

import pickle

import pytest

from langchain_repeat_guard import (
    MissingExtraError,
    RepeatGuardError,
    RepeatGuardSetupError,
    RepeatGuardStateError,
)

ERRORS = [
    pytest.param(
        RepeatGuardStateError({"password": "x"}, "a list"),
        (RepeatGuardError, ValueError),
        "The stored chain must be a list, got dict. Delete it or write it with to_dict().",
        id="state",
    ),
    pytest.param(
        RepeatGuardSetupError("Use a node."),
        (RepeatGuardError, ValueError),
        "Use a node.",
        id="setup",
    ),
    pytest.param(
        MissingExtraError("RepeatGuardMiddleware", "langchain"),
        (RepeatGuardError, ImportError),
        "RepeatGuardMiddleware needs an optional dependency: "
        'pip install "langchain-repeat-guard[langchain]"',
        id="missing-extra",
    ),
]


@pytest.mark.parametrize(("error", "bases", "message"), ERRORS)
def test_error(error: Exception, bases: tuple[type[Exception], ...], message: str) -> None:
    """Each is one of ours and of the built-in kind, and says what to do without showing values."""
    assert (all(isinstance(error, base) for base in bases), str(error)) == (True, message)


@pytest.mark.parametrize(("error", "bases", "message"), ERRORS)
def test_error_passes_between_processes(
    error: Exception, bases: tuple[type[Exception], ...], message: str
) -> None:
    """A pickled error comes back with its type, message and attributes."""
    copied = pickle.loads(pickle.dumps(error))
    assert (type(copied), str(copied), vars(copied)) == (type(error), message, vars(error))
