"""While the transient guard listens, nothing of its own stands between agent and model."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from helpers.agents import GuardLog, make_scene
from helpers.faults import broken, functions_of
from helpers.models import repeats, says
from helpers.modes import Run
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage
from langchain_core.runnables.config import var_child_runnable_config

from langchain_repeat_guard import TransientRepeatGuardMiddleware

FUNCTIONS = dict(functions_of("middleware").values())
LISTENING = [
    "middleware.listening.ModelInputs.__init__",
    "middleware.listening.ModelInputs.join",
    "middleware.listening.ModelInputs.leave",
    "middleware.listening.ModelInputs.show_edit_of",
    "middleware.transient.TransientRepeatGuardMiddleware._leave",
    "middleware.transient.TransientRepeatGuardMiddleware._check_place",
]


@pytest.mark.parametrize("name", LISTENING)
def test_the_answer_is_kept_whatever_fails(name: str, run: Run, guard_log: GuardLog) -> None:
    """The model's reply to the reminder is the agent's answer, and one line tells of the fault."""
    scene = make_scene(
        TransientRepeatGuardMiddleware(), run, [*repeats(3, "grep"), says("done", id="z")]
    )
    with broken(FUNCTIONS[name], "secret") as calls:
        output = scene.prompt()
    assert (output["messages"][-1].id, len(calls), len(guard_log())) == ("z", 1, 1)
    assert scene.seen[-1] == "hatatatR3"


class Outside(AgentMiddleware[Any, Any, Any]):
    """Notes what leaves the guard, and in which context."""

    def __init__(self) -> None:
        self.errors: list[Exception] = []
        self.contexts: list[Any] = []

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        """Note it."""
        with self._noting():
            return handler(request)

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        """Note it."""
        with self._noting():
            return await handler(request)

    @contextmanager
    def _noting(self) -> Iterator[None]:
        before = var_child_runnable_config.get()
        try:
            yield
        except ConnectionError as error:
            self.errors.append(error)
            raise
        finally:
            self.contexts.append(var_child_runnable_config.get() is before)


def test_exceptions_of_the_model_pass_through(run: Run) -> None:
    """The very object, and the guard has stopped to listen."""
    error = ConnectionError("mine")

    def fails(_: Any) -> AIMessage:
        raise error

    outside = Outside()
    scene = make_scene(
        TransientRepeatGuardMiddleware(),
        run,
        [*repeats(3, "grep"), fails],
        arrange=lambda one: [outside, one],
    )
    with pytest.raises(ConnectionError):
        scene.prompt()
    assert (outside.errors, outside.contexts) == ([error], [True] * 4)
    assert outside.errors[0] is error
