"""Own texts and the ready alternative."""

from typing import Any

import pytest
from helpers.guarded import ALL, MIDDLEWARES, MakeGuarded, told
from helpers.laws import check_append_only
from helpers.models import ScriptedModel, repeats, says
from helpers.modes import Run
from helpers.rules import OWN_FIRST, OWN_LATER, history_with
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage
from pydantic import ValidationError

from langchain_repeat_guard import Chain, Reminder, RepeatGuardConfig, is_reminder, observe
from langchain_repeat_guard.core.texts import FIRST_TEXT, LATER_TEXT, REDIRECT_TEXT
from langchain_repeat_guard.history.delivery import reminder_message
from langchain_repeat_guard.history.judge import judge

CONFIG = {"configurable": {"thread_id": "t"}}
PROMPT = {"messages": [("user", "go")]}


def reminders_of(times: int, args: Any = None, **options: Any) -> list[Reminder]:
    """Return what so many identical calls earn."""
    chain = Chain()
    found = []
    for _ in range(times):
        chain, reminder = observe(
            chain, "grep", args or {"q": "a"}, config=RepeatGuardConfig(**options)
        )
        found += [reminder] if reminder else []
    return found


def test_fields_of_own_texts() -> None:
    """Each field is filled; doubled braces are braces."""
    own = "{tool}|{count}|{threshold}|{arguments}|{{x}}"
    found = reminders_of(4, thresholds=(2, 4), first_reminder=own, later_reminder=own)
    assert [one.text for one in found] == [
        'grep|2|2|{"q":"a"}|{x}',
        'grep|4|4|{"q":"a"}|{x}',
    ]


def test_one_own_text_leaves_the_other() -> None:
    """Only what is given is replaced."""
    only_first = reminders_of(5, first_reminder="Stop repeating {tool}, please.")
    only_later = reminders_of(5, later_reminder="Stop repeating {tool}, please.")
    assert [one.template for one in only_first] == ["Stop repeating {tool}, please.", LATER_TEXT]
    assert [one.template for one in only_later] == [FIRST_TEXT, "Stop repeating {tool}, please."]


def test_own_texts_win_over_the_style() -> None:
    """The style fills in where there is no own text."""
    found = reminders_of(5, first_reminder="Stop repeating.", style="redirect")
    assert [one.text for one in found] == ["Stop repeating.", REDIRECT_TEXT]


def test_a_preview_in_an_own_text_is_cut_and_masked() -> None:
    """As in the text that is the contract's."""
    found = reminders_of(
        2,
        {"key": "s3cret", "text": "x" * 50},
        thresholds=(2,),
        first_reminder="Again with {arguments}.",
        redact_arguments=("key",),
        arguments_preview_chars=30,
    )
    assert "s3cret" not in found[0].text
    assert "more chars)" in found[0].text


def test_an_own_text_stays_one_line_in_a_message() -> None:
    """A made-up argument cannot break its lines."""
    (found,) = reminders_of(
        2, {"q": "\u2028x"}, thresholds=(2,), first_reminder="Again with {arguments}."
    )
    assert found.message_text == 'Again with {"q":"\\u2028x"}.'


def test_redirect_says_the_same_each_time() -> None:
    """It names no tool, quotes no arguments, and forbids nothing."""
    found = reminders_of(8, {"secret": "s3cret"}, style="redirect")
    assert [one.text for one in found] == [REDIRECT_TEXT] * 3
    assert [word for word in ("grep", "s3cret", "not call", "{") if word in REDIRECT_TEXT] == []


@pytest.mark.parametrize("field", ["first_reminder", "later_reminder"])
@pytest.mark.parametrize(
    ("text", "rule"),
    [
        pytest.param("", "must say something", id="empty"),
        pytest.param(" \n", "must say something", id="blank"),
        pytest.param("{tol}", "may hold the fields", id="unknown-field"),
        pytest.param("{}", "may hold the fields", id="no-name"),
        pytest.param("{0}", "may hold the fields", id="number"),
        pytest.param("{tool.name}", "may hold the fields", id="attribute"),
        pytest.param("{tool[0]}", "may hold the fields", id="item"),
        pytest.param("{count:>3}", "may hold the fields", id="format"),
        pytest.param("{tool!r}", "may hold the fields", id="conversion"),
        pytest.param("{tool:{count}}", "may hold the fields", id="nested"),
        pytest.param("{tool", "has unbalanced braces", id="open"),
        pytest.param("tool}", "has unbalanced braces", id="closed"),
        pytest.param('{"a": 1}', "may hold the fields", id="json"),
        pytest.param(5, "texts must be strings", id="number-for-text"),
        pytest.param(b"stop", "texts must be strings", id="bytes"),
        pytest.param("stop \ud800", "must not hold surrogates", id="lone-surrogate"),
    ],
)
def test_wrong_texts_are_refused(field: str, text: Any, rule: str) -> None:
    """At construction, with the field and the rule."""
    with pytest.raises(ValidationError) as caught:
        RepeatGuardConfig(**{field: text})
    (problem,) = caught.value.errors(include_context=False, include_input=False)
    assert problem["loc"] == (field,)
    assert rule in problem["msg"]


@pytest.mark.parametrize("counting", ["consecutive", "since_new_call"])
@pytest.mark.parametrize("options", [{"first_reminder": OWN_LATER}, {"style": "redirect"}], ids=str)
def test_a_reminder_without_its_marker_is_known(options: Any, counting: Any) -> None:
    """A graph that strips metadata does not turn a reminder into a prompt: the chain goes on."""
    config = RepeatGuardConfig(thresholds=(2, 3), counting=counting, **options)
    second = judge(history_with(3, HumanMessage(""))[:5], None, config=config)
    whole = reminder_message(second.due, "a1")
    stripped = HumanMessage(whole.content, id=whole.id)
    verdict = judge(history_with(3, stripped), None, config=config)
    assert [one.reminder.count for one in verdict.due] == [3]


@pytest.mark.parametrize(
    ("own", "said"),
    [
        pytest.param("Stop.", "Stop.", id="one-word"),
        pytest.param("{arguments}", "What is the weather?", id="only-a-field"),
        pytest.param("{tool} {count}", "Chapter 2", id="only-fields"),
    ],
)
def test_a_prompt_is_not_taken_for_a_short_reminder(own: str, said: str) -> None:
    """A text with few words of its own does not tell a reminder: the user may write the same."""
    config = RepeatGuardConfig(thresholds=(2, 3), first_reminder=own)
    verdict = judge(history_with(3, HumanMessage(said, id="h2")), None, config=config)
    assert not verdict.due
    assert verdict.carried.chain.count == 1


@settings(max_examples=60, deadline=None)
@given(text=st.text(st.characters(codec="utf-8"), max_size=30))
def test_an_own_text_with_its_marker_is_always_a_reminder(text: str) -> None:
    """Whatever it says."""
    own = text.replace("{", "{{").replace("}", "}}") + "."
    (found,) = reminders_of(2, thresholds=(2,), first_reminder=own)
    message = HumanMessage(found.message_text, additional_kwargs={"lc_source": "repeat_guard"})
    assert is_reminder(message)
    assert found.message_text == text + "."


@pytest.mark.parametrize("make", MIDDLEWARES.values(), ids=MIDDLEWARES.keys())
@pytest.mark.parametrize(
    "later", [{}, {"first_reminder": "Other: {tool}.", "style": "redirect"}], ids=["none", "other"]
)
def test_other_texts_after_a_restart_change_no_request(
    make: MakeGuarded, later: Any, run: Run
) -> None:
    """What a provider has read stays as it was, byte for byte."""
    before = ScriptedModel(script=[*repeats(4, "grep", {"pattern": "x"}), says("done")])
    options = {"first_reminder": OWN_FIRST, "later_reminder": OWN_LATER}
    agent = make(before, thresholds=(2, 3), **options)
    run(agent, PROMPT, CONFIG)
    after = ScriptedModel(script=[*repeats(3, "grep", {"pattern": "x"}), says("done")])
    restarted = make(after, thresholds=(2,), **later)
    restarted.checkpointer = agent.checkpointer
    run(restarted, PROMPT, CONFIG)
    check_append_only([*before.requests, *after.requests])
    texts = [text for _, text in told(after.requests)]
    assert len(texts) == 3
    assert texts[0] == "Call 2 of grep brought nothing new (2). Braces: {}."


@pytest.mark.parametrize("make", ALL.values(), ids=ALL.keys())
@pytest.mark.parametrize("delivery", ["human_message", "tool_message"])
def test_own_texts_in_either_delivery(make: MakeGuarded, delivery: Any, run: Run) -> None:
    """The text reaches the model at its place."""
    model = ScriptedModel(script=[*repeats(2, "grep", {"pattern": "x"}), says("done")])
    agent = make(model, thresholds=(2,), first_reminder="Stop: {tool}.", delivery=delivery)
    run(agent, PROMPT, CONFIG)
    found = "nothing found for x"
    expected = ["Stop: grep."] if delivery == "human_message" else [f"{found}\n\nStop: grep."]
    assert [str(one.content) for one in model.requests[-1]][-1:] == expected
