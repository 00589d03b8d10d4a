"""The middleware whose reminders are part of every request and never of the state."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import cached_property
from typing import Any
from uuid import UUID

from langchain.agents.middleware import (
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
)
from langchain_core.runnables.config import ensure_config, get_callback_manager_for_config
from langgraph.types import Command

from langchain_repeat_guard.history.carried import CHANNEL
from langchain_repeat_guard.history.events import ReminderEvent, asend_event, send_event
from langchain_repeat_guard.history.transient import Prepared, prepare
from langchain_repeat_guard.middleware.base import GuardMiddleware
from langchain_repeat_guard.middleware.listening import ModelInputs

_EVENTS_REMEMBERED = 1000

_Request = ModelRequest[Any]
_Response = ModelResponse[Any]
_Result = _Response | ExtendedModelResponse[Any]


class TransientRepeatGuardMiddleware(GuardMiddleware):
    """Puts a reminder into the model's requests when the model repeats itself; stores none.

    The state's messages stay as the user and the model wrote them. A private channel of the state
    remembers where reminders are due, and each request gets them at those places, so that what the
    provider sees is only ever appended to, also after resume, forks and summaries. Where the
    results behind which a reminder stood are gone, it is gone too. Adds no superstep.

    List it behind every middleware that edits `request.messages`. It logs one warning where it
    sees that one behind it in the list does.

    Args:
        config: Settings, or single settings by name as `options`.
        is_user_prompt: Tells a user's prompt from other human messages. By default, a message
            without notification metadata (`additional_kwargs["lc_source"]`) is one.
        delivery: `"human_message"` adds a message of its own behind the tool messages.
            `"tool_message"` appends to the last of them, for models that refuse the former.
        options: Fields of `RepeatGuardConfig`.

    Raises:
        RepeatLimitError: In a run, at `limit` with `exit_behavior="error"`.
        TypeError: `config` comes together with options, or an option has a wrong type.
        ValueError: An option breaks its rule.

    Example:
        >>> from langchain.agents import create_agent
        >>> from langchain_core.language_models import FakeListChatModel
        >>> guard = TransientRepeatGuardMiddleware(thresholds=(3, 6))
        >>> agent = create_agent(FakeListChatModel(responses=["Done."]), middleware=[guard])
        >>> agent.invoke({"messages": [("user", "Go.")]})["messages"][-1].content
        'Done.'
    """

    _checked_model: object = None
    """The last model that was looked at."""

    def wrap_model_call(
        self, request: _Request, handler: Callable[[_Request], _Response]
    ) -> _Result:
        """Call the model with the reminders that are due, and remember them with its answer."""
        run = self._guard.failsafe.run
        prepared = run(self._prepare, request)
        if prepared is None:
            return handler(request)
        if prepared.last_message is not None:
            return _remember(prepared, ModelResponse(result=[prepared.last_message]))
        if prepared.event is not None:
            run(send_event, prepared.event)
        if prepared.messages is None:
            response = handler(request)
        else:
            inputs = run(ModelInputs.join)
            try:
                response = handler(request.override(messages=prepared.messages))
            finally:
                run(self._leave, inputs)
            run(self._check_place, prepared.messages, inputs)
        return run(_remember, prepared, response) or response

    async def awrap_model_call(
        self, request: _Request, handler: Callable[[_Request], Awaitable[_Response]]
    ) -> _Result:
        """Do as `wrap_model_call` does, asynchronously."""
        run = self._guard.failsafe.run
        prepared = run(self._prepare, request)
        if prepared is None:
            return await handler(request)
        if prepared.last_message is not None:
            return _remember(prepared, ModelResponse(result=[prepared.last_message]))
        if prepared.event is not None:
            await self._guard.failsafe.arun(asend_event, prepared.event)
        if prepared.messages is None:
            response = await handler(request)
        else:
            inputs = run(ModelInputs.join)
            try:
                response = await handler(request.override(messages=prepared.messages))
            finally:
                run(self._leave, inputs)
            run(self._check_place, prepared.messages, inputs)
        return run(_remember, prepared, response) or response

    def _prepare(self, request: _Request) -> Prepared:
        if request.model is not self._checked_model:
            self._checked_model = request.model
            self._guard.check_model(request.model)
        state: Any = request.state
        prepared = prepare(self._guard, state["messages"], request.messages, state.get(CHANNEL))
        if prepared.event is None or self._is_news(prepared.event):
            return prepared
        return replace(prepared, event=None)

    @cached_property
    def _told(self) -> dict[tuple[UUID | None, str], object]:
        """Of what the listeners of which node's run were told."""
        return {}

    def _is_news(self, event: ReminderEvent) -> bool:
        """Tell whether listeners were not told yet: a middleware outside may retry the request."""
        if len(self._told) >= _EVENTS_REMEMBERED:
            self._told.clear()
        node_run = get_callback_manager_for_config(ensure_config()).parent_run_id
        mine = object()
        # One step for all threads, and no lock, which could not be copied.
        return self._told.setdefault((node_run, event["reminder_id"]), mine) is mine

    def _leave(self, inputs: ModelInputs | None) -> None:
        if inputs is not None:
            inputs.leave()

    def _check_place(self, sent: list[Any], inputs: ModelInputs | None) -> None:
        if inputs is not None and inputs.show_edit_of(sent):
            self._guard.failsafe.warn_once(
                "place",
                "found that a middleware behind it in the list edits request.messages after the "
                "reminders were put in. List it last among those that edit them.",
            )


def _remember(prepared: Prepared, response: _Response) -> _Result:
    if prepared.channel is None:
        return response
    return ExtendedModelResponse(
        model_response=response, command=Command(update={CHANNEL: prepared.channel})
    )
