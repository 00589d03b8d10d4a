"""How the middlewares are attached, and what they say where that is wrong."""

import subprocess
import sys
from typing import Any

import pytest
from helpers.agents import GuardLog, MakeGuard, make_scene
from helpers.models import ScriptedModel, repeats, says
from helpers.modes import Run
from helpers.pictures import growing
from helpers.tools import grep
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import SystemMessage
from pydantic import ValidationError

from langchain_repeat_guard import (
    RepeatGuardConfig,
    RepeatGuardMiddleware,
    TransientRepeatGuardMiddleware,
)

BOTH = [RepeatGuardMiddleware, TransientRepeatGuardMiddleware]


@pytest.mark.parametrize("first", BOTH)
@pytest.mark.parametrize("second", BOTH)
def test_two_guards_on_one_agent_raise(first: Any, second: Any) -> None:
    """create_agent refuses a second guard, of whichever kind."""
    with pytest.raises(AssertionError, match="duplicate middleware"):
        create_agent(ScriptedModel(), [grep], middleware=[first(), second(thresholds=(2,))])


def test_options_and_config(guard: MakeGuard) -> None:
    """Options may come one by one or as a config; both together raise."""
    assert guard(thresholds=(2, 4)).config == RepeatGuardConfig(thresholds=(2, 4))
    assert guard(config=RepeatGuardConfig(exclude=("a",))).config.exclude == ("a",)
    with pytest.raises(TypeError, match=r"Got config= and also thresholds"):
        guard(config=RepeatGuardConfig(), thresholds=(2,))


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"thresholds": (1,)}, ValidationError),
        ({"thresholds": ()}, ValidationError),
        ({"include": "grep"}, ValidationError),
        ({"treshold": (3,)}, ValidationError),
        ({"delivery": "system_message"}, ValueError),
        ({"is_user_prompt": True}, TypeError),
        ({"config": {"thresholds": (3,)}}, TypeError),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else value.__name__,
)
def test_wrong_settings_fail_at_construction(
    guard: MakeGuard, options: dict[str, Any], error: type[Exception]
) -> None:
    """Nothing falls back to a default."""
    with pytest.raises(error):
        guard(**options)


def test_positional_settings_are_refused(guard: MakeGuard) -> None:
    """All options are keyword-only."""
    with pytest.raises(TypeError, match="positional"):
        guard(RepeatGuardConfig())


def test_hosts_may_say_what_a_prompt_is(guard: MakeGuard, run: Run) -> None:
    """With is_user_prompt a host keeps its own messages from resetting the chain."""
    script = [*repeats(2, "grep"), says("done"), *repeats(1, "grep"), says("done")]
    scene = make_scene(guard(is_user_prompt=lambda message: message.content != "tick"), run, script)
    scene.prompt("go")
    scene.prompt("tick")
    assert scene.seen[-1] == "hatatahatR3"


def test_a_missing_extra_says_what_to_install() -> None:
    """Without the package langchain the import raises, and names the extra."""
    code = (
        "import sys; sys.modules['langchain'] = None\n"
        "import langchain_repeat_guard\n"
        "try: langchain_repeat_guard.TransientRepeatGuardMiddleware\n"
        "except langchain_repeat_guard.MissingExtraError as error: print(error)\n"
    )
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == (
        "RepeatGuardMiddleware needs an optional dependency: "
        'pip install "langchain-repeat-guard[langchain]"\n'
    )


class Shortener(AgentMiddleware[Any, Any, Any]):
    """Drops the first message of each request."""

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        """Shorten."""
        return handler(request.override(messages=request.messages[1:]))

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        """Shorten."""
        return await handler(request.override(messages=request.messages[1:]))


class Prompter(AgentMiddleware[Any, Any, Any]):
    """Edits the system message alone, as most middlewares that edit requests do."""

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        """Instruct."""
        return handler(request.override(system_message=SystemMessage("Be brief.")))

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        """Instruct."""
        return await handler(request.override(system_message=SystemMessage("Be brief.")))


def test_an_editor_behind_the_transient_guard_is_named_once(run: Run, guard_log: GuardLog) -> None:
    """Where a middleware further inside edits the messages, the guard says so once."""
    script = [*repeats(9, "grep"), says("done")]
    scene = make_scene(
        TransientRepeatGuardMiddleware(), run, script, arrange=lambda one: [one, Shortener()]
    )
    scene.prompt()
    assert guard_log() == [
        (
            "TransientRepeatGuardMiddleware found that a middleware behind it in the list edits "
            "request.messages after the reminders were put in. List it last among those that edit "
            "them."
        )
    ]


@pytest.mark.parametrize(
    "arrange",
    [lambda one: [Shortener(), one], lambda one: [Prompter(), one], lambda one: [one, Prompter()]],
    ids=["editor-outside", "prompter-outside", "prompter-inside"],
)
def test_a_guard_in_its_place_says_nothing(
    guard: MakeGuard, run: Run, arrange: Any, guard_log: GuardLog
) -> None:
    """An editor in front of it, or one that leaves the messages alone, is no fault."""
    script = [*repeats(9, "grep"), says("done")]
    make_scene(guard(), run, script, arrange=arrange).prompt()
    assert guard_log() == []


@pytest.mark.parametrize(
    "value", [["ours?"], {"chain": 3}, {"chain": {"key": "k", "count": -1}}, "text"], ids=repr
)
def test_a_foreign_value_in_the_channel_is_replaced(
    guard: MakeGuard, run: Run, value: Any, guard_log: GuardLog
) -> None:
    """What no guard has written costs one log line, and the run goes on."""
    scene = make_scene(guard(), run, [*repeats(5, "grep"), says("done")], interrupt_after=["tools"])
    scene.prompt()
    scene.agent.update_state(scene.config, {"repeat_guard": value}, as_node="tools")
    for _ in range(3):
        scene.go_on()
    assert scene.seen == growing("hatatatR3")
    assert len(guard_log()) == 1
    assert "repeat_guard" in guard_log()[0]


@pytest.mark.parametrize(
    "marks",
    [3, [3], [["id", 3]], [["id", [[0, "loud", 3, 500]]]], [["id", [[-1, "short", 3, 500]]]]],
    ids=repr,
)
def test_foreign_marks_are_dropped(run: Run, marks: Any, guard_log: GuardLog) -> None:
    """Marks that no guard has written cost one log line; the chain itself goes on."""
    scene = make_scene(
        TransientRepeatGuardMiddleware(), run, repeats(5, "grep"), interrupt_after=["tools"]
    )
    scene.prompt()
    scene.go_on()
    stored = {**scene.state["repeat_guard"], "reminded": marks}
    scene.agent.update_state(scene.config, {"repeat_guard": stored}, as_node="tools")
    scene.go_on()
    scene.go_on()
    assert scene.seen == growing("hatatatR3")
    assert len(guard_log()) == 1


def test_marks_whose_call_is_gone_are_left_out(run: Run) -> None:
    """A third call that an edit has taken away is no call, and its reminder goes with it."""
    scene = make_scene(
        TransientRepeatGuardMiddleware(), run, repeats(5, "grep"), interrupt_after=["tools"]
    )
    scene.prompt()
    for _ in range(3):
        scene.go_on()
    reminded: Any = scene.messages[5]
    edited = reminded.model_copy(update={"tool_calls": [], "content": "never mind"})
    scene.agent.update_state(scene.config, {"messages": [edited]}, as_node="tools")
    scene.go_on()
    assert scene.seen[-2:] == ["hatatatR3", "hatatatatR3"]


def test_nothing_that_goes_wrong_in_the_guard_stops_the_agent(
    guard: MakeGuard, run: Run, guard_log: GuardLog
) -> None:
    """A host's own function that raises costs reminders and one log line without its text."""

    def is_user_prompt(_: object) -> bool:
        raise RuntimeError("secret")  # noqa: EM101

    scene = make_scene(
        guard(is_user_prompt=is_user_prompt), run, [*repeats(4, "grep"), says("done")]
    )
    output = scene.prompt()
    assert output["messages"][-1].content == "done"
    assert len(guard_log()) == 1
    assert "RuntimeError" in guard_log()[0]
    assert "secret" not in guard_log()[0]


def test_the_guard_survives_copies_and_bound_configs(guard: MakeGuard, run: Run) -> None:
    """An agent with a bound config behaves as the plain one."""
    scene = make_scene(guard(), run, [*repeats(3, "grep"), says("done")])
    scene.agent = scene.agent.with_config(tags=["copy"])
    scene.prompt()
    assert scene.seen == growing("hatatatR3")
