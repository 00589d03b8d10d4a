"""A reminder is found in a trace by ids alone; the trace here is LangSmith's own, kept offline."""

from typing import Any

from helpers.models import ScriptedModel, asks, call, repeats, says
from helpers.modes import Run
from helpers.tools import grep
from helpers.watching import watched
from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler

from langchain_repeat_guard import RepeatGuardCallbackHandler

GREP = {"pattern": "x"}
PROMPT = {"messages": [("user", "hi")]}


def runs_below(run: Any) -> list[Any]:
    return [run, *(inner for child in run.child_runs for inner in runs_below(child))]


def test_the_record_names_runs_of_the_trace(run: Run) -> None:
    """`run_id` is the trace, `agent_run_id` the run of the agent in it."""
    inner: Any = create_agent(
        ScriptedModel(script=[*repeats(3, "grep", GREP), says("found")]), [grep], name="searcher"
    )

    @tool
    def delegate(order: str) -> str:
        """Have another agent do it."""
        return str(inner.invoke({"messages": [("user", order)]})["messages"][-1].content)

    outer = ScriptedModel(script=[asks(call("delegate", {"order": "x"})), says("done")])
    handler, collector = RepeatGuardCallbackHandler(), RunCollectorCallbackHandler()
    config = {"callbacks": [handler, collector]}
    run(create_agent(outer, [delegate], name="boss"), PROMPT, config)
    [record], [trace] = handler.reminders, collector.traced_runs
    found = {one.id: one for one in runs_below(trace)}
    assert (trace.id, trace.name, found[record.agent_run_id].name) == (
        record.run_id,
        "boss",
        "searcher",
    )


def test_the_last_call_of_the_chain_is_found_below_the_agent(run: Run) -> None:
    """The model's run whose answer issued the call has the call's id in its outputs."""
    handler, collector = RepeatGuardCallbackHandler(), RunCollectorCallbackHandler()
    agent = create_agent(ScriptedModel(script=[*repeats(3, "grep", GREP), says("done")]), [grep])
    run(agent, PROMPT, {**watched(handler), "callbacks": [handler, collector]})
    [record], [trace] = handler.reminders, collector.traced_runs
    models = [one for one in runs_below(trace) if one.run_type == "llm"]
    issued = [str(record.tool_call_id) in str(one.outputs) for one in models]
    assert issued == [False, False, True, False]
