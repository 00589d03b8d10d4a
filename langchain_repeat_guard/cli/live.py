"""A live model on a tool that never helps: once without the guard, once with it."""

from typing import Any

from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import BaseTool, tool

from langchain_repeat_guard.cli.agent import build_agent
from langchain_repeat_guard.cli.transcript import LiveRun, ReceivedRequests, steps_of
from langchain_repeat_guard.core.config import RepeatGuardConfig
from langchain_repeat_guard.history.delivery import is_reminder

TASK = "When will order 4711 arrive? Look it up and answer in one sentence."
UNHELPFUL_RESULT = "The order database is busy. No result yet, please try again."


class ModelSetupError(Exception):
    """A live model cannot be made: a missing package, a missing key, an unknown name."""


@tool
def lookup_order(order_id: str) -> str:
    """Look up an order by its number."""
    del order_id  # no order is ever found
    return UNHELPFUL_RESULT


def make_model(name: str, base_url: str | None) -> BaseChatModel:
    """Return the chat model `provider:name`, at `base_url` if one is given.

    Raises:
        ModelSetupError: The provider's package or key is missing, or the name is unknown.
    """
    options: dict[str, Any] = {"base_url": base_url} if base_url else {}
    try:
        model: BaseChatModel = init_chat_model(model=name, **options)
    except Exception as error:
        # Each provider has its own exception for a missing key.
        raise ModelSetupError(str(error)) from error
    return model


def run_live(
    model: BaseChatModel, config: RepeatGuardConfig, *, with_guard: bool, max_steps: int
) -> LiveRun:
    """Let `model` work on a tool that always returns the same unhelpful result.

    Args:
        model: A chat model that can call tools.
        config: What the guard tracks; without the guard, what is counted.
        with_guard: Whether the guard is in the graph.
        max_steps: How often the model is asked at most.
    """
    received = ReceivedRequests()
    tools: list[BaseTool] = [lookup_order]
    agent = build_agent(
        model.bind_tools(tools),
        tools,
        guard=config if with_guard else None,
        max_model_calls=max_steps,
    )
    prompt: Any = {"messages": [HumanMessage(TASK)]}
    messages = agent.invoke(prompt, {"callbacks": [received]})["messages"]
    if is_reminder(messages[-1]):
        messages = messages[:-1]  # the bound came first: no model has read it
    steps = steps_of([*received.requests, messages], config)
    counts = [call.count or 0 for step in steps for call in step.calls]
    return LiveRun(
        steps=steps,
        model_calls=len(received.requests),
        calls=len(counts),
        longest_repeat=max(counts, default=0),
        reminders=sum(map(is_reminder, received.requests[-1])),
        ended_by_itself=_is_answer(messages[-1]),
        final_answer=messages[-1].text if _is_answer(messages[-1]) else "",
    )


def _is_answer(message: object) -> bool:
    return isinstance(message, AIMessage) and not message.tool_calls
