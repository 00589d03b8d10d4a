"""Plays a scenario in a real agent, and judges what a guard did by the same run without a guard."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from benchmarks.scenarios import Act, Scenario
from helpers.models import ScriptedModel, says
from helpers.order_rules import broken_rule
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, convert_to_openai_messages
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

Adapter = Callable[[], list[Any]]
"""Returns the middlewares that make up one guard. Another guard is one more such function."""

APIS = ("openai-chat", "mistral")
"""Whose order rules every request is held to."""


@dataclass(frozen=True)
class Request:
    """What the model was sent, and how many calls it had made in that thread until then."""

    calls: int
    messages: list[BaseMessage]


@dataclass
class Trace:
    """What was seen of one run."""

    requests: list[Request] = field(default_factory=list)
    executed: int = 0


@dataclass(frozen=True)
class Outcome:
    """What a guard did in one scenario."""

    nudges: tuple[int, ...]
    """Numbers of the calls behind which the model was told something that only a guard says."""

    calls_stopped: int
    """Calls that ran without the guard and did not run with it."""

    turns_stopped: int
    """Turns of the model that it did not get because the run had ended."""

    refused: dict[str, int]
    """How many requests break an order rule, for each API."""


class Player:
    """Runs one scenario under one guard: real agents, one saver, a model that never listens."""

    def __init__(self, scenario: Scenario, guard: Adapter) -> None:
        """Prepare the first agent."""
        self.trace = Trace()
        self._scenario = scenario
        self._guard = guard
        self._saver = InMemorySaver()
        self._tools = list(_tools(self.trace))
        self._calls: Counter[str] = Counter()
        self._turns: list[AIMessage] = []
        self._thread = ""
        self._agent = self._new_agent()

    def play(self) -> Trace:
        """Play all acts; an answer for which nobody waits is left out."""
        for act in self._scenario.acts():
            self._turns, self._thread = list(act.turns), act.thread
            if act.is_new_agent:
                self._agent = self._new_agent()
            config = {"configurable": {"thread_id": act.thread}, "recursion_limit": 10_000}
            if act.decision is None or self._agent.get_state(config).interrupts:
                self._agent.invoke(_input(act), config)
        return self.trace

    def _new_agent(self) -> Any:
        middleware = [*self._scenario.middleware(), *self._guard()]
        model = ScriptedModel(script=self._answer)
        return create_agent(model, self._tools, middleware=middleware, checkpointer=self._saver)

    def _answer(self, messages: list[BaseMessage]) -> AIMessage:
        self.trace.requests.append(Request(self._calls[self._thread], messages))
        turn = self._turns.pop(0) if self._turns else says("done")
        self._calls[self._thread] += len(turn.tool_calls)
        return turn


def judge(bare: Trace, guarded: Trace) -> Outcome:
    """Tell what the guard did, from the run without it and the run with it."""
    known = {str(message.content) for request in bare.requests for message in request.messages}
    nudges = [one.calls for one in guarded.requests if _is_nudged(one.messages, known)]
    return Outcome(
        nudges=tuple(nudges),
        calls_stopped=bare.executed - guarded.executed,
        turns_stopped=len(bare.requests) - len(guarded.requests),
        refused=_refused(guarded.requests),
    )


def _is_nudged(messages: Sequence[BaseMessage], known: set[str]) -> bool:
    """Tell whether there are words behind the model's last turn that no other run has."""
    newest: list[BaseMessage] = []
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            break
        newest.append(message)
    return any(str(message.content) not in known for message in newest)


def _refused(requests: Sequence[Request]) -> dict[str, int]:
    bodies = [{"messages": convert_to_openai_messages(one.messages)} for one in requests]
    return {api: sum(broken_rule(api, body) is not None for body in bodies) for api in APIS}


def _input(act: Act) -> Any:
    if act.decision is None:
        return {"messages": [("user", "Please do it.")]}
    return Command(resume={"decisions": [act.decision]})


def _tools(trace: Trace) -> list[StructuredTool]:
    """Return tools that count in `trace` how often they have run."""
    clock = count(1)

    def search(query: str, path: str = ".") -> str:
        """Search."""
        trace.executed += 1
        return f"Nothing about {query} in {path}."

    def read_page(page: int) -> str:
        """Read one page of a list."""
        trace.executed += 1
        return f"Content of page {page}."

    def edit_file(text: str) -> str:
        """Change a file."""
        trace.executed += 1
        return f"Wrote {text}."

    def run_tests() -> str:
        """Run the tests."""
        trace.executed += 1
        return f"1 test failed at second {next(clock)}."

    def delete_file(path: str) -> str:
        """Delete a file."""
        trace.executed += 1
        return f"Could not delete {path}."

    def take_note(text: str) -> str:
        """Write a note."""
        trace.executed += 1
        return f"Noted: {text}."

    def job_status(job: str) -> str:
        """Ask how far a job is."""
        trace.executed += 1
        return f"{job}: step {next(clock)} is done."

    functions = (search, read_page, edit_file, run_tests, delete_file, take_note, job_status)
    return [StructuredTool.from_function(one) for one in functions]
