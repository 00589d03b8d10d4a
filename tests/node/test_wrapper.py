"""The guard around a tools node, in graphs as users build them."""

import copy
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from helpers.graphs import GUARDED, Place, Playback, misplaced, react_agent, reminders, summaries
from helpers.models import ScriptedModel, asks, call, repeats, says
from helpers.tools import ask_human, broken, fetch, finish, grep
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, InjectedToolCallId, tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedState, InjectedStore, ToolNode, ToolRuntime, tools_condition
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command, RetryPolicy, Send

from langchain_repeat_guard import RepeatGuardNode, RepeatReminderNode

THREAD: Any = {"configurable": {"thread_id": "t"}}
GREP = {"pattern": "a"}
SAID: Any = {"messages": [HumanMessage("hi")]}


def agent(
    tools_node: Any, script: Any, *, state: type[Any] = MessagesState, **options: Any
) -> tuple[Any, ScriptedModel]:
    """Return an agent with a guarded tools node, and its model."""
    model = ScriptedModel(script=script)
    builder = StateGraph(state)
    builder.add_node("model", lambda given: {"messages": [model.invoke(given["messages"])]})
    builder.add_node("tools", tools_node)
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", tools_condition)
    builder.add_edge("tools", "model")
    return builder.compile(**options), model


async def use(app: Any, given: Any, *, is_async: bool) -> Any:
    """Run `app` on a thread."""
    return await app.ainvoke(given, THREAD) if is_async else app.invoke(given, THREAD)


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("tools", [[grep], [fetch, grep]], ids=["sync-tool", "both-kinds"])
async def test_model_reads_the_reminder_before_its_next_answer(
    tools: list[BaseTool], *, is_async: bool
) -> None:
    """Directly behind the third result; no later request holds another one."""
    app, model = agent(RepeatGuardNode(ToolNode(tools)), [*repeats(4, "grep", GREP), says("done")])
    output = await use(app, SAID, is_async=is_async)
    assert [len(reminders(request)) for request in model.requests] == [0, 0, 0, 1, 1]
    assert [one.type for one in model.requests[3]][-3:] == ["ai", "tool", "human"]
    assert misplaced(output["messages"]) == []


async def test_async_tool_and_async_function() -> None:
    """An async function is awaited."""

    async def tools(state: MessagesState, config: RunnableConfig) -> Any:
        return await ToolNode([fetch]).ainvoke(state, config)

    app, _ = agent(RepeatGuardNode(tools), [*repeats(3, "fetch", {"url": "u"}), says("done")])
    output = await app.ainvoke(SAID)
    assert len(reminders(output["messages"])) == 1


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda node: node.with_config(tags=["x"])]
)
def test_copies_work(copied: Callable[[Any], Any]) -> None:
    """A host may copy the node, or bind a config to it."""
    node = copied(RepeatGuardNode(ToolNode([grep]), thresholds=(2,)))
    app, _ = agent(node, [*repeats(2, "grep", GREP), says("done")])
    assert len(reminders(app.invoke(SAID)["messages"])) == 1


def test_full_state_reaches_the_tools() -> None:
    """Keys, store and runtime that tools ask for."""
    seen: list[Any] = []

    class State(MessagesState):
        topic: str

    @tool
    def look(
        state: Annotated[dict[str, Any], InjectedState],
        topic: Annotated[str, InjectedState("topic")],
        store: Annotated[BaseStore, InjectedStore()],
    ) -> str:
        """Look around."""
        seen.extend([sorted(state), topic, type(store)])
        return "ok"

    @tool
    def run(runtime: ToolRuntime) -> str:
        """Look around by the runtime."""
        seen.append(runtime.state["topic"])
        return "ok"

    node = RepeatGuardNode(ToolNode([look, run]))
    script = [asks(call("look"), call("run")), says("done")]
    app, _ = agent(node, script, state=State, store=InMemoryStore())
    app.invoke({**SAID, "topic": "cats"})
    assert seen[-1] == "cats" or seen[0] == "cats"
    assert sorted(map(str, seen)) == sorted(
        map(str, [["messages", "topic"], "cats", InMemoryStore, "cats"])
    )


class TestLastWord:
    """No reminder where no model will read it."""

    @staticmethod
    def route(state: MessagesState) -> str:
        """End where the results are for the user, as `create_react_agent` does."""
        for message in reversed(state["messages"]):
            if not isinstance(message, ToolMessage):
                break
            if message.name == "finish":
                return END
        return "model"

    def app(self, tools_node: Any, script: Any) -> Any:
        model = ScriptedModel(script=script)
        builder = StateGraph(MessagesState)
        builder.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
        builder.add_node("tools", tools_node)
        builder.add_edge(START, "model")
        builder.add_edge("model", "tools")
        builder.add_conditional_edges("tools", self.route)
        return builder.compile()

    @pytest.mark.parametrize(
        "wrap",
        [
            pytest.param(lambda node: node, id="tool-node"),
            pytest.param(lambda node: node.with_config(tags=["x"]), id="binding"),
            pytest.param(lambda node: node.with_retry(), id="retry"),
        ],
    )
    @pytest.mark.parametrize("delivery", ["human_message", "tool_message"])
    def test_return_direct(self, wrap: Any, delivery: Any) -> None:
        """The run ends with the tool's result, word for word."""
        node = RepeatGuardNode(wrap(ToolNode([finish, grep])), thresholds=(2,), delivery=delivery)
        both = [call("finish", {"answer": "42"}), call("finish", {"answer": "42"})]
        messages = self.app(node, [asks(*both)]).invoke(SAID)["messages"]
        assert [one.type for one in messages] == ["human", "ai", "tool", "tool"]
        assert messages[-1].content == "42"

    def test_step_with_one_such_call_beside_others(self) -> None:
        """It ends the run too."""
        node = RepeatGuardNode(ToolNode([finish, grep]), thresholds=(2,))
        calls = [call("grep", GREP), call("grep", GREP), call("finish", {"answer": "42"})]
        messages = self.app(node, [asks(*calls)]).invoke(SAID)["messages"]
        assert [one.type for one in messages][2:] == ["tool"] * 3

    def test_chain_goes_on(self) -> None:
        """Only the reminder is left out, not the count."""
        agent = Playback("around-tools-with-channel", ToolNode([finish]), thresholds=(2, 3))
        messages = agent.run(repeats(3, "finish", {"answer": "42"}), "hi")
        assert reminders(messages) == []
        values = agent.app.get_state({"configurable": {"thread_id": "thread"}}).values
        assert values["repeat_guard"]["chain"]["count"] == 3


class TestHandOff:
    """A tool of a subgraph gives the run back to the parent."""

    @pytest.mark.parametrize("channel", [False, True], ids=["no-channel", "channel"])
    def test_hand_off_goes_through(self, *, channel: bool) -> None:
        """The parent gets the Command as the tool has written it, and no reminder."""

        @tool
        def hand_off(tool_call_id: Annotated[str, InjectedToolCallId]) -> Any:
            """Give the run to another agent."""
            answer = ToolMessage("gone", tool_call_id=tool_call_id)
            return Command(graph=Command.PARENT, goto="other", update={"messages": [answer]})

        place: Place = "around-tools-with-channel" if channel else "around-tools"
        child = Playback(place, ToolNode([hand_off]), thresholds=(2,), checkpointer=False)
        child.queue([asks(call("hand_off"))])
        parent = StateGraph(MessagesState)
        parent.add_node("child", child.app, destinations=("other",))
        parent.add_node("other", lambda _: {"messages": [AIMessage("taken")]})
        parent.add_edge(START, "child")
        parent.add_edge("other", END)
        asked = asks(call("hand_off", {}, "c"))
        before: Any = [HumanMessage("hi"), asked, ToolMessage("gone", tool_call_id="c")]
        output = parent.compile().invoke({"messages": before})
        assert [one.content for one in output["messages"]][-2:] == ["gone", "taken"]
        assert reminders(output["messages"]) == []

    def test_results_beside_a_hand_off_pass_untouched(self) -> None:
        """Even if they complete a step that has earned a reminder."""
        turn = asks(call("grep", GREP), call("grep", GREP))
        answers = [ToolMessage("x", tool_call_id=str(one["id"])) for one in turn.tool_calls]
        result = [Command(graph=Command.PARENT, goto="other"), {"messages": answers}]
        node = RepeatGuardNode(lambda _: result, thresholds=(2,))
        assert node.invoke({"messages": [turn]}) is result

    def test_messages_for_the_parent_do_not_count_here(self) -> None:
        """They answer the call in the parent's state, not in this one."""
        turn = asks(call("grep", GREP, "c"))
        update = {"messages": [ToolMessage("gone", tool_call_id="c")]}
        result = [Command(graph=Command.PARENT, goto="other", update=update)]
        node = RepeatGuardNode(lambda _: result)
        assert node.invoke({"messages": [turn], "repeat_guard": {}}) is result


class TestControlFlow:
    """Interrupts and exceptions pass through."""

    @pytest.mark.parametrize("place", GUARDED)
    @pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
    async def test_interrupt_and_resume(self, place: Place, *, is_async: bool) -> None:
        """The step counts once, when it is answered; the reminder comes then."""
        agent = Playback(place, ToolNode([ask_human]))
        agent.queue(repeats(3, "ask_human", {"question": "ok?"}))
        output = await use(agent.app, SAID, is_async=is_async)
        for expected in (0, 0, 1):
            assert [one.value for one in output["__interrupt__"]] == ["ok?"]
            output = await use(agent.app, Command(resume="yes"), is_async=is_async)
            assert len(reminders(output["messages"])) == expected
        assert "__interrupt__" not in output
        assert misplaced(output["messages"]) == []

    @pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
    async def test_exception_of_a_tool(self, *, is_async: bool) -> None:
        """It is the same one as without the guard."""
        script = [asks(call("broken", {"reason": "boom"}))]
        app, _ = agent(RepeatGuardNode(ToolNode([broken], handle_tool_errors=False)), script)
        with pytest.raises(RuntimeError, match="boom"):
            await use(app, SAID, is_async=is_async)

    def test_retried_node_counts_once(self) -> None:
        """A retry policy runs the whole wrapped node again."""
        failures = iter([True, True, False, False, False])

        def tools(state: MessagesState) -> Any:
            if next(failures):
                raise ConnectionError
            return ToolNode([grep]).invoke(state)

        model = ScriptedModel(script=[*repeats(3, "grep", GREP), says("done")])
        builder = StateGraph(MessagesState)
        builder.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
        policy = RetryPolicy(max_attempts=3, initial_interval=0.0, backoff_factor=1.0, jitter=False)
        builder.add_node("tools", RepeatGuardNode(tools), retry_policy=policy)
        builder.add_edge(START, "model")
        builder.add_conditional_edges("model", tools_condition)
        builder.add_edge("tools", "model")
        messages = builder.compile().invoke(SAID)["messages"]
        assert [one.id for one in reminders(messages)] == [f"repeat_guard:{messages[5].id}"]


REMEDY = (
    "RepeatGuardNode got a single tool call from a Send fan-out and passes it through: no reminder "
    "can stand between parallel results. Put a RepeatReminderNode between the tools and the model, "
    "or use pre_model_hook or RepeatGuardMiddleware."
)


class TestFanOut:
    """A Send fan-out gives a tools node one call at a time."""

    @staticmethod
    def app(node: Any, payload: Callable[[Any, Any], Any], *, reminder_node: bool = False) -> Any:
        model = ScriptedModel(script=[*repeats(1, "grep", GREP), asks(*three()), says("done")])
        builder = StateGraph(MessagesState)
        builder.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
        builder.add_node("tools", node)

        def fan_out(state: MessagesState) -> Any:
            last = state["messages"][-1]
            assert isinstance(last, AIMessage)
            sends = [Send("tools", payload(one, state)) for one in last.tool_calls]
            return sends or END

        builder.add_edge(START, "model")
        builder.add_conditional_edges("model", fan_out, ["tools", END])
        if reminder_node:
            builder.add_node("remind", RepeatReminderNode())
            builder.add_edge("tools", "remind")
            builder.add_edge("remind", "model")
        else:
            builder.add_edge("tools", "model")
        return builder.compile()

    @pytest.mark.parametrize(
        "payload",
        [
            pytest.param(lambda one, _: [one], id="list-with-the-call"),
            pytest.param(
                lambda one, state: {
                    "__type": "tool_call_with_context",
                    "tool_call": one,
                    "state": state,
                },
                id="call-with-its-state",
            ),
        ],
    )
    @pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
    async def test_single_calls_pass_through(
        self, payload: Any, caplog: pytest.LogCaptureFixture, *, is_async: bool
    ) -> None:
        """No reminder between results, and one log line that names the remedy."""
        app = self.app(RepeatGuardNode(ToolNode([grep])), payload)
        output = await use(app, SAID, is_async=is_async)
        kinds = [one.type for one in output["messages"]]
        assert kinds == ["human", "ai", "tool", "ai", "tool", "tool", "tool", "ai"]
        assert [one.getMessage() for one in caplog.records] == [REMEDY]

    def test_remedy_works(self) -> None:
        """A node behind the fan-out sees the whole step."""
        app = self.app(ToolNode([grep]), lambda one, _: [one], reminder_node=True)
        messages = app.invoke(SAID)["messages"]
        kinds = [one.type for one in messages]
        assert kinds == ["human", "ai", "tool", "ai", "tool", "tool", "tool", "human", "ai"]
        assert summaries(messages)[0].endswith("3")

    def test_result_is_the_same_object(self) -> None:
        """Whatever the node returns."""
        result = {"messages": [ToolMessage("x", tool_call_id="c")]}
        node = RepeatGuardNode(lambda _: result, thresholds=(2,))
        assert node.invoke([{"type": "tool_call", "name": "a", "args": {}, "id": "c"}]) is result

    def test_react_agent_of_the_second_version(self) -> None:
        """R71: two parallel calls behind an equal one; the hook reminds before the next answer."""
        script = [*repeats(1, "grep", GREP), asks(*three()[:2]), says("done")]
        model = ScriptedModel(script=script)
        app = react_agent(model, [grep], pre_model_hook=RepeatReminderNode(), version="v2")
        kinds = [one.type for one in app.invoke(SAID)["messages"]]
        assert kinds == ["human", "ai", "tool", "ai", "tool", "tool", "human", "ai"]


def three() -> list[Any]:
    return [call("grep", GREP) for _ in range(3)]


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({"messages": [*repeats(1, "grep", GREP)]}, id="state"),
        pytest.param([*repeats(1, "grep", GREP)], id="list-state"),
        pytest.param([], id="empty-list"),
    ],
)
def test_any_input_reaches_the_wrapped_node(given: Any, caplog: pytest.LogCaptureFixture) -> None:
    """As the same object."""
    seen: list[Any] = []
    assert RepeatGuardNode(seen.append).invoke(given) is None
    assert seen[0] is given
    assert caplog.records == []


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({"other": 1}, id="state-without-messages"),
        pytest.param({"messages": "text"}, id="messages-of-another-type"),
        pytest.param(None, id="nothing"),
    ],
)
def test_input_without_messages_reaches_the_wrapped_node(
    given: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """As the same object; that the guard has nothing to read is told once."""
    seen: list[Any] = []
    node = RepeatGuardNode(seen.append)
    assert [node.invoke(given), node.invoke(given)] == [None, None]
    assert seen == [given, given]
    (record,) = caplog.records
    assert "no messages in the state under messages_key='messages'" in record.getMessage()


@pytest.mark.parametrize(
    "container", [list, tuple, lambda one: one[0]], ids=["list", "tuple", "one"]
)
def test_messages_of_a_state_without_reducer(container: Any) -> None:
    """A list, a tuple, or a single message."""
    calls = [call("grep", GREP, "c0"), call("grep", GREP, "c1")]
    answers = [ToolMessage("ok", tool_call_id=f"c{number}") for number in range(2)]
    node = RepeatGuardNode(lambda _: {"messages": answers}, thresholds=(2,))
    output = node.invoke({"messages": container([asks(*calls, id="m")])})
    assert output["messages"][:2] == answers
    assert len(reminders(output["messages"])) == 1


def test_guards_at_both_places_remind_once() -> None:
    """A second guard that nobody could see when it was built adds nothing."""
    model = ScriptedModel(script=[*repeats(8, "grep", GREP), says("done")])
    builder = StateGraph(MessagesState)
    builder.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    builder.add_node("tools", RepeatGuardNode(ToolNode([grep])))
    builder.add_node("remind", RepeatReminderNode())
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", tools_condition)
    builder.add_edge("tools", "remind")
    builder.add_edge("remind", "model")
    messages = builder.compile().invoke(SAID)["messages"]
    assert [one.split()[-1] for one in summaries(messages)] == ["3", "5", "8"]


def test_graph_with_both_nodes_can_be_drawn() -> None:
    """The nodes are runnables like any other."""
    for place in GUARDED:
        assert "tools" in Playback(place).app.get_graph().draw_mermaid()


def test_messages_of_one_agent_are_never_rebuilt() -> None:
    """R53: reasoning and usage stay on the model's messages, in every delivery."""
    turns = [
        AIMessage(
            "",
            id=f"m{number}",
            tool_calls=[call("grep", GREP, f"c{number}")],
            additional_kwargs={"reasoning_content": "r1"},
            response_metadata={"finish_reason": "tool_calls"},
            usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
        )
        for number in range(3)
    ]
    deliveries: list[Any] = ["human_message", "tool_message"]
    for place in GUARDED:
        for delivery in deliveries:
            messages: list[AnyMessage] = Playback(place, delivery=delivery).run(turns, "hi")
            assert [one for one in messages if one.type == "ai"] == turns
