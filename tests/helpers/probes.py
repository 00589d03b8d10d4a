"""Each adapter as a function of a state, for inputs that no graph would produce."""

from collections.abc import Callable
from typing import Any

from langchain.agents.middleware import ModelRequest, ModelResponse
from langchain_core.messages import AIMessage

import langchain_repeat_guard as guard
from helpers.models import ScriptedModel

Probe = Callable[[dict[str, Any]], Any]
"""Takes a state, and returns what the adapter makes of it."""


def node(**options: Any) -> Probe:
    """Return the wrapped tools node: the newest tool messages of the state are its output."""
    return _wrapped(has_channel=False, **options)


def node_with_channel(**options: Any) -> Probe:
    """Return the wrapped tools node in a graph with a channel."""
    return _wrapped(has_channel=True, **options)


def _wrapped(*, has_channel: bool, **options: Any) -> Probe:
    output: dict[str, Any] = {}
    wrapped = guard.RepeatGuardNode(lambda _: {**output}, **options)

    def probe(state: dict[str, Any]) -> Any:
        before = {**state, "messages": state["messages"][:-1]}
        if not has_channel:
            del before["repeat_guard"]
        output["messages"] = state["messages"][-1:]
        return wrapped.invoke(before)

    return probe


def reminder_node(**options: Any) -> Probe:
    """Return the node that stands alone."""
    return guard.RepeatReminderNode(**options)


def middleware(**options: Any) -> Probe:
    """Return the middleware that stores its reminders."""
    stored: Any = guard.RepeatGuardMiddleware(**options)
    return lambda state: stored.before_model(state, None)


def transient_middleware(**options: Any) -> Probe:
    """Return the middleware that puts its reminders into requests; the result is the request."""
    transient: Any = guard.TransientRepeatGuardMiddleware(**options)

    def probe(state: dict[str, Any]) -> Any:
        requests: list[Any] = []

        def handler(request: Any) -> Any:
            requests.append(request.messages)
            return ModelResponse(result=[AIMessage("no")])

        request: Any = ModelRequest(
            model=ScriptedModel(), messages=list(state["messages"]), state=state
        )
        return requests, transient.wrap_model_call(request, handler)

    return probe


PROBES: dict[str, Callable[..., Probe]] = {
    "node": node,
    "node-with-channel": node_with_channel,
    "reminder-node": reminder_node,
    "middleware": middleware,
    "transient-middleware": transient_middleware,
}
"""A maker of a probe for each adapter; keyword options go to the guard."""
