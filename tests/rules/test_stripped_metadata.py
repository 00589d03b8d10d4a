"""Reminders are known by their text, own ones too, where a graph strips the metadata (law L8)."""

from collections.abc import Callable
from typing import Annotated, Any

import pytest
from helpers.models import ScriptedModel, repeats, says
from helpers.modes import Run
from helpers.rules import OWN_FIRST, OWN_LATER, history_with
from helpers.tools import grep
from langchain_core.messages import AnyMessage, HumanMessage
from langchain_core.runnables import RunnableLambda
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import ToolNode, tools_condition
from typing_extensions import TypedDict

from langchain_repeat_guard import (
    RepeatGuardCallbackHandler,
    RepeatGuardConfig,
    RepeatGuardNode,
    RepeatReminderNode,
    scan,
)
from langchain_repeat_guard.core.texts import FIRST_TEXT
from langchain_repeat_guard.history.judge import judge
from langchain_repeat_guard.scanning import FoundReminder, RunRecord, compare
from langchain_repeat_guard.scanning import Run as RecordedRun
from langchain_repeat_guard.scanning.scan import scan_with_each

STRIPPING: Any = add_messages
OWN = {"thresholds": (2, 4), "first_reminder": OWN_FIRST, "later_reminder": OWN_LATER}
PROMPT = {"messages": [HumanMessage("go")]}
OWN_SAID = "Call 2 of grep brought nothing new (2). Braces: {}."
OPTIONS = [
    pytest.param({"thresholds": (2, 4)}, id="default-texts"),
    pytest.param(OWN, id="own-texts"),
]


class State(TypedDict):
    """Messages that lose their metadata."""

    messages: Annotated[list[AnyMessage], STRIPPING(format="langchain-openai")]


def around_tools(model: ScriptedModel, options: dict[str, Any]) -> Any:
    return _graph(model, RepeatGuardNode(ToolNode([grep]), **options), None)


def before_model(model: ScriptedModel, options: dict[str, Any]) -> Any:
    return _graph(model, ToolNode([grep]), RepeatReminderNode(**options))


def _graph(model: ScriptedModel, tools: Any, between: Any) -> Any:
    graph = StateGraph(State)
    graph.add_node("think", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("act", tools)
    graph.add_node("between", between or (lambda _: None))
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", tools_condition, {"tools": "act", END: END})
    graph.add_edge("act", "between")
    graph.add_edge("between", "think")
    return graph.compile()


def counts(messages: list[Any], options: dict[str, Any]) -> list[int]:
    """Return the counts that a scan of the messages reminds of."""
    found = scan([RecordedRun(messages)], RepeatGuardConfig(**options))
    return [one.reminder.count for one in found if isinstance(one, FoundReminder)]


@pytest.mark.parametrize("make", [around_tools, before_model])
@pytest.mark.parametrize("options", OPTIONS)
def test_all_agree_on_a_run_without_metadata(
    make: Callable[..., Any], options: dict[str, Any], run: Run
) -> None:
    """Node, handler, judge and scan: the chain goes on behind a reminder."""
    model = ScriptedModel(script=[*repeats(4, "grep", {"pattern": "x"}), says("done")])
    handler = RepeatGuardCallbackHandler(**options)
    messages = run(make(model, options), PROMPT, {"callbacks": [handler]})["messages"]
    assert [one.additional_kwargs for one in messages if one.type == "human"] == [{}] * 3
    told = [index for index, one in enumerate(messages) if one.type == "human"]
    assert told == [0, 5, 10]
    assert [one.count for one in handler.reminders] == [2, 4]
    assert counts(messages, options) == [2, 4]
    config = RepeatGuardConfig(**options)
    judged = [judge(messages[:place], None, config=config) for place in told[1:]]
    assert [[one.reminder.count for one in verdict.due] for verdict in judged] == [[2], [4]]


@pytest.mark.parametrize(
    "reminder",
    [
        pytest.param(HumanMessage(OWN_SAID), id="message"),
        pytest.param(HumanMessage([{"type": "text", "text": OWN_SAID}]), id="blocks"),
        pytest.param({"role": "user", "content": OWN_SAID}, id="openai"),
        pytest.param({"type": "human", "data": {"content": OWN_SAID}}, id="messages-to-dict"),
    ],
)
def test_scan_knows_own_texts(reminder: Any) -> None:
    """In each form of a message; without the own texts it is a prompt, as in the adapters."""
    assert counts(history_with(4, reminder), OWN) == [2, 4]
    assert counts(history_with(4, reminder), {"thresholds": (2, 4)}) == [2, 2]


def test_a_scan_with_two_settings_knows_the_own_texts_of_each() -> None:
    """One reading of the calls serves both."""
    plain, own = RepeatGuardConfig(thresholds=(2, 4)), RepeatGuardConfig(**OWN)
    runs = [RecordedRun(history_with(4, HumanMessage(OWN_SAID)))]
    for pair, expected in (((plain, own), (2, 4)), ((own, plain), (4, 2))):
        found = [one for _, one in scan_with_each(runs, pair) if isinstance(one, RunRecord)]
        assert tuple(one.longest and one.longest.count for one in found) == expected


def test_a_rule_for_prompts_is_not_asked_about_own_texts() -> None:
    """`is_user_prompt` judges what is no reminder, once for all settings that agree on that."""
    asked: list[object] = []

    def is_user_prompt(message: HumanMessage) -> bool:
        asked.append(message.content)
        return True

    config = RepeatGuardConfig(**OWN)
    runs = [RecordedRun(history_with(4, HumanMessage(OWN_SAID)))]
    compare(runs, config, RepeatGuardConfig(**OWN), is_user_prompt=is_user_prompt)
    assert asked == ["go"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param([{"type": "text", "text": FIRST_TEXT}], [2, 4], id="text"),
        pytest.param([{"type": "image", "text": FIRST_TEXT}], [2, 2], id="other-block"),
    ],
)
def test_scan_reads_blocks_as_the_adapters_do(content: Any, expected: list[int]) -> None:
    """Only a block of type text says something."""
    messages = history_with(4, HumanMessage(content))
    options = {"thresholds": (2, 4)}
    verdict = judge(messages, None, config=RepeatGuardConfig(thresholds=(2, 4)))
    assert counts(messages, options) == expected
    assert [one.reminder.count for one in verdict.due] == expected[1:]


def test_a_reminder_that_another_node_writes_is_no_prompt(run: Run) -> None:
    """The handler knows its own text in what a node has written."""
    model = ScriptedModel(script=[*repeats(4, "grep", {"pattern": "x"}), says("done")])
    handler = RepeatGuardCallbackHandler(**OWN)

    def remind(state: State) -> dict[str, Any]:
        is_second = len(state["messages"]) == len(["go", "call", "answer", "call", "answer"])
        return {"messages": [("user", OWN_SAID)] if is_second else []}

    run(_graph(model, ToolNode([grep]), remind), PROMPT, {"callbacks": [handler]})
    assert [one.count for one in handler.reminders] == [2, 4]


def test_a_reminder_in_a_request_is_no_prompt(run: Run) -> None:
    """The handler knows its own text in what a model is shown by code of the user's."""
    model = ScriptedModel(script=[*repeats(4, "grep", {"pattern": "x"}), says("done")])
    handler = RepeatGuardCallbackHandler(**OWN)

    def loop(_: object) -> int:
        shown: list[AnyMessage] = [HumanMessage("go")]
        while calls := (answer := model.invoke(shown)).tool_calls:
            shown += [answer, *[grep.invoke(one) for one in calls]]
            shown += [HumanMessage(OWN_SAID)] if len(model.requests) == 2 else []
        return len(shown)

    run(RunnableLambda(loop), "go", {"callbacks": [handler]})
    assert [one.count for one in handler.reminders] == [2, 4]


def test_the_handler_s_rule_for_prompts_is_not_asked_about_own_texts(run: Run) -> None:
    """Neither by a node that takes what is due, nor where a model is asked."""
    model = ScriptedModel(script=[*repeats(3, "grep", {"pattern": "x"}), says("done")])
    asked: list[object] = []

    def is_user_prompt(message: HumanMessage) -> bool:
        asked.append(message.content)
        return True

    options: dict[str, Any] = {**OWN, "thresholds": (2,), "is_user_prompt": is_user_prompt}
    handler = RepeatGuardCallbackHandler(**options)
    node = RepeatReminderNode(handler=handler)
    graph = StateGraph(State)
    graph.add_node("think", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("act", ToolNode([grep]))
    graph.add_node("remind", node)
    graph.add_node("remind_again", node)
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", tools_condition, {"tools": "act", END: END})
    graph.add_edge("act", "remind")
    graph.add_edge("remind", "remind_again")
    graph.add_edge("remind_again", "think")
    messages = run(graph.compile(), PROMPT, {"callbacks": [handler]})["messages"]
    assert [one.content for one in messages if one.type == "human"] == ["go", OWN_SAID]
    assert asked == []
