"""Under HumanInTheLoopMiddleware a call counts once, whatever the human decides."""

from typing import Any

import pytest
from helpers.agents import MakeGuard, make_scene
from helpers.models import asks, call, repeats, says
from helpers.modes import Run
from helpers.pictures import growing
from helpers.versions import needs
from langchain.agents.middleware import HumanInTheLoopMiddleware

DECISIONS: dict[str, dict[str, Any]] = {
    "approve": {"type": "approve"},
    "edit": {
        "type": "edit",
        "edited_action": {"name": "grep", "args": {"pattern": "another"}},
    },
    "reject": {"type": "reject", "message": "no"},
    "respond": {"type": "respond", "message": "nothing there"},
}

RESPOND = needs("langchain", "1.3.0", "the decision to respond")


@pytest.mark.parametrize(
    "decision",
    [
        pytest.param(decision, id=name, marks=RESPOND if name == "respond" else ())
        for name, decision in DECISIONS.items()
    ],
)
@pytest.mark.parametrize("is_first", [True, False], ids=["guard-first", "guard-last"])
def test_each_issued_call_counts_once(
    guard: MakeGuard, run: Run, decision: dict[str, Any], is_first: bool
) -> None:
    """Four equal calls, each paused and answered by the same decision: a reminder at three."""
    scene = make_scene(
        guard(),
        run,
        [*repeats(4, "grep", {"pattern": "x"}), says("done")],
        arrange=lambda one: [one, human()] if is_first else [human(), one],
    )
    scene.prompt()
    for _ in range(4):
        scene.resume({"decisions": [decision]})
    assert scene.seen == growing("hatatatR3at")
    assert scene.stored == scene.as_stored("hatatatR3ata")


def test_rejected_beside_approved_calls_of_one_step(guard: MakeGuard, run: Run) -> None:
    """The rejected call's result comes first; the reminder still stands behind the last result."""
    pair = [asks(call("grep", {"pattern": "x"}), call("grep", {"pattern": "x"})) for _ in range(2)]
    scene = make_scene(guard(), run, [*pair, says("done")], arrange=lambda one: [one, human()])
    scene.prompt()
    for _ in range(2):
        scene.resume({"decisions": [DECISIONS["approve"], DECISIONS["reject"]]})
    assert scene.seen == growing("hattattR3")


def human() -> HumanInTheLoopMiddleware[Any, Any]:
    """Return a middleware that asks before each grep."""
    allowed: list[Any] = list(DECISIONS)
    return HumanInTheLoopMiddleware(interrupt_on={"grep": {"allowed_decisions": allowed}})
