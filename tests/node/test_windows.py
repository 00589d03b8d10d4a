"""A state that keeps only the newest messages, none of which has an id."""

from typing import Annotated, Any

import pytest
from helpers.graphs import reminders
from helpers.models import asks, call, says
from langchain_core.messages import HumanMessage, ToolMessage
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

from langchain_repeat_guard import RepeatGuardNode, RepeatGuardState, RepeatReminderNode


def answer(state: Any) -> dict[str, list[ToolMessage]]:
    """Answer the last call."""
    call_id = state["messages"][-1].tool_calls[0]["id"]
    return {"messages": [ToolMessage("nothing", tool_call_id=call_id)]}


def counts_told(kept: int, *, is_wrapper: bool) -> list[int]:
    """Run 9 identical calls where the newest `kept` messages stay; return what was told."""
    told: list[int] = []
    seen: list[Any] = []

    class State(TypedDict):
        messages: Annotated[list[Any], lambda old, new: [*old, *new][-kept:]]

    class StateWithChannel(State, RepeatGuardState):
        pass

    def model(state: Any) -> dict[str, list[Any]]:
        found = reminders(state["messages"][-1:])
        told.extend(one.additional_kwargs["lc_data"]["reminders"][0]["count"] for one in found)
        seen.append(1)
        is_over = len(seen) > 9
        return {"messages": [says("done") if is_over else asks(call("grep", {}, f"c{len(seen)}"))]}

    graph = StateGraph(StateWithChannel if is_wrapper else State)
    graph.add_node("model", model)
    graph.add_node("tools", RepeatGuardNode(answer) if is_wrapper else answer)
    graph.add_node("remind", (lambda _: None) if is_wrapper else RepeatReminderNode())
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", lambda _: "tools" if len(seen) < 10 else "__end__")
    graph.add_edge("tools", "remind")
    graph.add_edge("remind", "model")
    graph.compile().invoke({"messages": [HumanMessage("go")]})
    return told


@pytest.mark.parametrize("kept", [3, 4, 5, 6, 7])
@pytest.mark.parametrize("is_wrapper", [True, False], ids=["wrapper", "node"])
def test_a_window_loses_no_reminder(kept: int, is_wrapper: bool) -> None:
    """The calls' ids tell a step from another that has come to its place in the list."""
    assert counts_told(kept, is_wrapper=is_wrapper) == [3, 5, 8]
