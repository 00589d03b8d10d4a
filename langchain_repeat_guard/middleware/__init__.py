"""The guard as a middleware of `langchain.agents.create_agent`."""

from langchain_repeat_guard.errors import MissingExtraError

try:
    from langchain.agents.middleware import ExtendedModelResponse as _  # noqa: F401
except ImportError as _error:
    raise MissingExtraError(feature="RepeatGuardMiddleware", extra="langchain") from _error

from langchain_repeat_guard.middleware.stored import RepeatGuardMiddleware
from langchain_repeat_guard.middleware.transient import TransientRepeatGuardMiddleware

__all__ = ["RepeatGuardMiddleware", "TransientRepeatGuardMiddleware"]
