"""What each event of a run means for the agents in it. Decides what to report; does nothing."""

from asyncio import CancelledError
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import RLock
from typing import Any
from uuid import UUID

from langchain_core.agents import AgentAction
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import LLMResult
from langgraph.errors import GraphBubbleUp, GraphInterrupt
from langgraph.types import Command

from langchain_repeat_guard.callback.evidence import read_outputs, read_request
from langchain_repeat_guard.callback.inputs import arguments_of
from langchain_repeat_guard.callback.issued import DueStep, LooseCall, Rules
from langchain_repeat_guard.callback.ledger import Ledger
from langchain_repeat_guard.callback.parking import ParkingLot
from langchain_repeat_guard.callback.resuming import close_ledger, open_ledger
from langchain_repeat_guard.callback.run_tree import Run, RunTree
from langchain_repeat_guard.history.calls import calls_of, issued_call
from langchain_repeat_guard.history.steps import IsUserPrompt, Step, read_back

_PARKED_THREADS = 1000
# AgentExecutor runs this tool where a model's text holds no call that it can read.
_PARSE_ERROR = "_Exception"
_NOT_CARRIED_OUT = (GraphBubbleUp, CancelledError)


@dataclass(frozen=True, slots=True)
class Report:
    """What the handler has to tell about one agent."""

    agent: Run
    root: Run
    steps: Sequence[DueStep]
    is_delivered: bool = False
    """Whether a node or middleware has put the reminder in front of the model."""

    at_limit: tuple[str, int] | None = None


class AgentWatch:
    """Follows all runs of one handler, from any thread, and keeps a ledger for each agent."""

    def __init__(self, rules: Rules, is_user_prompt: IsUserPrompt, max_runs: int) -> None:
        """Start with no runs."""
        self._rules = rules
        self._is_user_prompt = is_user_prompt
        self._lock = RLock()  # the user's is_user_prompt may call models itself
        self._runs = RunTree(max_runs)
        self._parking = ParkingLot(_PARKED_THREADS)

    def __len__(self) -> int:
        """Count the runs and the interrupted threads that are held."""
        return len(self._runs) + len(self._parking)

    def chain_started(
        self,
        run_id: UUID,
        parent_run_id: UUID | None,
        *,
        name: str | None,
        tags: Sequence[str] | None,
        metadata: Mapping[str, Any] | None,
        inputs: object,
    ) -> Report | None:
        """Take in the start of a chain: a graph, one of its tasks, an agent's plan, or a part."""
        with self._lock:
            run = self._runs.start(
                run_id, parent_run_id, "chain", name=name, tags=tags, metadata=metadata
            )
            if run is None:
                return None
            parent = run.parent
            run.resumes = _is_resume(inputs)
            if parent is None:
                return None
            if run.is_task:
                return self._task_started(run, parent)
            return self._planning(parent) if parent.is_executor else None

    def chain_ended(self, run_id: UUID, outputs: object) -> Report | None:
        """Take in the end of a chain: a task may have written messages."""
        with self._lock:
            run = self._runs.end(run_id)
            if run is None:
                return None
            if run.is_task and run.parent and run.parent.ledger:
                read_outputs(run.parent.ledger, run, outputs, self._is_user_prompt)
                run.parent.ledger.end_task(run_id.int)
            return self._agent_ended(run, None)

    def chain_failed(self, run_id: UUID, error: BaseException) -> Report | None:
        """Take in the failure of a chain; an interrupt is one."""
        with self._lock:
            run = self._runs.end(run_id)
            if run is None:
                return None
            if run.is_task and run.parent and run.parent.ledger:
                run.parent.ledger.fail_task(run_id.int)
                if isinstance(error, GraphInterrupt):
                    run.parent.ledger.is_interrupted = True
            return self._agent_ended(run, error)

    def model_started(
        self,
        parent_run_id: UUID | None,
        messages: Sequence[BaseMessage] | None,
        metadata: Mapping[str, Any] | None,
    ) -> Report | None:
        """Take in that a model is asked: what is due is due now."""
        with self._lock:
            parent = self._runs.get(parent_run_id)
            host = parent and parent.find_host()
            if parent is None or host is None or (metadata and metadata.get("lc_source")):
                return None
            ledger = self._ledger(host)
            ledger.has_model = True
            if host.is_executor:
                return self._planning(host)
            request = read_request(ledger, parent, messages or (), self._is_user_prompt)
            if not request.is_own:
                return None
            return self._due(host, ledger, is_delivered=request.is_reminded)

    def model_ended(self, parent_run_id: UUID | None, response: LLMResult) -> None:
        """Take in a model's answer: it may issue calls."""
        message = _message_of(response)
        if message is None or not (message.tool_calls or message.invalid_tool_calls):
            return
        with self._lock:
            parent = self._runs.get(parent_run_id)
            host = parent and parent.find_host()
            if parent is None or host is None or host.is_executor:
                return
            calls = calls_of(message)
            self._ledger(host).issue(message.id or "", calls, parent.task_id, parent.node)

    def tool_started(
        self,
        run_id: UUID,
        parent_run_id: UUID | None,
        *,
        name: str,
        inputs: object,
        input_str: str,
        tool_call_id: str | None,
    ) -> None:
        """Take in the start of a tool: it executes an issued call, or is one that no one issued."""
        with self._lock:
            run = self._runs.start(run_id, parent_run_id, "tool", name=name)
            if run is None or run.parent is None or name == _PARSE_ERROR:
                return
            host = run.host = run.parent.find_host()
            if host is None or host.is_executor:
                return
            ledger = self._ledger(host)
            known = ledger.start_call(name, tool_call_id)
            if isinstance(known, tuple):
                run.issued = known
            elif not known and not ledger.has_issued:
                call = issued_call(name, arguments_of(inputs, input_str), tool_call_id)
                run.loose = LooseCall(call, str(run_id), run.parent.task_id)
                ledger.add_loose(run.loose)

    def tool_ended(self, run_id: UUID, error: BaseException | None = None) -> Report | None:
        """Take in the end of a tool, or its failure."""
        with self._lock:
            run = self._runs.end(run_id)
            host = run and run.host
            if run is None or host is None or host.ledger is None:
                return None
            ledger = host.ledger
            if host.is_executor:
                host.calls_over += 1
            elif run.issued and error is None:
                ledger.answer_place(*run.issued)
            elif run.loose:
                return self._loose_ended(host, ledger, run.loose, error)
            return None

    def agent_acted(self, run_id: UUID, action: AgentAction) -> Report | None:
        """Take in a call that an `AgentExecutor` announces."""
        with self._lock:
            run = self._runs.get(run_id)
            if run is None:
                return None
            if not run.is_executor:
                run.is_executor, run.ledger = True, Ledger(self._rules)
            ledger = self._ledger(run)
            report = None
            if ledger.loose_count and run.calls_over >= ledger.loose_count:
                report = self._planning(run)
            if action.tool == _PARSE_ERROR:
                return report
            call_id = getattr(action, "tool_call_id", None)
            call = issued_call(action.tool, action.tool_input, call_id)
            run.calls_announced += 1
            ledger.add_loose(LooseCall(call, f"{run_id}:{run.calls_announced}"))
            return report

    def interrupted(self, run_id: UUID | None) -> None:
        """Take in that a graph pauses, be it at a breakpoint, which fires no other event."""
        with self._lock:
            run = self._runs.get(run_id)
            if run and run.ledger:
                run.ledger.is_interrupted = True

    def take_due(
        self, parent_run_id: UUID | None, namespace: str, messages: Sequence[Any]
    ) -> tuple[Report | None, Sequence[DueStep]]:
        """Hand over what is due in the agent whose node asks; a retry of the node gets it again."""
        with self._lock:
            run = self._runs.get(parent_run_id)
            host = run and run.find_host()
            if run is None or host is None or host.ledger is None:
                return None, ()
            ledger = host.ledger
            if ledger.taken and ledger.taken[0] == namespace:
                return None, ledger.taken[1]
            if messages:
                read_request(ledger, run, messages, self._is_user_prompt)
                own_texts = self._rules.config.own_texts
                last = next(read_back(messages, self._is_user_prompt, own_texts=own_texts), None)
                if isinstance(last, Step) and not last.is_complete:
                    return None, ()
            if not ledger.due:
                return None, ()
            steps, ledger.due = ledger.due, []
            ledger.taken = namespace, steps
            return Report(host, host.root, steps, is_delivered=True), steps

    def _task_started(self, task: Run, agent: Run) -> Report | None:
        ledger = agent.ledger or open_ledger(agent, task, self._parking, self._rules)
        ledger.superstep = task.step
        if ledger.has_model or not (ledger.due or ledger.at_limit):
            return None
        # No model of this agent was ever seen: somebody else calls it, in one of these nodes.
        if ledger.has_issued and ledger.last:
            is_asked = task.node == ledger.last.node
        else:
            is_asked = task.step > ledger.due_superstep + 1
        return self._due(agent, ledger) if is_asked else None

    def _loose_ended(
        self, host: Run, ledger: Ledger, loose: LooseCall, error: BaseException | None
    ) -> Report | None:
        if isinstance(error, _NOT_CARRIED_OUT):
            ledger.drop_loose(loose)
            return None
        loose.is_over = True
        ledger.count_loose()
        is_plain_code = ledger.key is None and not ledger.has_model
        return self._due(host, ledger) if is_plain_code else None

    def _ledger(self, host: Run) -> Ledger:
        if host.ledger is None:
            host.ledger = Ledger(self._rules)
        return host.ledger

    def _agent_ended(self, run: Run, error: BaseException | None) -> Report | None:
        ledger = run.ledger
        if ledger is None:
            return None
        close_ledger(run, error, self._parking)
        if ledger.has_model or ledger.has_issued or ledger.is_interrupted or not ledger.due:
            return None
        return Report(run, run.root, ledger.due)

    def _planning(self, executor: Run) -> Report | None:
        ledger = self._ledger(executor)
        ledger.count_all_loose()
        executor.calls_over = 0
        return self._due(executor, ledger)

    def _due(self, host: Run, ledger: Ledger, *, is_delivered: bool = False) -> Report | None:
        if not (ledger.due or ledger.at_limit):
            return None
        steps, ledger.due = ledger.due, []
        return Report(host, host.root, steps, is_delivered, ledger.at_limit)


def _is_resume(inputs: object) -> bool:
    return inputs is None or isinstance(inputs, Command)


def _message_of(response: LLMResult) -> AIMessage | None:
    if not response.generations or not response.generations[0]:
        return None
    message = getattr(response.generations[0][0], "message", None)
    return message if isinstance(message, AIMessage) else None
