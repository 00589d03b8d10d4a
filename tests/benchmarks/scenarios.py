"""What agents do, as scripts: loops that a guard should find, and good work that it should leave.

Each scenario is data: its name, what is wanted of a guard, and a function that builds the script.
The scripted model never listens, so that every nudge of a guard can be seen.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from helpers.models import ScriptedModel, asks, call, repeats, says
from langchain.agents.middleware import HumanInTheLoopMiddleware, SummarizationMiddleware
from langchain_core.messages import AIMessage

Wanted = Literal["nudge", "silence"]
APPROVE = {"type": "approve"}
REJECT = {"type": "reject", "message": "The user does not allow this."}


@dataclass(frozen=True)
class Act:
    """One call of the agent, and what the model says in it before it is done."""

    turns: list[AIMessage]
    decision: dict[str, Any] | None = None
    """The human's answer to a paused tool call; without one, the act is a new user prompt."""

    thread: str = "1"
    is_new_agent: bool = False
    """Whether the act finds a new agent and a new guard, as in another process."""


@dataclass(frozen=True)
class Scenario:
    """A script for an agent, and what is wanted of a guard that watches it."""

    name: str
    wanted: Wanted
    acts: Callable[[], list[Act]]
    middleware: Callable[[], list[Any]] = field(default=list)
    """What else the agent has; stands in front of the guard."""


def one_act(*turns: AIMessage) -> list[Act]:
    """Return a script that is one prompt and what follows."""
    return [Act(list(turns))]


def paused(times: int, decision: dict[str, Any], *, is_new_agent: bool = False) -> list[Act]:
    """Return a script of one call again and again, each paused until a human decides."""
    first, *others = repeats(times, "delete_file", {"path": "a.txt"})
    answers = [
        Act(turns, decision, is_new_agent=is_new_agent)
        for turns in [*([one] for one in others), []]
    ]
    return [Act([first]), *answers]


def asking_first() -> list[Any]:
    """Return a middleware that asks a human before each deletion."""
    return [HumanInTheLoopMiddleware(interrupt_on={"delete_file": True})]


def summarising() -> list[Any]:
    """Return a middleware that replaces all but the last messages when there are more than six."""
    model = ScriptedModel(script=lambda _: says("Nothing was found so far."))
    return [SummarizationMiddleware(model, trigger=("messages", 6), keep=("messages", 2))]


def same_call() -> list[Act]:
    """One call, twelve times."""
    return one_act(*repeats(12, "search", {"query": "refunds"}))


def other_key_order() -> list[Act]:
    """One call, written in two ways."""
    one, two = {"query": "refunds", "path": "docs"}, {"path": "docs", "query": "refunds"}
    return one_act(*(asks(call("search", args)) for args in [one, two] * 6))


def noisy_results() -> list[Act]:
    """One call, whose results differ in a time stamp only."""
    return one_act(*repeats(12, "run_tests"))


def alternating() -> list[Act]:
    """Two calls in turns."""
    turns = []
    for _ in range(6):
        turns.append(asks(call("search", {"query": "refunds"})))
        turns.append(asks(call("read_page", {"page": 1})))
    return one_act(*turns)


def parallel_set() -> list[Act]:
    """The same two calls in each step."""
    queries = ("refunds", "returns")
    return one_act(*(asks(*(call("search", {"query": one}) for one in queries)) for _ in range(6)))


def parallel_equal() -> list[Act]:
    """Four times the same call in each step."""
    query = {"query": "refunds"}
    return one_act(*(asks(*(call("search", query) for _ in range(4))) for _ in range(3)))


def unknown_tool() -> list[Act]:
    """A tool that does not exist."""
    return one_act(*repeats(12, "web_search", {"query": "refunds"}))


def bookkeeping() -> list[Act]:
    """One call, and a new note behind each."""
    turns = []
    for number in range(6):
        turns.append(asks(call("search", {"query": "refunds"})))
        turns.append(asks(call("take_note", {"text": f"attempt {number}"})))
    return one_act(*turns)


def polling() -> list[Act]:
    """One call until a job is done."""
    return one_act(*repeats(12, "job_status", {"job": "build"}))


def two_threads() -> list[Act]:
    """Two threads in turns, with two equal calls each."""
    one = ("delete_file", {"path": "a.txt"})
    asked = [Act(repeats(1, *one), thread=thread) for thread in ("1", "2")]
    again = [Act(repeats(1, *one), APPROVE, thread) for thread in ("1", "2")]
    return [*asked, *again, Act([], APPROVE, "1"), Act([], APPROVE, "2")]


def once_per_turn() -> list[Act]:
    """The user asks for the same thing thirty times."""
    return [Act(repeats(1, "job_status", {"job": "build"})) for _ in range(30)]


def pagination() -> list[Act]:
    """Twelve pages, one after the other."""
    return one_act(*(asks(call("read_page", {"page": number})) for number in range(12)))


def edit_and_retest() -> list[Act]:
    """Six edits, each followed by the same test."""
    turns = []
    for number in range(6):
        turns.append(asks(call("edit_file", {"text": f"version {number}"})))
        turns.append(asks(call("run_tests")))
    return one_act(*turns)


def distinct() -> list[Act]:
    """Two hundred steps, all different."""
    return one_act(*(asks(call("search", {"query": f"topic {n}"})) for n in range(200)))


SCENARIOS: tuple[Scenario, ...] = (
    Scenario("the same call, 12 times", "nudge", same_call),
    Scenario("the same, key order changes", "nudge", other_key_order),
    Scenario("the same, each result has another time stamp", "nudge", noisy_results),
    Scenario("A, B, A, B …, 12 calls", "nudge", alternating),
    Scenario("the same 2 calls in parallel, 6 steps", "nudge", parallel_set),
    Scenario("4 equal calls in parallel, 3 steps", "nudge", parallel_equal),
    Scenario("an unknown tool, 12 times", "nudge", unknown_tool),
    Scenario(
        "a call that the user denies, 12 times", "nudge", lambda: paused(12, REJECT), asking_first
    ),
    Scenario("the same call 6 times, a new note behind each", "nudge", bookkeeping),
    Scenario(
        "the same 12 times, each resumed by a new instance",
        "nudge",
        lambda: paused(12, APPROVE, is_new_agent=True),
        asking_first,
    ),
    Scenario("the same 12 times, summarised on the way", "nudge", same_call, summarising),
    Scenario("polling a job, 12 times", "silence", polling),
    Scenario("2 threads in turns, 2 equal calls each", "silence", two_threads, asking_first),
    Scenario("the same call once per user turn, 30 turns", "silence", once_per_turn),
    Scenario("12 pages of one list", "silence", pagination),
    Scenario("edit and test again, 6 rounds", "silence", edit_and_retest),
    Scenario("200 different calls", "silence", distinct),
)
"""Every scenario, loops first."""
