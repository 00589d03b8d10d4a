"""What a node gets of the handler, to put it in front of the model."""

import asyncio
import logging
from typing import Any

import pytest
from helpers.models import ScriptedModel, asks, call, repeats, says
from helpers.modes import Run
from helpers.tools import grep, read
from helpers.watching import counts, lines_beside_reminders, watched, watcher
from langchain.agents import create_agent
from langchain_core.language_models import FakeListLLM
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import RetryPolicy

from langchain_repeat_guard import (
    RepeatGuardCallbackHandler,
    RepeatGuardConfig,
    RepeatReminderNode,
    is_reminder,
)
from langchain_repeat_guard.callback.reporting import Reporter
from langchain_repeat_guard.core.texts import FIRST_TEXT

GREP = {"pattern": "x"}
PROMPT = {"messages": [("user", "hi")]}


def guarded(model: ScriptedModel, remind: Any, *, before: str = "think", policy: Any = None) -> Any:
    """Return an agent with the node before its model, or before its tools."""
    graph = StateGraph(MessagesState)
    graph.add_node("think", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("act", ToolNode([grep, read]))
    graph.add_node("remind", remind, retry_policy=policy)
    graph.add_edge(START, "think")
    names = {"think": ("act", "remind", "think"), "act": ("remind", "act", "think")}
    first, second, third = names[before]
    graph.add_conditional_edges("think", tools_condition, {"tools": first, END: END})
    graph.add_edge(first, second)
    graph.add_edge(second, third)
    return graph.compile()


def kinds(messages: list[Any]) -> list[str]:
    return ["reminder" if is_reminder(message) else message.type for message in messages]


def test_the_reminder_stands_behind_the_answers_once(run: Run) -> None:
    """Each reminder is delivered once, behind the last tool message of its step."""
    handler = RepeatGuardCallbackHandler(thresholds=(2, 4))
    two = [asks(call("grep", GREP), call("read", {"path": "a"}), call("read", {"path": "a"}))]
    model = ScriptedModel(script=[*two, *repeats(2, "grep", GREP), says("done")])
    result = run(guarded(model, RepeatReminderNode(handler=handler)), PROMPT, watched(handler))
    step = ["ai", "tool"]
    assert (kinds(result["messages"]), counts(handler)) == (
        ["human", "ai", "tool", "tool", "tool", "reminder", *step, *step, "reminder", "ai"],
        [("read", 2), ("grep", 2)],
    )


def test_the_delivered_reminder_has_the_id_of_its_step(run: Run) -> None:
    """It is the id that the record has, so that both can be told to be one reminder."""
    handler = RepeatGuardCallbackHandler(thresholds=(2,))
    model = ScriptedModel(script=[*repeats(2, "grep", GREP), says("done")])
    messages = run(guarded(model, RepeatReminderNode(handler=handler)), PROMPT, watched(handler))[
        "messages"
    ]
    [reminder] = [message for message in messages if is_reminder(message)]
    [record] = handler.reminders
    assert (reminder.id, reminder.content) == (record.reminder_id, FIRST_TEXT)


def test_the_event_comes_from_the_node_alone() -> None:
    """Where a node delivers, the handler sends no event of its own."""
    handler = RepeatGuardCallbackHandler(thresholds=(2,))
    model = ScriptedModel(script=[*repeats(2, "grep", GREP), says("done")])
    agent = guarded(model, RepeatReminderNode(handler=handler))
    events = list(agent.stream(PROMPT, watched(handler), stream_mode="custom"))
    assert [event["reminder_id"] for event in events] == [handler.reminders[0].reminder_id]


def test_a_retry_of_the_node_gets_it_again(run: Run) -> None:
    """A node that fails after it took the reminder does not lose it."""
    handler = RepeatGuardCallbackHandler(thresholds=(2,))
    deliver = RepeatReminderNode(handler=handler)
    attempts: list[int] = []

    def remind(state: MessagesState, config: RunnableConfig) -> dict[str, Any]:
        update: dict[str, Any] = deliver.invoke(state, config)
        attempts.append(1)
        if len(attempts) == 2:  # the first attempt with something to deliver
            raise ConnectionError
        return update

    policy = RetryPolicy(max_attempts=2, initial_interval=0.0001, jitter=False)
    model = ScriptedModel(script=[*repeats(2, "grep", GREP), says("done")])
    agent = guarded(model, remind, policy=policy)
    messages = run(agent, PROMPT, watched(handler))["messages"]
    assert (kinds(messages).count("reminder"), counts(handler)) == (1, [("grep", 2)])


def test_nothing_is_taken_between_calls_and_their_answers(run: Run) -> None:
    """In front of the tools nothing may be said; the reminder waits for its place."""
    handler = RepeatGuardCallbackHandler(thresholds=(2,))
    model = ScriptedModel(script=[*repeats(3, "grep", GREP), says("done")])
    agent = guarded(model, RepeatReminderNode(handler=handler), before="act")
    messages = run(agent, PROMPT, watched(handler))["messages"]
    assert (kinds(messages).count("reminder"), counts(handler)) == (0, [("grep", 2)])


def test_a_graph_without_tool_messages_gets_it_last(run: Run) -> None:
    """Where tools are called from text, only the handler knows of the calls."""
    handler = RepeatGuardCallbackHandler(thresholds=(2,))
    model = FakeListLLM(responses=["grep x"] * 3 + ["done"])

    def think(state: MessagesState) -> dict[str, Any]:
        return {"messages": [("ai", model.invoke(state["messages"]))]}

    def act(state: MessagesState) -> dict[str, Any]:
        return {"messages": [("ai", str(grep.invoke(GREP)))]}

    graph = StateGraph(MessagesState)
    graph.add_node("think", think)
    graph.add_node("act", act)
    graph.add_node("remind", RepeatReminderNode(handler=handler))
    graph.add_edge(START, "think")
    graph.add_conditional_edges(
        "think", lambda state: END if state["messages"][-1].content == "done" else "act"
    )
    graph.add_edge("act", "remind")
    graph.add_edge("remind", "think")
    messages = run(graph.compile(), PROMPT, watched(handler))["messages"]
    assert (kinds(messages), counts(handler)) == (
        ["human", "ai", "ai", "ai", "ai", "reminder", "ai", "ai", "ai"],
        [("grep", 2)],
    )


def test_the_right_agent_gets_it(run: Run) -> None:
    """One handler, two agents with such a node: each is told of its own calls only."""
    handler = watcher(thresholds=(2,))
    inner_model = ScriptedModel(script=[*repeats(2, "grep", GREP), says("found")] * 2)
    inner = guarded(inner_model, RepeatReminderNode(handler=handler))
    seen: list[Any] = []

    @tool
    def delegate(order: str) -> str:
        """Have another agent do it."""
        seen.append(kinds(inner.invoke({"messages": [("user", order)]})["messages"]))
        return "found"

    outer = ScriptedModel(script=[*repeats(2, "delegate", {"order": "x"}), says("done")])
    graph = StateGraph(MessagesState)
    graph.add_node("think", lambda state: {"messages": [outer.invoke(state["messages"])]})
    graph.add_node("act", ToolNode([delegate]))
    graph.add_node("remind", RepeatReminderNode(handler=handler))
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", tools_condition, {"tools": "act", END: END})
    graph.add_edge("act", "remind")
    graph.add_edge("remind", "think")
    messages = run(graph.compile(), PROMPT, watched(handler))["messages"]
    one = ["human", "ai", "tool", "ai", "tool", "reminder", "ai"]
    assert (seen, kinds(messages)) == ([one, one], one)


def test_nothing_is_taken_where_nothing_is_due(run: Run) -> None:
    """Where the handler found nothing, the node has nothing to do."""
    handler = RepeatGuardCallbackHandler(thresholds=(3,))
    model = ScriptedModel(script=[*repeats(2, "grep", GREP), says("done")])
    agent = guarded(model, RepeatReminderNode(handler=handler))
    assert kinds(run(agent, PROMPT, watched(handler))["messages"]).count("reminder") == 0


@pytest.mark.faults_expected
def test_a_handler_that_does_not_watch_the_run_is_told(
    run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    """Given to the node alone it finds nothing: one line says so."""
    handler = RepeatGuardCallbackHandler(thresholds=(3,))
    model = ScriptedModel(script=[*repeats(5, "grep", GREP), says("done")])
    messages = run(guarded(model, RepeatReminderNode(handler=handler)), PROMPT)["messages"]
    assert kinds(messages).count("reminder") == 0
    (record,) = caplog.records
    assert "a handler that does not watch this run" in record.getMessage()


def test_an_agent_without_the_node_still_reports(run: Run) -> None:
    """Nodes elsewhere change nothing for other agents of the same handler."""
    handler = watcher(thresholds=(2,))
    RepeatReminderNode(handler=handler)
    agent = create_agent(ScriptedModel(script=[*repeats(2, "grep", GREP), says()]), [grep])
    run(agent, PROMPT, watched(handler))
    assert counts(handler) == [("grep", 2)]


def test_runs_at_once_in_one_loop_get_their_own() -> None:
    """What is due travels by the run, not by the context of a task."""
    handler = watcher(thresholds=(2,))

    def turn(messages: list[Any]) -> Any:
        done = kinds(messages).count("ai") == 2
        return says("done") if done else asks(call("grep", {"pattern": messages[0].content}))

    agent = guarded(ScriptedModel(script=turn), RepeatReminderNode(handler=handler))

    async def both() -> list[Any]:
        prompts = [{"messages": [("user", text)]} for text in "ab"]
        return await asyncio.gather(*[agent.ainvoke(one, watched(handler)) for one in prompts])

    results = asyncio.run(both())
    assert [kinds(result["messages"]) for result in results] == [
        ["human", "ai", "tool", "ai", "tool", "reminder", "ai"]
    ] * 2


def test_settings_belong_to_the_handler() -> None:
    """The node takes none beside a handler, which counts."""
    handler = RepeatGuardCallbackHandler()
    for settings in ({"thresholds": (2,)}, {"config": RepeatGuardConfig()}):
        with pytest.raises(TypeError, match="to the handler: it counts"):
            RepeatReminderNode(handler=handler, **settings)


def test_a_handler_of_another_kind_is_refused() -> None:
    """It has to hand over what is due."""
    with pytest.raises(TypeError, match="must be a RepeatGuardCallbackHandler, got object"):
        RepeatReminderNode(handler=object())  # type: ignore[arg-type]


def test_it_can_be_delivered_in_the_tool_message(run: Run) -> None:
    """As by any node."""
    handler = RepeatGuardCallbackHandler(thresholds=(2,))
    model = ScriptedModel(script=[*repeats(2, "grep", GREP), says("done")])
    node = RepeatReminderNode(handler=handler, delivery="tool_message")
    messages = run(guarded(model, node), PROMPT, watched(handler))["messages"]
    assert kinds(messages) == ["human", "ai", "tool", "ai", "tool", "ai"]
    assert messages[4].content.endswith(FIRST_TEXT)


class RaisingHandler(logging.Handler):
    """A host's own, which is broken."""

    def emit(self, record: logging.LogRecord) -> None:
        """Refuse the line."""
        raise RuntimeError(record.getMessage())


def test_a_failing_log_handler_loses_no_reminder(run: Run) -> None:
    """It is delivered and told by all other ways."""
    told: list[int] = []
    handler = RepeatGuardCallbackHandler(
        thresholds=(2,), on_reminder=lambda record: told.append(record.count)
    )
    model = ScriptedModel(script=[*repeats(2, "grep", GREP), says("done")])
    agent = guarded(model, RepeatReminderNode(handler=handler))
    logger = logging.getLogger("langchain_repeat_guard")
    broken = RaisingHandler()
    logger.addHandler(broken)
    try:
        messages = run(agent, PROMPT, watched(handler))["messages"]
    finally:
        logger.removeHandler(broken)
    assert (kinds(messages).count("reminder"), counts(handler), told) == (1, [("grep", 2)], [2])


@pytest.mark.faults_expected
def test_a_failing_report_loses_no_reminder(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever goes wrong in the report, the node has what to deliver."""

    def fails(*_: Any) -> None:
        raise ValueError

    monkeypatch.setattr(Reporter, "tell", fails)
    handler = RepeatGuardCallbackHandler(thresholds=(2,))
    model = ScriptedModel(script=[*repeats(2, "grep", GREP), says("done")])
    agent = guarded(model, RepeatReminderNode(handler=handler))
    messages = run(agent, PROMPT, watched(handler))["messages"]
    assert kinds(messages).count("reminder") == 1


def test_the_settings_in_force_are_those_of_the_handler() -> None:
    """A node that delivers for it says by what it counts."""
    handler = RepeatGuardCallbackHandler(thresholds=(2, 7))
    assert RepeatReminderNode(handler=handler).config is handler.config


REFUSES = (
    "RepeatReminderNode delivers reminders as user messages, and the provider behind ChatMistralAI "
    "is known to refuse a user message behind tool results. Pass delivery='tool_message', which "
    "every provider accepts."
)


@pytest.mark.faults_expected
@pytest.mark.parametrize(
    ("delivery", "expected"),
    [
        pytest.param("human_message", [REFUSES], id="user-message"),
        pytest.param("tool_message", [], id="tool-message"),
    ],
)
def test_a_provider_that_refuses_is_named_at_the_first_call(
    run: Run, delivery: Any, expected: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Long before a reminder is due."""
    handler = RepeatGuardCallbackHandler()
    turns = [*repeats(2, "grep", GREP), says("done")]
    for turn in turns:
        turn.response_metadata["model_provider"] = "mistralai"
    agent = guarded(
        ScriptedModel(script=turns), RepeatReminderNode(handler=handler, delivery=delivery)
    )
    run(agent, PROMPT, watched(handler))
    assert lines_beside_reminders(caplog) == expected
