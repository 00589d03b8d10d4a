"""What both middlewares do in plain runs."""

import json
from typing import Any

import pytest
from helpers.agents import MakeGuard, make_scene
from helpers.laws import check_append_only
from helpers.models import asks, call, repeats, says
from helpers.modes import Run
from helpers.pictures import growing, reminders_in
from helpers.tools import grep, read
from langchain_core.messages import AIMessage, ToolMessage

from langchain_repeat_guard import Chain, RepeatGuardConfig, observe
from langchain_repeat_guard.core.texts import FIRST_TEXT

NINE = "hatatatR3atatR5atatatR8at"


def test_reminds_at_each_threshold_behind_the_results(guard: MakeGuard, run: Run) -> None:
    """Nine identical calls earn reminders behind the third, fifth and eighth result."""
    scene = make_scene(guard(), run, [*repeats(9, "grep", {"pattern": "x"}), says("done")])
    scene.prompt()
    assert scene.seen == growing(NINE)
    assert scene.stored == scene.as_stored(NINE) + "a"


def test_texts_are_those_of_core(guard: MakeGuard, run: Run) -> None:
    """The first text is short, a later one quotes the call; both are core's."""
    args = {"pattern": "ü", "path": "src"}
    scene = make_scene(guard(), run, [*repeats(5, "grep", args), says("done")])
    scene.prompt()
    chain, texts = Chain(), []
    for _ in range(5):
        chain, reminder = observe(chain, "grep", args, config=RepeatGuardConfig())
        texts += [reminder.message_text] if reminder else []
    assert reminders_in(scene.model.requests[-1]) == texts


def test_silent_while_nothing_repeats(guard: MakeGuard, run: Run) -> None:
    """Without a repeat, messages equal those of the agent without a guard."""
    script = [asks(call("grep", {"pattern": str(n)}, f"c{n}"), id=f"a{n}") for n in range(6)]
    script.append(says("done", id="end"))
    scenes = [make_scene(guard(), run, script, arrange=arrange) for arrange in (list_it, leave_out)]
    outputs = [[_plain(message) for message in scene.prompt()["messages"]] for scene in scenes]
    assert outputs[0] == outputs[1]


def test_parallel_calls_count_one_by_one_in_call_order(guard: MakeGuard, run: Run) -> None:
    """Two identical calls of one step are two; a reminder stands behind all results."""
    pair = [call("grep", {"pattern": "x"}), call("grep", {"pattern": "x"})]
    script = [asks(*map(dict, pair)) for _ in range(3)]
    scene = make_scene(guard(thresholds=(3, 4)), run, [*script, says("done")])
    scene.prompt()
    assert scene.seen == growing("hattattR3+4att")


def test_a_reminder_quotes_its_own_call_of_a_step(guard: MakeGuard, run: Run) -> None:
    """Where the repeated call is the second of its step, that one is named and quoted."""
    steps = [
        asks(call("read", {"path": str(number)}), call("grep", {"pattern": "x"}))
        for number in range(4)
    ]
    scene = make_scene(
        guard(thresholds=(2, 3), exclude=("read",)), run, [*steps, says("done")], tools=[grep, read]
    )
    scene.prompt()
    texts = reminders_in(scene.model.requests[-1])
    assert [line for line in texts[1].split("\n") if line.startswith("- ")] == [
        "- tool: grep",
        "- consecutive_calls: 3",
        '- arguments: {"pattern":"x"}',
    ]


def test_a_prompt_resets_the_chain(guard: MakeGuard, run: Run) -> None:
    """Two calls before a prompt and two behind it are no chain of four."""
    turn = [*repeats(2, "grep", {"pattern": "x"}), says("done")]
    scene = make_scene(guard(), run, [*turn, *turn, *repeats(3, "grep"), says("done")])
    scene.prompt()
    scene.prompt()
    scene.prompt()
    assert scene.stored == scene.as_stored("hatatahatatahatatatR3a")


def test_another_call_starts_the_chain_anew(guard: MakeGuard, run: Run) -> None:
    """A different tracked call between identical ones breaks the chain."""
    script = [*repeats(2, "grep"), *repeats(1, "read", {"path": "p"}), *repeats(3, "grep")]
    scene = make_scene(guard(), run, [*script, says("done")], tools=[grep, read])
    scene.prompt()
    assert scene.seen == growing("h" + "at" * 6 + "R3")


def test_untracked_calls_are_transparent(guard: MakeGuard, run: Run) -> None:
    """An excluded tool neither counts nor breaks a chain."""
    script = [*repeats(2, "grep"), *repeats(4, "read", {"path": "p"}), *repeats(1, "grep")]
    scene = make_scene(guard(exclude=("re*",)), run, [*script, says("done")], tools=[grep, read])
    scene.prompt()
    assert scene.seen == growing("h" + "at" * 7 + "R3")


def test_tool_message_delivery_appends_to_the_last_result(guard: MakeGuard, run: Run) -> None:
    """With delivery="tool_message" no message is added; the result keeps all but content."""
    script = [*repeats(4, "grep", {"pattern": "x"}), says("done")]
    scene = make_scene(guard(delivery="tool_message"), run, script)
    scene.prompt()
    assert scene.seen == ["h", "hat", "hatat", "hatataT3", "hatataT3at"]
    assert scene.stored == scene.as_stored("hatataT3ata")
    plain, reminded = scene.model.requests[2][-1], scene.model.requests[3][-1]
    assert reminded.content == f"{plain.content}\n\n{FIRST_TEXT}"
    assert (reminded.name, reminded.status) == (plain.name, plain.status)


def test_the_prefix_of_requests_never_changes(guard: MakeGuard, run: Run) -> None:
    """Each request begins with the whole of the one before, byte for byte, over several prompts."""
    turns = [*repeats(6, "grep", {"pattern": "x"}), says("done")]
    scene = make_scene(guard(), run, [*turns, *turns])
    scene.prompt()
    scene.prompt()
    check_append_only(scene.model.requests)
    assert scene.seen[-1] == "hatatatR3atatR5atahatatatR3atatR5at"


@pytest.mark.parametrize("delivery", ["human_message", "tool_message"])
def test_other_thresholds_after_a_restart_change_no_earlier_reminder(
    guard: MakeGuard, run: Run, delivery: Any
) -> None:
    """A new process with other settings keeps what the provider has seen, byte for byte."""
    before = make_scene(
        guard(thresholds=(2, 3), delivery=delivery), run, [*repeats(4, "grep"), says("done")]
    )
    before.prompt()
    after = make_scene(
        guard(thresholds=(4, 6), arguments_preview_chars=1, delivery=delivery),
        run,
        [*repeats(6, "grep", {"pattern": "long enough to be cut"}), says("done")],
        checkpointer=before.agent.checkpointer,
    )
    after.prompt("again")
    check_append_only([*before.model.requests, *after.model.requests])
    mark = "R" if delivery == "human_message" else "T"
    body = "hatatR2atR3atahatatatatR4atatR6" if mark == "R" else "hataT2aT3atahatatataT4ataT6"
    assert after.seen[-1] == body


def test_the_channel_is_small_and_holds_no_arguments(guard: MakeGuard, run: Run) -> None:
    """Under 600 bytes of JSON while no reminder has fired; never an argument in it."""
    script = [asks(call("grep", {"pattern": f"secret {n}"})) for n in range(20)]
    scene = make_scene(guard(), run, [*script, says("done")])
    scene.prompt()
    stored = json.dumps(scene.state["repeat_guard"])
    assert len(stored) < 600
    assert "secret" not in stored


def test_the_channel_is_private(guard: MakeGuard, run: Run) -> None:
    """It is no part of the output, nor of the schemas of input and output."""
    scene = make_scene(guard(), run, [*repeats(3, "grep"), says("done")])
    output = scene.prompt()
    assert set(output) == {"messages"}
    assert "repeat_guard" not in scene.agent.get_input_jsonschema()["properties"]
    assert "repeat_guard" not in scene.agent.get_output_jsonschema()["properties"]


def test_a_step_that_changes_nothing_writes_nothing(guard: MakeGuard, run: Run) -> None:
    """Answers and untracked calls leave the channel of the checkpoint as it is."""
    script = [*repeats(1, "grep"), *repeats(3, "read", {"path": "p"}), says("done")]
    scene = make_scene(guard(exclude=("read",)), run, script, tools=[grep, read])
    scene.prompt()
    versions = {
        str(saved.checkpoint["channel_versions"].get("repeat_guard"))
        for saved in scene.agent.checkpointer.list(scene.config)
    }
    assert len(versions - {"None"}) == 2  # the prompt, and the one counted call


def list_it(guard: Any) -> list[Any]:
    """Put the guard alone."""
    return [guard]


def leave_out(guard: Any) -> list[Any]:
    """Put no guard."""
    return []


def _plain(message: Any) -> tuple[Any, ...]:
    calls = message.tool_calls if isinstance(message, AIMessage) else None
    call_id = message.tool_call_id if isinstance(message, ToolMessage) else None
    return message.type, message.content, calls, call_id, message.additional_kwargs
