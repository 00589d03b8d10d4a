"""From an agent's messages, and what it carries, to the reminders that are due now."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from helpers.models import asks, call, malformed
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langgraph.graph.message import add_messages

from langchain_repeat_guard import Chain, RepeatGuardConfig
from langchain_repeat_guard.core.texts import FIRST_TEXT
from langchain_repeat_guard.history.carried import Carried
from langchain_repeat_guard.history.counting import count_step
from langchain_repeat_guard.history.delivery import remind_in_tool_message, reminder_message
from langchain_repeat_guard.history.judge import Verdict, judge
from langchain_repeat_guard.history.steps import was_written_by_user

GREP = ("grep", {"q": "a"})
READ = ("read", {"path": "a"})


def step(number: int, *asked: tuple[str, dict[str, Any]]) -> list[BaseMessage]:
    """Return a complete step, the AIMessage and its answers, with ids made of `number`."""
    calls = [call(name, args, f"c{number}.{place}") for place, (name, args) in enumerate(asked)]
    answers = [
        ToolMessage("ok", tool_call_id=str(one["id"]), id=f"t{number}.{place}", name=one["name"])
        for place, one in enumerate(calls)
    ]
    return [asks(*calls, id=f"m{number}"), *answers]


def prompt(text: str = "go on", message_id: str | None = "h") -> HumanMessage:
    return HumanMessage(text, id=message_id)


def note(text: str = "so far", source: str = "summarization") -> HumanMessage:
    return HumanMessage(text, id="note", additional_kwargs={"lc_source": source})


class Agent:
    """Judges a history that grows, and carries the chain through JSON, or carries nothing."""

    def __init__(self, *, is_carried: bool, **options: Any) -> None:
        self.messages: list[BaseMessage] = []
        self.is_carried = is_carried
        self.config = RepeatGuardConfig(**options)
        self.stored = "null"

    def judge(self) -> Verdict:
        """Judge what is there, and keep what is to be carried."""
        carried = Carried.from_dict(json.loads(self.stored)) if self.is_carried else None
        verdict = judge(self.messages, carried, config=self.config)
        self.stored = json.dumps(verdict.carried.to_dict())
        return verdict

    def take(self, *parts: Sequence[BaseMessage]) -> list[str]:
        """Append each part and judge after it; return the summaries of what was due."""
        due = []
        for part in parts:
            self.messages += part
            verdict = self.judge()
            due += [
                one.reminder.summary.replace("\N{MULTIPLICATION SIGN}", "x") for one in verdict.due
            ]
            if verdict.due:
                self.messages.append(reminder_message(verdict.due, verdict.message_id))
        return due


@pytest.fixture(params=[False, True], ids=["messages-alone", "chain-carried"], name="agent")
def agent_of_each_kind(request: pytest.FixtureRequest) -> Agent:
    return Agent(is_carried=request.param)


def test_reminders_come_at_the_thresholds(agent: Agent) -> None:
    """At 3, 5 and 8, and never past the last one."""
    steps = [step(number, GREP) for number in range(12)]
    assert agent.take([prompt()], *steps) == ["grep x 3", "grep x 5", "grep x 8"]


def test_parallel_calls_count_one_by_one_in_call_order(agent: Agent) -> None:
    """Never in the order of their answers; reminders of one step share one message."""
    first, second = step(1, GREP, GREP, GREP, READ, READ), step(2, READ, GREP)
    agent.take([prompt()])
    assert agent.take([first[0], *first[:0:-1]]) == ["grep x 3"]
    assert agent.take(second) == ["read x 3"]


def test_several_thresholds_of_one_step_share_one_message(agent: Agent) -> None:
    """Their texts are joined, and the data names each call."""
    agent.take([prompt()], step(1, *[GREP] * 5))
    (data,) = [
        one.additional_kwargs["lc_data"]["reminders"]
        for one in agent.messages
        if one.id == "repeat_guard:m1"
    ]
    assert [(one["count"], one["tool_call_id"]) for one in data] == [(3, "c1.2"), (5, "c1.4")]


def test_another_tracked_call_starts_a_new_chain(agent: Agent) -> None:
    """Also one within a step."""
    assert agent.take(step(1, GREP), step(2, GREP, READ), step(3, GREP), step(4, GREP)) == []
    assert agent.take(step(5, GREP)) == ["grep x 3"]


@pytest.mark.parametrize("is_carried", [False, True])
def test_untracked_calls_are_transparent(*, is_carried: bool) -> None:
    """They neither count nor reset, alone in a step or beside others."""
    agent = Agent(is_carried=is_carried, exclude=("read",))
    assert agent.take(step(1, GREP), step(2, READ), step(3, READ, GREP), step(4, READ)) == []
    assert agent.take(step(5, GREP, READ)) == ["grep x 3"]


@pytest.mark.parametrize("is_carried", [False, True])
def test_numbers_and_truth_values_that_trade_places_differ(*, is_carried: bool) -> None:
    """In Python `{"a": 1, "b": True}` equals `{"b": 1, "a": True}`; for a tool it does not."""
    agent = Agent(is_carried=is_carried, thresholds=(2,))
    assert (
        agent.take(step(1, ("t", {"a": 1, "b": True})), step(2, ("t", {"b": 1, "a": True}))) == []
    )
    assert agent.take(step(3, ("t", {"a": True, "b": 1}))) == ["t x 2"]


def test_malformed_calls_count_by_their_raw_text(agent: Agent) -> None:
    """Three equal strings are a chain; the object that a string would parse to is another call."""
    steps = [
        [
            asks(malformed("t", '{"q": 1', f"c{n}"), id=f"m{n}"),
            ToolMessage("bad", tool_call_id=f"c{n}"),
        ]
        for n in range(3)
    ]
    assert agent.take(*steps, step(4, ("t", {"q": 1}))) == ["t x 3"]


def test_prompt_resets(agent: Agent) -> None:
    """The chain counts from the prompt on."""
    assert agent.take(step(1, GREP), step(2, GREP), [prompt()], step(3, GREP), step(4, GREP)) == []
    assert agent.take(step(5, GREP)) == ["grep x 3"]


@pytest.mark.parametrize(
    "message",
    [
        pytest.param(note(), id="summary"),
        pytest.param(note(source="repeat_guard"), id="reminder"),
        pytest.param(HumanMessage(FIRST_TEXT), id="reminder-without-marker"),
        pytest.param(SystemMessage("rules"), id="system"),
        pytest.param(AIMessage("Let me think."), id="text-of-the-model"),
        pytest.param(ToolMessage("late", tool_call_id="gone"), id="orphan-answer"),
    ],
)
def test_what_no_user_wrote_does_not_reset(agent: Agent, message: BaseMessage) -> None:
    """Only a user's prompt does."""
    assert agent.take([prompt()], step(1, GREP), step(2, GREP), [message], step(3, GREP)) == [
        "grep x 3"
    ]


def test_host_says_what_a_prompt_is() -> None:
    """A host that marks its ticks otherwise names them."""
    messages = [*step(1, GREP), *step(2, GREP), prompt("tick"), *step(3, GREP)]
    config = RepeatGuardConfig()

    def is_prompt(message: HumanMessage) -> bool:
        return message.content != "tick"

    due = [
        len(judge(messages, None, config=config, is_user_prompt=rule).due)
        for rule in (was_written_by_user, is_prompt)
    ]
    assert due == [0, 1]


def test_incomplete_step_waits(agent: Agent) -> None:
    """No call of it counts, and nothing is due, before each of its calls is answered."""
    agent.take(step(1, GREP), step(2, GREP))
    asked, one, other = step(3, GREP, READ)
    assert agent.take([asked], [one]) == []
    assert agent.take([other]) == ["grep x 3"]


def test_step_that_a_prompt_overtakes_is_dropped(agent: Agent) -> None:
    """Its late answers change nothing, and the chain starts at the prompt."""
    agent.take(step(1, GREP), step(2, GREP))
    asked, one, other = step(3, GREP, READ)
    assert agent.take([asked, one], [prompt()], [other], step(4, GREP), step(5, GREP)) == []
    assert agent.take(step(6, GREP)) == ["grep x 3"]


def test_step_that_never_completes_does_not_count(agent: Agent) -> None:
    """A hand-off may leave a call without its answer."""
    lost = step(3, GREP, READ)[:2]
    assert agent.take(step(1, GREP), step(2, GREP), lost, step(4, GREP)) == ["grep x 3"]


def test_second_look_gives_nothing_again(agent: Agent) -> None:
    """Neither behind the reminder nor behind an answer of the model."""
    assert agent.take(step(1, GREP), step(2, GREP), step(3, GREP)) == ["grep x 3"]
    assert agent.take([], [], [AIMessage("done", id="end")], []) == []


def test_second_look_before_the_reminder_is_stored(agent: Agent) -> None:
    """Messages alone cannot tell it from the first; the message has the same id both times."""
    agent.messages = [*step(1, GREP), *step(2, GREP), *step(3, GREP)]
    due = [[one.tool_call_id for one in agent.judge().due] for _ in range(2)]
    assert due == [["c3.0"], [] if agent.is_carried else ["c3.0"]]


def test_reminder_in_a_tool_message_is_not_given_again() -> None:
    """The step shows that it has got one."""
    messages = [*step(1, GREP), *step(2, GREP), *step(3, GREP)]
    verdict = judge(messages, None, config=RepeatGuardConfig())
    assert isinstance(messages[-1], ToolMessage)
    messages[-1] = remind_in_tool_message(messages[-1], verdict.due)
    assert judge(messages, None, config=RepeatGuardConfig()).due == ()


def test_note_behind_the_answers_does_not_hide_them(agent: Agent) -> None:
    """The reminder comes behind what a harness has added to the step."""
    agent.take(step(1, GREP), step(2, GREP))
    assert agent.take([*step(3, GREP), note()]) == ["grep x 3"]


def test_answered_step_of_the_past_gets_no_reminder(agent: Agent) -> None:
    """The model has gone on; only the count is taken over."""
    told = AIMessage("I see.", id="said")
    assert agent.take([*step(1, GREP), *step(2, GREP), *step(3, GREP), told]) == []
    assert agent.take(step(4, GREP), step(5, GREP)) == ["grep x 5"]


def test_message_seen_before_counts_once(agent: Agent) -> None:
    """A reducer may have joined the lists of a graph and its subgraph."""
    twice = [*step(1, GREP), *step(2, GREP)]
    assert agent.take([prompt()], twice, twice) == []
    assert agent.take(step(3, GREP)) == ["grep x 3"]


@pytest.mark.parametrize("call_id", ["c", "", None])
def test_calls_with_one_id_for_all_are_different_calls(agent: Agent, call_id: str | None) -> None:
    """A step is known by its message, and an answer by its place behind it."""
    steps = [
        [asks_once, ToolMessage("ok", tool_call_id=call_id or "")]
        for asks_once in (
            AIMessage("", id=f"m{n}", tool_calls=[call(*GREP, call_id)]) for n in range(3)
        )
    ]
    assert agent.take(*steps) == ["grep x 3"]


def test_messages_without_ids_count_by_their_places(agent: Agent) -> None:
    """Their reminder has no id either."""
    verdicts = []
    for _ in range(3):
        agent.messages += [
            AIMessage("", tool_calls=[call(*GREP, "")]),
            ToolMessage("ok", tool_call_id=""),
        ]
        verdicts.append(agent.judge())
    *_, verdict = verdicts
    assert [one.reminder.count for one in verdict.due] == [3]
    assert reminder_message(verdict.due, verdict.message_id).id is None


def test_verdict_names_the_step() -> None:
    """Its messages are the history's own objects."""
    messages = [*step(1, GREP), *step(2, GREP), *step(3, GREP, READ)]
    verdict = judge(messages, None, config=RepeatGuardConfig())
    assert verdict.step is not None
    assert verdict.message_id == "m3"
    assert verdict.step.message is messages[4]
    assert [id(one) for one in verdict.step.answers] == [id(messages[6]), id(messages[5])]
    assert judge([], None, config=RepeatGuardConfig()) == Verdict(Carried())


class TestOpenAIFormat:
    """`add_messages(format="langchain-openai")` takes away ids, metadata and malformed calls."""

    def test_reminders_are_the_same(self, agent: Agent) -> None:
        """Reminders are known by their text, steps by their places."""
        merge: Any = add_messages
        due = []
        for number in range(9):
            agent.messages = merge(agent.messages, step(number, GREP), format="langchain-openai")
            verdict = agent.judge()
            due += [one.reminder.count for one in verdict.due]
            if verdict.due:
                reminder = reminder_message(verdict.due, verdict.message_id)
                agent.messages = merge(agent.messages, [reminder], format="langchain-openai")
        assert due == [3, 5, 8]
        assert {one.id for one in agent.messages} == {None}


class TestCarried:
    """What only a carried chain can do."""

    def agent(self, *steps: Sequence[BaseMessage]) -> Agent:
        agent = Agent(is_carried=True)
        agent.take([prompt()], *steps)
        return agent

    def test_chain_outlives_deleted_messages(self) -> None:
        """The step goes on top of what is carried."""
        agent = self.agent(step(1, GREP), step(2, GREP))
        agent.messages = []
        assert agent.take(step(3, GREP)) == ["grep x 3"]

    def test_chain_outlives_a_summary(self) -> None:
        """Whatever is kept behind it: nothing, or some steps."""
        for kept in (0, 2, 4):
            agent = self.agent(*(step(number, GREP) for number in range(4)))
            agent.messages = [note(), *agent.messages[len(agent.messages) - kept :]]
            assert agent.take(step(4, GREP)) == ["grep x 5"]

    def test_known_prompt_that_was_kept_does_not_reset(self) -> None:
        """A trimmer may keep the first prompt and delete what came behind it."""
        agent = self.agent(step(1, GREP), step(2, GREP))
        agent.messages = agent.messages[:1]
        assert agent.take(step(3, GREP)) == ["grep x 3"]

    def test_earlier_prompt_that_was_kept_does_not_reset(self) -> None:
        """A trimmer may keep the first prompt of a thread, and delete all prompts behind it."""
        agent = self.agent(step(1, GREP))
        agent.take([prompt("again", "h2")], step(2, GREP), step(3, GREP))
        agent.messages = agent.messages[:1]
        assert agent.take(step(4, GREP)) == ["grep x 3"]

    def test_known_prompt_as_last_message_does_not_reset(self) -> None:
        """A node before the model sees it before the first step, and again after a deletion."""
        agent = self.agent(step(1, GREP), step(2, GREP))
        agent.messages = agent.messages[:1]
        assert agent.take([], step(3, GREP)) == ["grep x 3"]

    def test_earlier_prompt_as_last_message_does_not_reset(self) -> None:
        """Nor does the first prompt of a thread, judged with a summary of all behind it alone."""
        agent = Agent(is_carried=True)
        agent.take([prompt()])
        agent.take([prompt("again", "h2")], step(1, GREP), step(2, GREP))
        agent.messages = [prompt(), note()]
        assert agent.take([], step(3, GREP)) == ["grep x 3"]

    def test_new_prompt_resets_though_messages_are_deleted(self) -> None:
        """Whether it is judged by itself or only with the step behind it."""
        for parts in (
            [[prompt("new", "h2")], step(3, GREP)],
            [[prompt("new", "h2"), *step(3, GREP)]],
        ):
            agent = self.agent(step(1, GREP), step(2, GREP))
            agent.messages = []
            assert agent.take(*parts, step(4, GREP)) == []
            assert agent.take(step(5, GREP)) == ["grep x 3"]

    def test_prompt_without_id_resets(self) -> None:
        """It cannot be known from before."""
        agent = self.agent(step(1, GREP), step(2, GREP))
        assert agent.take([prompt("new", None)], step(3, GREP), step(4, GREP)) == []

    def test_steps_that_nobody_judged_are_counted(self) -> None:
        """They stand between the newest counted step and this one."""
        agent = self.agent(step(1, GREP))
        agent.messages += [*step(2, GREP), *step(3, READ), *step(4, GREP), *step(5, GREP)]
        assert agent.take(step(6, GREP)) == ["grep x 3"]

    def test_removed_newest_step_is_forgotten(self) -> None:
        """An edit of the state may take steps back: the chain goes on from the one before."""
        agent = self.agent(step(1, GREP), step(2, GREP), step(3, READ))
        agent.messages = agent.messages[:-2]
        assert agent.take(step(4, GREP)) == ["grep x 3"]

    def test_removed_steps_are_forgotten_as_soon_as_they_are_gone(self) -> None:
        """Also when the state is judged before the next step."""
        agent = self.agent(*(step(number, GREP) for number in range(1, 6)))
        agent.messages = agent.messages[:5]
        assert agent.take([]) == []
        assert Carried.from_dict(json.loads(agent.stored)).chain.count == 2
        assert agent.take(step(7, GREP)) == ["grep x 3"]

    def test_step_remembered_without_tracked_calls_ends_the_chain(self) -> None:
        """It was tracked when it was counted: the settings have changed since."""
        agent = self.agent(step(1, GREP), step(2, READ), step(3, GREP))
        agent.config = RepeatGuardConfig(exclude=("read",))
        agent.messages = agent.messages[:5]
        agent.take([])
        assert Carried.from_dict(json.loads(agent.stored)).chain == Chain("", 1)

    def test_removed_by_langgraph(self) -> None:
        """`RemoveMessage` through the reducer is how graphs edit and summarise."""
        agent = self.agent(step(1, GREP), step(2, GREP))
        gone: list[Any] = [RemoveMessage(id=str(one.id)) for one in agent.messages[1:]]
        agent.messages = list(add_messages(agent.messages, gone))  # type: ignore[arg-type]
        assert agent.take(step(3, GREP)) == ["grep x 3"]

    def test_edited_answer_changes_nothing(self) -> None:
        """Answers are not looked into."""
        agent = self.agent(step(1, GREP), step(2, GREP))
        agent.messages[-1] = ToolMessage("edited", tool_call_id="c2.0", id="t2.0")
        assert agent.take([], step(3, GREP)) == ["grep x 3"]

    def test_steps_older_than_the_remembered_ones(self) -> None:
        """Eight are remembered; an older step that comes back last goes on top of the chain."""
        agent = self.agent(*(step(number, GREP) for number in range(1, 11)))
        agent.messages = agent.messages[:3]
        assert agent.take([*step(11, READ)], step(12, GREP), step(13, GREP)) == []
        assert agent.take(step(14, GREP)) == ["grep x 3"]

    @pytest.mark.parametrize("kept", [slice(0, 3), slice(1, 3)], ids=["with-prompt", "without"])
    def test_only_the_last_step_goes_on_top(self, kept: slice) -> None:
        """Where no remembered step is left, older ones may have been counted before."""
        agent = self.agent(*(step(number, GREP) for number in range(1, 11)))
        agent.config = RepeatGuardConfig(thresholds=(11,))
        agent.messages = agent.messages[kept]
        assert agent.take(step(11, GREP)) == ["grep x 11"]

    def test_only_the_last_step_goes_on_top_of_a_known_prompt(self) -> None:
        """The same behind a prompt that was kept."""
        agent = self.agent(step(1, GREP), step(2, GREP))
        agent.messages = [*agent.messages[:1], *step(3, GREP)]
        assert agent.take(step(4, GREP)) == ["grep x 3"]

    def test_first_step_reads_what_was_there_before(self) -> None:
        """A guard may be added to a thread that has gone on without it."""
        agent = Agent(is_carried=True)
        agent.messages = [prompt(), *step(1, GREP), *step(2, GREP)]
        assert agent.take(step(3, GREP)) == ["grep x 3"]

    def test_incomparable_arguments_equal_nothing(self) -> None:
        """Neither in the messages nor in what is carried."""

        class Odd:
            def __eq__(self, other: object) -> bool:
                raise RuntimeError

            __hash__ = None  # type: ignore[assignment]

        odd = ("grep", {"q": Odd()})
        for is_carried in (False, True):
            agent = Agent(is_carried=is_carried, thresholds=(2,))
            assert agent.take(step(1, odd), step(2, odd), step(3, odd)) == []


def test_calls_of_one_step_are_observed_in_order() -> None:
    """Adapters that see no messages use the same counting."""
    config = RepeatGuardConfig(thresholds=(2,))
    verdict = judge([*step(1, GREP), *step(2, GREP)], None, config=config)
    assert verdict.step is not None
    counted = count_step(Chain(), [*verdict.step.calls] * 2, config)
    assert counted == (verdict.carried.chain, verdict.due, None)
