"""How a graph's ledger outlives a run that is interrupted."""

from langgraph.errors import GraphInterrupt

from langchain_repeat_guard.callback.issued import Rules
from langchain_repeat_guard.callback.ledger import Ledger
from langchain_repeat_guard.callback.parking import ParkingLot
from langchain_repeat_guard.callback.run_tree import Run


def open_ledger(agent: Run, task: Run, parking: ParkingLot, rules: Rules) -> Ledger:
    """Give a graph that starts its first `task` the ledger to go on with, or a new one."""
    thread_id = str(task.metadata.get("thread_id") or "")
    around = agent.task.namespace if agent.task else ""
    key = (around, thread_id, task.namespace.rpartition("|")[0])
    top = agent.outermost_graph
    if top is agent and thread_id:
        if agent.resumes:
            agent.parked = parking.take(thread_id)
        elif _starts_over(agent, task, parking.get(thread_id).get(key)):
            parking.take(thread_id)
    ledger = top.parked.pop(key, None)
    if ledger and _goes_on(ledger, task, is_outermost=top is agent):
        ledger.is_interrupted, ledger.is_adopted = False, True
    else:
        ledger = Ledger(rules, key=key, entry=(agent.name, task.node))
    agent.ledger = ledger
    return ledger


def close_ledger(agent: Run, error: BaseException | None, parking: ParkingLot) -> None:
    """Keep the ledger of a graph that ends by an interrupt; any other is forgotten with its run."""
    ledger = agent.ledger
    if ledger is None or ledger.key is None:
        return
    if not (ledger.is_interrupted or isinstance(error, GraphInterrupt)):
        return
    ledger.is_interrupted = True
    ledger.close()
    top = agent.outermost_graph
    top.parked[ledger.key] = ledger
    thread_id = ledger.key[1]
    if top is agent and thread_id:
        parking.put(thread_id, top.parked)


def _starts_over(agent: Run, task: Run, left: Ledger | None) -> bool:
    """Tell whether new input goes to the graph that was paused, not to another one of its thread.

    Nothing names a graph for certain. A ledger that is not recognised is only held for longer.
    """
    if left is None:
        return False
    return left.entry == (agent.name, task.node) and task.step > left.superstep


def _goes_on(ledger: Ledger, task: Run, *, is_outermost: bool) -> bool:
    """Tell whether a graph's first `task` goes on where `ledger` was left.

    New input takes a superstep of its own; a replay of an older checkpoint starts earlier.
    """
    if is_outermost:
        return task.step >= ledger.superstep
    return ledger.superstep <= task.step <= ledger.superstep + 1
