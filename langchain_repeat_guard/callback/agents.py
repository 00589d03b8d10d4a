"""What each event of a run means for the agents in it. Decides what to report; does nothing."""

from asyncio import CancelledError
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any
from uuid import UUID

from langchain_core.agents import AgentAction
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import LLMResult
from langgraph.errors import GraphBubbleUp, GraphInterrupt
from langgraph.types import Command

from langchain_repeat_guard.callback.inputs import arguments_of
from langchain_repeat_guard.callback.ledger import DueStep, Ledger, LooseCall, Rules
from langchain_repeat_guard.callback.outputs import messages_in
from langchain_repeat_guard.callback.parking import ParkingLot
from langchain_repeat_guard.callback.run_tree import Run, RunTree
from langchain_repeat_guard.history.calls import all_answered, calls_of, issued_call
from langchain_repeat_guard.history.delivery import is_reminder
from langchain_repeat_guard.history.steps import Prompt, Step, read_back

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


@dataclass(frozen=True, slots=True)
class Shown:
    """What a model's request says about the agent's last step."""

    is_of_agent: bool
    is_reminded: bool


class AgentWatch:
    """Follows all runs of one handler, from any thread, and keeps a ledger for each agent."""

    def __init__(
        self, rules: Rules, is_user_prompt: Callable[[HumanMessage], bool], max_runs: int
    ) -> None:
        """Start with no runs."""
        self._rules = rules
        self._is_user_prompt = is_user_prompt
        self._lock = Lock()
        self._runs = RunTree(max_runs)
        self._parking = ParkingLot(_PARKED_THREADS)

    def __len__(self) -> int:
        """Count the runs and the interrupted threads that are held."""
        return len(self._runs) + len(self._parking)

    def chain_started(
        self,
        run_id: UUID,
        parent_run_id: UUID | None,
        name: str | None,
        tags: Sequence[str] | None,
        metadata: Mapping[str, Any] | None,
        inputs: object,
    ) -> Report | None:
        """Take in the start of a chain: a graph, one of its tasks, an agent's plan, or a part."""
        with self._lock:
            run = self._runs.start(run_id, parent_run_id, "chain", name, tags, metadata)
            if run is None:
                return None
            parent = run.parent
            run.resumes = bool(parent and parent.resumes) or _is_resume(inputs)
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
                self._read_outputs(run.parent.ledger, run, outputs)
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
            shown = self._read_request(ledger, parent, messages or ())
            if not shown.is_of_agent:
                return None
            return self._due(host, ledger, is_delivered=shown.is_reminded)

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
        name: str,
        inputs: object,
        input_str: str,
        tool_call_id: str | None,
    ) -> None:
        """Take in the start of a tool: it executes an issued call, or is one that no one issued."""
        with self._lock:
            run = self._runs.start(run_id, parent_run_id, "tool", name)
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
            elif run.loose and isinstance(error, _NOT_CARRIED_OUT):
                ledger.drop_loose(run.loose)
            elif run.loose:
                run.loose.is_over = True
                ledger.count_loose()
                if not ledger.has_model and host.ledger.key is None:
                    return self._due(host, ledger)
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
                self._read_request(ledger, run, messages)
                last = next(read_back(messages, self._is_user_prompt), None)
                if isinstance(last, Step) and not last.is_complete:
                    return None, ()
            if not ledger.due:
                return None, ()
            steps, ledger.due = ledger.due, []
            ledger.taken = namespace, steps
            return Report(host, host.root, steps, is_delivered=True), steps

    def _task_started(self, task: Run, agent: Run) -> Report | None:
        ledger = agent.ledger or self._graph_ledger(agent, task)
        ledger.superstep = task.step
        if ledger.has_model or not (ledger.due or ledger.at_limit):
            return None
        # No model of this agent was ever seen: somebody else calls it, in one of these nodes.
        if ledger.has_issued and ledger.last:
            is_asked = task.node == ledger.last.node
        else:
            is_asked = task.step > ledger.due_superstep + 1
        return self._due(agent, ledger) if is_asked else None

    def _graph_ledger(self, agent: Run, task: Run) -> Ledger:
        """Return a new ledger for a graph, or the one that it left when it was interrupted."""
        thread_id = str(task.metadata.get("thread_id") or "")
        outer = agent.task.namespace if agent.task else ""
        key = (outer, thread_id, task.namespace.rpartition("|")[0])
        top = agent.outermost_graph
        if top is agent and thread_id:
            parked = self._parking.take(thread_id)
            if agent.resumes:
                agent.parked = parked
        ledger = top.parked.pop(key, None)
        if ledger and _goes_on(ledger, task, is_outermost=top is agent):
            ledger.is_interrupted, ledger.is_adopted = False, True
        else:
            ledger = Ledger(self._rules, key=key)
        agent.ledger = ledger
        return ledger

    def _ledger(self, host: Run) -> Ledger:
        if host.ledger is None:
            host.ledger = Ledger(self._rules)
        return host.ledger

    def _agent_ended(self, run: Run, error: BaseException | None) -> Report | None:
        ledger = run.ledger
        if ledger is None:
            return None
        report = None
        if ledger.due and not (ledger.has_model or ledger.has_issued or ledger.is_interrupted):
            report = Report(run, run.root, ledger.due)
        if ledger.key is None:
            return report
        top = run.outermost_graph
        ledger.is_interrupted = ledger.is_interrupted or isinstance(error, GraphInterrupt)
        if ledger.is_interrupted:
            ledger.close()
            top.parked[ledger.key] = ledger
            thread_id = ledger.key[1]
            if top is run and thread_id:
                self._parking.put(thread_id, top.parked)
        return report

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

    def _read_outputs(self, ledger: Ledger, task: Run, outputs: object) -> None:
        """Note the calls, answers and prompts that a task has written."""
        answers: list[Any] = []
        is_prompted = False
        messages = messages_in(outputs)
        for message in reversed(messages):
            if message.type == "tool":
                answers.append(message)
            elif isinstance(message, AIMessage):
                if message.tool_calls or message.invalid_tool_calls:
                    self._read_written_calls(ledger, task, message, answers)
                break
            elif isinstance(message, HumanMessage) and not is_reminder(message):
                is_prompted = is_prompted or self._is_user_prompt(message)
        for answer in reversed(answers):
            ledger.answer(answer.tool_call_id or "")
        # Whoever rewrites the history repeats old prompts.
        if is_prompted and all(message.type != "remove" for message in messages):
            ledger.start_anew()

    def _read_written_calls(
        self, ledger: Ledger, task: Run, message: AIMessage, answers: Sequence[Any]
    ) -> None:
        calls = calls_of(message)
        # A whole history, such as a subgraph returns, ends in steps that are answered.
        if not answers or not all_answered(calls, answers):
            ledger.issue(message.id or "", calls, None, task.node)

    def _read_request(self, ledger: Ledger, parent: Run, messages: Sequence[Any]) -> Shown:
        """Compare what a model is shown with the open steps, and with the one counted last."""
        is_loop = self._is_loop(ledger, parent)
        if not (
            ledger.has_open_steps
            or ledger.due
            or ledger.at_limit
            or (is_loop and ledger.chain.count)
        ):
            ledger.is_adopted = False
            return Shown(is_of_agent=False, is_reminded=False)
        is_prompted = is_closed = False
        last: Step | None = None
        for item in read_back(messages, self._is_user_prompt):
            if isinstance(item, Step):
                last = item
                break
            is_prompted = is_prompted or isinstance(item, Prompt)
            is_closed = is_closed or not isinstance(item, Prompt)
        is_asked_again = parent.node in ledger.issuers
        if last is None:
            is_text_agent = ledger.last is None
            return Shown(is_text_agent or is_asked_again, is_reminded=False)
        message_id, ids = last.message.id or "", [call.id for call in last.calls]
        is_known = ledger.open_step(message_id, ids) is not None
        if last.is_complete and ledger.answer_all(message_id, ids):
            is_known = True
        elif ledger.last and ledger.last.is_same(message_id, ids):
            is_known = True
        if is_known and is_prompted and is_loop:
            ledger.start_anew()
        ledger.is_adopted = False
        is_own = is_known or is_asked_again or ledger.last is None
        return Shown(is_own, is_reminded=is_closed or last.is_reminded)

    def _is_loop(self, ledger: Ledger, parent: Run) -> bool:
        """Tell whether code, not a graph's state, decides what the model is shown."""
        task = parent.task
        if task is None or task.is_entrypoint or ledger.is_adopted:
            return True
        return bool(ledger.last and ledger.last.task_id == task.run_id.int)


def _is_resume(inputs: object) -> bool:
    return inputs is None or isinstance(inputs, Command)


def _goes_on(ledger: Ledger, task: Run, *, is_outermost: bool) -> bool:
    """Tell whether a graph's first `task` goes on where `ledger` was left.

    New input takes a superstep of its own; a replay of an older checkpoint starts earlier.
    """
    if is_outermost:
        return task.step >= ledger.superstep
    return ledger.superstep <= task.step <= ledger.superstep + 1


def _message_of(response: LLMResult) -> AIMessage | None:
    if not response.generations or not response.generations[0]:
        return None
    message = getattr(response.generations[0][0], "message", None)
    return message if isinstance(message, AIMessage) else None
