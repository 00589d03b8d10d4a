"""Real agents of `create_agent` with a guard and a scripted model."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import BaseMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from helpers.laws import check_order
from helpers.models import ScriptedModel, Turn
from helpers.modes import Run
from helpers.pictures import picture, pictures, without_reminders
from helpers.tools import grep
from langchain_repeat_guard import TransientRepeatGuardMiddleware

MakeGuard = Callable[..., Any]
"""The class of one of the two middlewares."""

GuardLog = Callable[[], list[str]]
"""Returns what the guard has logged so far."""

Arrange = Callable[[Any], list[Any]]
"""Puts the guard among other middlewares."""


@dataclass
class Scene:
    """One agent on one thread, and what was seen of it."""

    agent: Any
    model: ScriptedModel
    guard: Any
    run: Run
    config: dict[str, Any] = field(default_factory=lambda: {"configurable": {"thread_id": "1"}})

    def prompt(self, text: str = "go") -> dict[str, Any]:
        """Send a prompt, and run until the end or an interrupt."""
        return self._checked(self.run(self.agent, {"messages": [("user", text)]}, self.config))

    def resume(self, value: Any) -> dict[str, Any]:
        """Answer an interrupt."""
        return self._checked(self.run(self.agent, Command(resume=value), self.config))

    def go_on(self) -> dict[str, Any]:
        """Continue a run that broke off."""
        return self._checked(self.run(self.agent, None, self.config))

    @property
    def state(self) -> dict[str, Any]:
        """All channels of the newest checkpoint, the guard's included."""
        values: dict[str, Any] = self.agent.get_state(self.config).values
        return values

    @property
    def messages(self) -> list[BaseMessage]:
        """The messages of the newest checkpoint."""
        found: list[BaseMessage] = self.state["messages"]
        return found

    @property
    def seen(self) -> list[str]:
        """Pictures of all requests to the model."""
        return pictures(self.model.requests)

    @property
    def stored(self) -> str:
        """Picture of the messages in the newest checkpoint."""
        return picture(self.messages)

    def as_stored(self, drawn: str) -> str:
        """Return the picture of a state whose requests look like `drawn`."""
        if isinstance(self.guard, TransientRepeatGuardMiddleware):
            return without_reminders(drawn)
        return drawn

    def _checked(self, output: dict[str, Any]) -> dict[str, Any]:
        for request in self.model.requests:
            check_order(request)
        return output


def make_scene(
    guard: Any,
    run: Run,
    script: Sequence[Turn],
    *,
    tools: Sequence[Any] = (grep,),
    arrange: Arrange = lambda guard: [guard],
    **options: Any,
) -> Scene:
    """Build an agent with `guard`, a saver, and a model that plays `script`."""
    model = ScriptedModel(script=script)
    options.setdefault("checkpointer", InMemorySaver())
    agent = create_agent(model, list(tools), middleware=arrange(guard), **options)
    return Scene(agent, model, guard, run)
