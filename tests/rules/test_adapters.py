"""Each rule through every adapter: what the model is told is what the rules demand."""

from collections.abc import Sequence
from typing import Any

import pytest
from helpers.guarded import ALL, WITH_CHANNEL, MakeGuarded, told
from helpers.laws import check_append_only, check_order, payload
from helpers.models import ScriptedModel
from helpers.modes import Run, run_sync
from helpers.rules import OPTIONS, OWN_FIRST, PROMPTS, Options, Prompts, expected, script
from helpers.tools import grep, read
from hypothesis import HealthCheck, given, settings
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage

from langchain_repeat_guard import (
    RepeatGuardCallbackHandler,
    RepeatGuardConfig,
    RepeatGuardMiddleware,
    TransientRepeatGuardMiddleware,
    scan,
)
from langchain_repeat_guard.scanning import FoundReminder
from langchain_repeat_guard.scanning import Run as RecordedRun

SETTINGS = settings(
    max_examples=10,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
CYCLE: Prompts = [[[("grep", {"pattern": "a"})], [("read", {"path": "a"})]] * 4]
SINCE_NEW: Options = {"counting": "since_new_call", "thresholds": (2, 4)}


def every(makes: dict[str, MakeGuarded]) -> pytest.MarkDecorator:
    """Parametrise a test with all of them."""
    return pytest.mark.parametrize("make", makes.values(), ids=makes.keys())


def config_of(thread: str = "t", **more: Any) -> dict[str, Any]:
    return {"configurable": {"thread_id": thread}, **more}


def play(agent: Any, prompts: Prompts, run: Run, config: dict[str, Any]) -> list[BaseMessage]:
    """Send each prompt; return the messages of the final state."""
    messages: list[BaseMessage] = []
    for number in range(len(prompts)):
        prompt = {"messages": [HumanMessage("go", id=f"prompt-{number}")]}
        messages = run(agent, prompt, config)["messages"]
    return messages


@every(ALL)
@SETTINGS
@given(prompts=PROMPTS, options=OPTIONS)
def test_the_model_is_told_what_the_rules_demand(
    make: MakeGuarded, prompts: Prompts, options: Options
) -> None:
    """L1 and L4: the same reminders, at their places, and requests only ever grow."""
    model = ScriptedModel(script=script(prompts))
    play(make(model, **options), prompts, run_sync, config_of())
    assert told(model.requests) == expected(prompts, options)
    check_append_only(model.requests)
    for request in model.requests:
        check_order(request)


@SETTINGS
@given(prompts=PROMPTS, options=OPTIONS)
def test_callback_and_scan_agree(prompts: Prompts, options: Options) -> None:
    """L8: so do the handler, and a scan of the messages that the run has left."""
    model = ScriptedModel(script=script(prompts))
    handler = RepeatGuardCallbackHandler(**options, keep_reminders=1000)
    agent = ALL["transient"](model, thresholds=(1000,))
    messages = play(agent, prompts, run_sync, config_of(callbacks=[handler]))
    scanned = [
        (record.tool_call_id, record.reminder.tool, record.reminder.count)
        for record in scan([RecordedRun(messages)], RepeatGuardConfig(**options))
        if isinstance(record, FoundReminder)
    ]
    handled = [(one.tool_call_id, one.tool, one.count) for one in handler.reminders]
    texts: dict[str, list[str]] = {}
    for one in handler.reminders:
        texts.setdefault(one.reminder_id, []).append(one.text)
    assert [(key, "\n\n".join(parts)) for key, parts in texts.items()] == expected(prompts, options)
    assert scanned == handled


@every(ALL)
def test_a_cycle_is_found(make: MakeGuarded, run: Run) -> None:
    """A, B, A, B: the comparison above is not one of nothing with nothing."""
    model = ScriptedModel(script=script(CYCLE))
    play(make(model, **SINCE_NEW), CYCLE, run, config_of())
    assert [reminder for reminder, _ in told(model.requests)] == [
        # B is new at its first call, which clears A: A has its second count two calls later.
        "repeat_guard:answer-0-3",
        "repeat_guard:answer-0-4",
        "repeat_guard:answer-0-7",
    ]


def answer_by_place(prompts: Prompts) -> Any:
    """Return a model's function that answers by the request alone, so that replays are alike."""
    turns = script(prompts)
    return lambda messages: turns[sum(isinstance(one, AIMessage) for one in messages)]


@every(ALL)
def test_a_replay_from_any_checkpoint_is_alike(make: MakeGuarded, run: Run) -> None:
    """L2: from each checkpoint on, the run ends as the undisturbed one, and is told the same."""
    model = ScriptedModel(script=answer_by_place(CYCLE))
    agent = make(model, **SINCE_NEW)
    whole = payload(play(agent, CYCLE, run, config_of()))
    demanded = told(model.requests)
    last = [payload(request) for request in model.requests][-1]
    for saved in [one for one in agent.get_state_history(config_of()) if one.next]:
        model.requests.clear()
        assert payload(run(agent, None, saved.config)["messages"]) == whole
        if model.requests:
            assert (told(model.requests[-1:]), payload(model.requests[-1])) == (demanded, last)


class Forgetful(AgentMiddleware[Any, Any]):
    """Deletes all messages in front of the newest step, once the first step is done."""

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any]:
        messages = state["messages"]
        places = [n for n, one in enumerate(messages) if isinstance(one, AIMessage)]
        gone = messages[: places[-1]] if len(places) > 1 else []
        return {"messages": [RemoveMessage(id=one.id) for one in gone]}


@pytest.mark.parametrize("guard", [RepeatGuardMiddleware, TransientRepeatGuardMiddleware])
@pytest.mark.parametrize(
    ("steps", "options"),
    [
        pytest.param(CYCLE[0], SINCE_NEW, id="since_new_call"),
        pytest.param([CYCLE[0][0]] * 6, {"remind_every": 2, "thresholds": (2,)}, id="remind_every"),
    ],
)
def test_messages_may_be_deleted(guard: Any, steps: Any, options: Options, run: Run) -> None:
    """L3: all but the newest step is deleted before each model call."""
    model = ScriptedModel(script=script([steps]))
    middleware = [guard(**options), Forgetful()]
    play(create_agent(model, [grep, read], middleware=middleware), [steps], run, {})
    assert told(model.requests) == expected([steps], options)


@every(ALL)
def test_threads_do_not_share_counts(make: MakeGuarded, run: Run) -> None:
    """L5: the same cycle in two threads, taken in turn prompt by prompt."""
    prompts: Prompts = [CYCLE[0][:4]] * 2
    turns = script(prompts)
    half = len(turns) // 2
    model = ScriptedModel(script=[*turns[:half], *turns[:half], *turns[half:], *turns[half:]])
    agent = make(model, **SINCE_NEW)
    for number in range(2):
        for thread in ("one", "two"):
            prompt = {"messages": [HumanMessage("go", id=f"prompt-{number}")]}
            run(agent, prompt, config_of(thread))
    assert told(model.requests) == expected(prompts, SINCE_NEW)
    counts = [len(told([request])) for request in model.requests]
    assert counts == [0, 0, 0, 0, 1] * 2 + [1, 1, 1, 1, 2] * 2


@every(ALL)
def test_silent_below_all_thresholds(make: MakeGuarded, run: Run) -> None:
    """L6: with every option on but nothing reached, the messages are those without a guard."""
    options = {
        "thresholds": (100,),
        "counting": "since_new_call",
        "ignore_arguments": {"grep": ("path",)},
        "overrides": {"read": {"thresholds": (50,)}},
        "remind_every": 2,
        "limit": 60,
        "exit_behavior": "error",
        "first_reminder": OWN_FIRST,
    }
    outputs = []
    for kept in (options, {"include": ("nothing",)}):
        model = ScriptedModel(script=script(CYCLE))
        outputs.append(plain(play(make(model, **kept), CYCLE, run, config_of())))
    assert outputs[0] == outputs[1]


def plain(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Return messages without the ids that are drawn at random."""
    return [one.model_copy(update={"id": None}) for one in messages]


@every(WITH_CHANNEL)
@pytest.mark.faults_expected
def test_a_damaged_channel_is_replaced(
    make: MakeGuarded, run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    """L7: a list of calls that is not ours costs one log line and no run."""
    prompts: Prompts = [CYCLE[0][:2], CYCLE[0][:4]]
    model = ScriptedModel(script=script(prompts))
    agent = make(model, **SINCE_NEW)
    run(agent, {"messages": [HumanMessage("go", id="prompt-0")]}, config_of())
    damaged = {"chain": {"key": "", "count": 0, "seen": "all"}, "counted": [], "prompts": ""}
    agent.update_state(config_of(), {"repeat_guard": damaged})
    run(agent, {"messages": [HumanMessage("go", id="prompt-1")]}, config_of())
    lines = [one.getMessage() for one in caplog.records if one.name == "langchain_repeat_guard"]
    assert [line.split(" ", 1)[1] for line in lines] == [
        (
            "found a dict in the state key 'repeat_guard' that it has not written, and replaces "
            "it. Keep that key free for the guard."
        )
    ]
    assert told(model.requests) == expected(prompts, SINCE_NEW)


@every(WITH_CHANNEL)
def test_the_channel_is_plain_json(make: MakeGuarded, run: Run) -> None:
    """Strings and whole numbers in lists and dicts; no arguments among them."""
    prompts: Prompts = [[[("grep", {"pattern": f"secret {n}"})] for n in range(5)] * 2]
    model = ScriptedModel(script=script(prompts))
    agent = make(model, **SINCE_NEW, first_reminder=OWN_FIRST)
    play(agent, prompts, run, config_of())
    channel = agent.get_state(config_of()).values["repeat_guard"]
    assert len(channel["chain"]["seen"]) == 5
    assert kinds(channel) <= {dict, list, str, int}
    assert "secret" not in str(channel)


def kinds(value: Any) -> set[type]:
    """Return the types in a nested value."""
    members = [*value.values()] if type(value) is dict else value if type(value) is list else []
    return {type(value)}.union(*map(kinds, members))
