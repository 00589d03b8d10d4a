"""What a scan says about runs, and that it says what the adapters do."""

from pathlib import Path
from typing import Any

import pytest
from helpers.models import ScriptedModel, asks, call, repeats, says
from helpers.recorded import GREP, READ, langchain_run, openai_run, openai_step
from helpers.tools import grep, read
from langchain_core.messages import BaseMessage, HumanMessage
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

import langchain_repeat_guard
from langchain_repeat_guard import RepeatGuardConfig, RepeatGuardNode, is_reminder, read_runs, scan
from langchain_repeat_guard.scanning import (
    Chained,
    FoundReminder,
    Place,
    Problem,
    Run,
    RunRecord,
    Summary,
    ToolFigures,
    compare,
)

PLACE = Place("runs.jsonl", line=4, run_id="r1")


def reminders(messages: list[Any], **options: Any) -> list[tuple[str, int]]:
    """Return summary and place of the reminders in one run."""
    found = scan([Run(messages)], RepeatGuardConfig(**options))
    return [
        (one.reminder.summary, one.after_message) for one in found if isinstance(one, FoundReminder)
    ]


def test_reminders_and_figures_of_a_run() -> None:
    """Reminders come as they fall, with their place; the figures of the run come behind them."""
    run = Run(openai_run(*[GREP] * 6, READ), PLACE)
    first, second, record = scan([run])
    assert isinstance(first, FoundReminder)
    assert isinstance(second, FoundReminder)
    assert (first.place, first.agent, first.call_number, first.tool_call_id) == (PLACE, "", 3, "c0")
    assert [(one.reminder.summary, one.after_message) for one in (first, second)] == [
        ("grep × 3", 6),
        ("grep × 5", 10),
    ]
    # Call 4 came after a prompt of 7 characters and three rounds.
    each_round = len("grep") + len('{"pattern": "TODO"}') + len("none")
    before_the_fourth = 7 + 3 * each_round
    assert record == RunRecord(
        place=PLACE,
        agent="",
        tools={
            "grep": ToolFigures(
                calls=6,
                longest=6,
                reminders={3: 1, 5: 1},
                wasted=3,
                resent_chars=3 * before_the_fourth + 3 * each_round,
            ),
            "read": ToolFigures(calls=1, longest=1),
        },
        longest=Chained(tool="grep", count=6, message=11),
        unanswered=0,
    )
    assert (record.calls, record.reminders, record.wasted) == (7, 2, 3)


def test_call_with_new_arguments_beside_a_repeat_is_no_waste_of_a_request() -> None:
    """Characters count as re-sent only where a request brought nothing but wasted calls."""
    steps = [*openai_run(*[GREP] * 3), *openai_step(GREP, READ)]
    *_, record = scan([Run(steps)])
    assert isinstance(record, RunRecord)
    assert (record.tools["grep"].wasted, record.resent_chars) == (1, 0)


def test_prompt_starts_anew() -> None:
    """A user's prompt resets the chain; so does nothing else."""
    half = openai_run(GREP, GREP)
    assert reminders(half + half) == []
    assert reminders(half + half[1:]) == [("grep × 3", 6)]


def test_incomplete_step_does_not_count() -> None:
    """Calls without their answers are told apart from those that count."""
    messages = [*openai_run(GREP, GREP), *openai_step(GREP, GREP, answered=False)]
    *found, record = scan([Run(messages)])
    assert isinstance(record, RunRecord)
    assert (found, record.calls, record.unanswered) == ([], 2, 2)


def test_untracked_tools_are_transparent() -> None:
    """An excluded tool is listed with its calls, and neither counts nor breaks a chain."""
    messages = openai_run(GREP, READ, GREP, READ, GREP)
    found, record = scan([Run(messages)], RepeatGuardConfig(exclude=("read",)))
    assert isinstance(found, FoundReminder)
    assert isinstance(record, RunRecord)
    assert record.tools["read"] == ToolFigures(calls=2)


def test_runs_share_nothing() -> None:
    """Each run starts with an empty chain."""
    run = openai_run(GREP, GREP)
    assert [type(one) for one in scan([Run(run), Run(run)])] == [RunRecord, RunRecord]


def with_agent(agent: str, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return `messages` as those of one agent among several."""
    return [{**message, "agent": agent} for message in messages]


def test_agents_of_a_record_have_chains_of_their_own() -> None:
    """Two agents whose steps interleave do not add up, and do not break each other's chain."""
    turns = with_agent("a", openai_step(GREP)) + with_agent("b", openai_step(GREP))
    found = [one for one in scan([Run(turns * 3)]) if isinstance(one, FoundReminder)]
    assert [(one.agent, one.reminder.count, one.after_message) for one in found] == [
        ("a", 3, 9),
        ("b", 3, 11),
    ]
    records = [one for one in scan([Run(turns)]) if isinstance(one, RunRecord)]
    assert [(one.agent, one.calls) for one in records] == [("a", 1), ("b", 1)]


def test_agent_that_another_one_calls_starts_anew_with_each_call() -> None:
    """Two visits of a subagent never share a chain."""
    asking, answer = with_agent("boss", openai_step(("ask", {"q": "?"})))
    visit = [asking, *with_agent("helper", openai_step(GREP) * 2), answer]
    assert reminders(visit * 2) == []
    longer = [asking, *with_agent("helper", openai_step(GREP) * 3), answer]
    assert reminders(longer) == [("grep × 3", 6)]


def test_prompt_without_agent_goes_to_all() -> None:
    """A prompt that names no agent resets every chain of the record."""
    turns = with_agent("a", openai_step(GREP)) + with_agent("b", openai_step(GREP))
    assert reminders([*turns * 2, {"role": "user", "content": "again"}, *turns * 2]) == []


def test_message_that_cannot_be_read_costs_itself() -> None:
    """A malformed message is told with its number, without its content, and the rest counts."""
    broken = {"role": "assistant", "tool_calls": [{"id": "secret"}]}
    messages = [*openai_run(GREP), broken, 7, *openai_step(GREP)]
    first, second, record = scan([Run(messages, PLACE)])
    assert (first, second) == (
        Problem(PLACE, "message 3: malformed (KeyError)"),
        Problem(
            PLACE,
            "message 4: no message: it has neither a role nor a type that LangChain knows",
        ),
    )
    assert isinstance(record, RunRecord)
    assert record.calls == 2


def test_problems_are_handed_on() -> None:
    """What a reader could not read passes through, between runs and inside one."""
    problem = Problem(PLACE, "broken")
    messages: list[Any] = [*openai_run(GREP), problem]
    first, second, record = scan([problem, Run(messages)])
    assert (first, second) == (problem, problem)
    assert isinstance(record, RunRecord)


def test_run_without_calls_is_a_run() -> None:
    """Each run has at least one record."""
    (record,) = scan([Run([])])
    assert record == RunRecord(place=Place(""), agent="", tools={}, longest=None, unanswered=0)


def test_runs_without_a_place_are_several() -> None:
    """Also runs of several agents, and those that share a place."""
    teams = [{"role": "assistant", "agent": name, "content": "hi"} for name in ("a", "b")]
    runs = [Run([]), Run(teams), Run(teams), Run([], PLACE), Run([], PLACE)]
    summary = Summary.of(scan(runs))
    assert (summary.runs, summary.agents) == (5, 7)
    compared = compare(runs, RepeatGuardConfig(), RepeatGuardConfig(thresholds=(2,)))
    assert (compared.first.runs, compared.second.runs) == (5, 5)


@pytest.mark.parametrize(
    "options", [{"config": {"thresholds": (2,)}}, {"is_user_prompt": 5}], ids=["config", "function"]
)
def test_wrong_settings_are_refused_at_once(options: dict[str, Any]) -> None:
    """And not when the first record is asked for."""
    with pytest.raises(TypeError, match="must be a"):
        scan([], **options)


def test_scan_is_lazy() -> None:
    """Runs are asked for one at a time, when their records are."""
    asked: list[int] = []

    def runs() -> Any:
        for number in range(3):
            asked.append(number)
            yield Run([])

    records = scan(runs())
    next(records)
    assert asked == [0]


def test_own_rule_for_prompts() -> None:
    """`is_user_prompt` decides as it does in the adapters."""
    messages = openai_run(GREP, GREP) + openai_run(GREP)

    def is_user_prompt(message: HumanMessage) -> bool:
        return message.content != "find it"

    found = list(scan([Run(messages)], is_user_prompt=is_user_prompt))
    assert [type(one) for one in found] == [FoundReminder, RunRecord]


@pytest.mark.parametrize("name", ["scan", "read_runs"])
def test_exported_functions_stay_functions(name: str) -> None:
    """The package's names are the functions, also behind their first use."""
    for _ in range(2):
        assert callable(getattr(langchain_repeat_guard, name))


SCRIPTS = {
    "one-call": repeats(9, "grep", {"pattern": "a"}),
    "two-tools": [*repeats(4, "grep", {"pattern": "a"}), *repeats(5, "read", {"path": "b"})],
    "parallel": [asks(*[call("grep", {"pattern": "a"}) for _ in range(3)]) for _ in range(3)],
    "broken-off": [
        *repeats(2, "grep", {"pattern": "a"}),
        asks(call("read", {"path": "b"})),
        *repeats(3, "grep", {"pattern": "a"}),
    ],
    "unknown-tool": repeats(3, "missing", {}),
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS.keys())
def test_scan_agrees_with_a_guarded_agent(script: list[Any]) -> None:
    """The reminders of a scan stand where the guard put them when the same agent ran with it."""
    guarded = run_agent(script, guard=True)
    bare = [message for message in guarded if not is_reminder(message)]
    where = [len(bare_until(guarded, place)) - 1 for place in reminder_places(guarded)]
    assert [place for _, place in dict_of(reminders(bare))] == where
    assert [place for _, place in dict_of(reminders(run_agent(script, guard=False)))] == where


def test_run_that_had_the_guard_gives_the_same_verdicts() -> None:
    """Reminders that a record holds already change nothing."""
    guarded = run_agent(SCRIPTS["one-call"], guard=True)
    assert [summary for summary, _ in reminders(guarded)] == ["grep × 3", "grep × 5", "grep × 8"]


def dict_of(found: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return one entry for each message: several reminders of a step are delivered in one."""
    return [(summary, place) for place, summary in {place: one for one, place in found}.items()]


def reminder_places(messages: list[BaseMessage]) -> list[int]:
    """Return the positions of the reminders."""
    return [place for place, message in enumerate(messages) if is_reminder(message)]


def bare_until(messages: list[BaseMessage], place: int) -> list[BaseMessage]:
    """Return what stands in front of `place`, without reminders."""
    return [message for message in messages[:place] if not is_reminder(message)]


def run_agent(script: list[Any], *, guard: bool) -> list[BaseMessage]:
    """Run a graph with a scripted model, and return its messages."""
    model = ScriptedModel(script=[*script, says("done")])
    tools: Any = ToolNode([grep, read])
    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("tools", RepeatGuardNode(tools) if guard else tools)
    graph.add_edge(START, "model")
    graph.add_conditional_edges(
        "model", lambda state: "tools" if state["messages"][-1].tool_calls else END
    )
    graph.add_edge("tools", "model")
    prompt: Any = {"messages": [HumanMessage("go")]}
    messages: list[BaseMessage] = graph.compile().invoke(prompt)["messages"]
    return messages


def test_langchain_messages_are_read_as_they_are() -> None:
    """Lists of message objects need no conversion."""
    assert reminders(langchain_run(*[GREP] * 3)) == [("grep × 3", 6)]


def test_paths_may_be_path_objects(tmp_path: Path) -> None:
    """As everywhere in Python."""
    file = tmp_path / "run.json"
    file.write_text('{"messages": [{"role": "user", "content": "hi"}]}')
    assert [type(run) for run in read_runs(file)] == [type(run) for run in read_runs([str(file)])]
