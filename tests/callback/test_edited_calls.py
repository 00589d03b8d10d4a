"""Where calls are edited on their way from the model to the tools, their final form counts."""

from collections.abc import Callable, Sequence
from itertools import count, pairwise
from typing import Any

import pytest
from helpers.graphs import react_agent, summaries
from helpers.models import ScriptedModel, asks, call, repeats, says
from helpers.modes import Run
from helpers.tools import grep, ping
from helpers.watching import counts, watched, watcher
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, ModelResponse
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from langchain_repeat_guard import RepeatReminderNode

Edit = Callable[[AIMessage], AIMessage]
"""Makes of the model's message what is to count."""

MakeAgent = Callable[[list[AIMessage], Edit], Any]

GREP = {"pattern": "x"}
PROMPT = {"messages": [("user", "hi")]}


def first_only(message: AIMessage) -> AIMessage:
    return message.model_copy(update={"tool_calls": message.tool_calls[:1]})


def last_only(message: AIMessage) -> AIMessage:
    return message.model_copy(update={"tool_calls": message.tool_calls[-1:]})


def same_arguments(message: AIMessage) -> AIMessage:
    calls = [{**one, "args": GREP} for one in message.tool_calls]
    return message.model_copy(update={"tool_calls": calls})


def same_arguments_in_place(message: AIMessage) -> AIMessage:
    for one in message.tool_calls:
        one["args"]["pattern"] = "x"
    return message


def one_more(message: AIMessage) -> AIMessage:
    more = [{**one, "id": f"{one['id']}-more"} for one in message.tool_calls]
    return message.model_copy(update={"tool_calls": [*message.tool_calls, *more]})


def editing(edit: Edit) -> Callable[[Any], dict[str, Any]]:
    """Return a node that edits the calls of the last message."""

    def node(state: Any) -> dict[str, Any]:
        last = state["messages"][-1]
        return {"messages": [edit(last)] if last.tool_calls else []}

    return node


def deny_ping(state: Any, _: Any = None) -> dict[str, Any]:
    """Answer the first call of `ping` by hand."""
    asked = (one for one in state["messages"][-1].tool_calls if one["name"] == "ping")
    return {"messages": [ToolMessage("no", tool_call_id=one["id"]) for one in asked][:1]}


def drop_grep(state: Any, _: Any = None) -> dict[str, Any]:
    """Take the calls of `grep` out of the model's last message."""
    last = next(one for one in reversed(state["messages"]) if one.type == "ai")
    left = [one for one in last.tool_calls if one["name"] != "grep"]
    return {"messages": [last.model_copy(update={"tool_calls": left})]}


class AfterModel(AgentMiddleware[Any, Any]):
    """Does something to each message once it stands in the state."""

    def __init__(self, name: str, node: Callable[[Any], dict[str, Any]]) -> None:
        self._name, self._node = name, node

    @property
    def name(self) -> str:
        return self._name

    def after_model(self, state: Any, runtime: Any) -> dict[str, Any]:
        return self._node(state)


class AroundModel(AgentMiddleware[Any, Any]):
    """Edits each message before it comes into the state."""

    def __init__(self, edit: Edit) -> None:
        self._edit = edit

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        return self._edited(handler(request))

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        return self._edited(await handler(request))

    def _edited(self, response: Any) -> Any:
        return ModelResponse(result=[self._edit(one) for one in response.result])


class AsksTwice(AgentMiddleware[Any, Any]):
    """Has the model answer twice, and keeps one of the answers."""

    def __init__(self, kept: int) -> None:
        self._kept = kept

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        return [handler(request), handler(request)][self._kept]

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        return [await handler(request), await handler(request)][self._kept]


def loop_of(think: Any, *, before: Sequence[Any] = (), after: Sequence[Any] = ()) -> Any:
    """Return an agent of a model's node and tools, with nodes before and behind the tools."""
    nodes = [("think", think), *((f"before-{n}", node) for n, node in enumerate(before))]
    last = nodes[-1][0]
    behind = [("act", ToolNode([grep])), *((f"after-{n}", node) for n, node in enumerate(after))]
    graph = StateGraph(MessagesState)
    for name, node in (*nodes, *behind):
        graph.add_node(name, node)
    for (first, _), (second, _) in (*pairwise(nodes), *pairwise(behind)):
        graph.add_edge(first, second)
    graph.add_edge(START, "think")
    graph.add_conditional_edges(last, tools_condition, {"tools": "act", END: END})
    graph.add_edge(behind[-1][0], "think")
    return graph.compile()


def in_the_models_node(script: list[AIMessage], edit: Edit, **nodes: Any) -> Any:
    model = ScriptedModel(script=script)
    think = lambda state: {"messages": [edit(model.invoke(state["messages"]))]}  # noqa: E731
    return loop_of(think, **nodes)


def in_the_next_node(script: list[AIMessage], edit: Edit) -> Any:
    return in_the_models_node(script, lambda message: message, before=[editing(edit)])


def without_model_events(script: list[AIMessage]) -> Callable[[Any], dict[str, Any]]:
    """Return a model's node of which the handler sees nothing but what it writes."""
    turns, number = iter(script), count()
    return lambda _: {"messages": [next(turns).model_copy(update={"id": f"said-{next(number)}"})]}


def behind_plain_code(script: list[AIMessage], edit: Edit) -> Any:
    return loop_of(without_model_events(script), before=[editing(edit)])


def by_after_model(script: list[AIMessage], edit: Edit) -> Any:
    edits = AfterModel("edits", editing(edit))
    return create_agent(ScriptedModel(script=script), [grep], middleware=[edits])


def by_wrap_model_call(script: list[AIMessage], edit: Edit) -> Any:
    return create_agent(ScriptedModel(script=script), [grep], middleware=[AroundModel(edit)])


def by_post_model_hook(script: list[AIMessage], edit: Edit) -> Any:
    return react_agent(ScriptedModel(script=script), [grep], post_model_hook=editing(edit))


AGENTS = [
    in_the_models_node,
    in_the_next_node,
    behind_plain_code,
    by_after_model,
    by_wrap_model_call,
    by_post_model_hook,
]
DIFFERENT = [["a"], ["b"], ["c"]]
EDITS = [
    pytest.param(first_only, [["x", "x", "x"]] * 3, (2, 3), id="fewer-calls"),
    pytest.param(last_only, [["a", "x"], ["b", "x"]], (2,), id="only-the-last-call"),
    pytest.param(same_arguments, DIFFERENT, (2, 3), id="other-arguments"),
    pytest.param(same_arguments_in_place, DIFFERENT, (2, 3), id="other-arguments-in-place"),
    pytest.param(one_more, [["x"]] * 2, (2, 3, 4), id="more-calls"),
]


def script_of(steps: Sequence[Sequence[str]]) -> list[AIMessage]:
    issued = [asks(*[call("grep", {"pattern": text}) for text in step]) for step in steps]
    return [*issued, says("done")]


@pytest.mark.parametrize(("edit", "steps", "expected"), EDITS)
@pytest.mark.parametrize("make", AGENTS)
def test_the_final_form_counts(
    make: MakeAgent, edit: Edit, steps: list[list[str]], expected: tuple[int, ...], run: Run
) -> None:
    """Whoever edits the calls before the tools run, what is run counts."""
    handler = watcher()
    run(make(script_of(steps), edit), PROMPT, watched(handler))
    assert counts(handler) == [("grep", length) for length in expected]


def test_a_node_that_delivers_goes_by_the_final_form(run: Run) -> None:
    """The model is not told of calls that its node has dropped."""
    handler = watcher()
    remind = RepeatReminderNode(handler=handler)
    guarded = in_the_models_node(script_of([["x", "x", "x"]] * 3), first_only, after=[remind])
    messages = run(guarded, PROMPT, watched(handler))["messages"]
    assert summaries(messages) == ["grep × 2", "grep × 3"]


def test_records_have_the_final_arguments(run: Run) -> None:
    """`include_arguments` gives what the tool was called with."""
    handler = watcher(include_arguments=True)
    guarded = in_the_models_node(script_of(DIFFERENT[:2]), same_arguments)
    run(guarded, PROMPT, watched(handler))
    assert [record.arguments for record in handler.reminders] == [GREP]


def test_a_call_that_is_answered_stays_answered_when_another_is_dropped(run: Run) -> None:
    """Its place in the message changes; the step is complete once the last call has run."""
    script = [asks(call("grep", GREP), call("ping"), call("ping")), says("done")]
    edits: list[Any] = [AfterModel("drops", drop_grep), AfterModel("denies", deny_ping)]
    guarded = create_agent(ScriptedModel(script=script), [grep, ping], middleware=edits)
    handler = watcher()
    run(guarded, PROMPT, watched(handler))
    assert counts(handler) == [("ping", 2)]


def test_a_step_is_complete_when_its_last_open_call_is_dropped(run: Run) -> None:
    """No tool runs; what is answered counts."""
    script = [*(asks(call("ping"), call("grep", GREP)) for _ in range(3)), says("done")]
    graph = StateGraph(MessagesState)
    graph.add_node("think", without_model_events(script))
    graph.add_node("deny", deny_ping)
    graph.add_node("drop", drop_grep)
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", tools_condition, {"tools": "deny", END: END})
    graph.add_edge("deny", "drop")
    graph.add_edge("drop", "think")
    handler = watcher()
    run(graph.compile(), PROMPT, watched(handler))
    assert counts(handler) == [("ping", 2), ("ping", 3)]


@pytest.mark.parametrize("kept", [0, 1], ids=["first", "second"])
@pytest.mark.parametrize("call_id", ["", "same"], ids=["own-call-ids", "one-call-id"])
def test_an_answer_that_is_thrown_away_does_not_count(call_id: str, kept: int, run: Run) -> None:
    """The model is asked twice in each step; its call ids need not be unique."""
    script = [*(asks(call("grep", GREP, call_id)) for _ in range(6)), *[says("done")] * 2]
    model = ScriptedModel(script=script)
    handler = watcher()
    run(create_agent(model, [grep], middleware=[AsksTwice(kept)]), PROMPT, watched(handler))
    assert counts(handler) == [("grep", 2), ("grep", 3)]


def test_calls_that_run_inside_the_models_node_count_before_it_ends(run: Run) -> None:
    """A node that loops by itself is told in time."""
    model = ScriptedModel(script=[*repeats(3, "grep", GREP), says("done")])
    seen: list[list[tuple[str, int]]] = []
    handler = watcher()

    def work(state: MessagesState) -> dict[str, Any]:
        messages: list[Any] = list(state["messages"])
        while (answer := model.invoke(messages)).tool_calls:
            seen.append(counts(handler))
            messages += [answer, *[grep.invoke(one) for one in answer.tool_calls]]
        return {"messages": [*messages, answer]}

    graph = StateGraph(MessagesState)
    graph.add_node("work", work)
    graph.add_edge(START, "work")
    run(graph.compile(), PROMPT, watched(handler))
    assert (seen, counts(handler)) == ([[], [], [("grep", 2)]], [("grep", 2), ("grep", 3)])
