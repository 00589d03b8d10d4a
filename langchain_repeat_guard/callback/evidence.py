"""What nodes write and what models are shown, as evidence on an agent's steps."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage

from langchain_repeat_guard.callback.ledger import Ledger
from langchain_repeat_guard.callback.outputs import messages_in
from langchain_repeat_guard.callback.run_tree import Run
from langchain_repeat_guard.history.calls import all_answered, calls_of
from langchain_repeat_guard.history.steps import (
    Closing,
    IsUserPrompt,
    Prompt,
    Step,
    kind_of,
    read_back,
)


@dataclass(frozen=True, slots=True)
class Request:
    """What a model's request says about the agent's last step."""

    is_own: bool
    """Whether it is the agent's own model that is asked, and not one that serves a middleware."""

    is_reminded: bool = False
    """Whether a reminder stands behind the last step already."""


def read_outputs(ledger: Ledger, task: Run, outputs: object, is_user_prompt: IsUserPrompt) -> None:
    """Note the calls, the answers and the prompts that a task has written."""
    answers: list[Any] = []
    is_prompted = False
    messages = messages_in(outputs)
    for message in reversed(messages):
        if message.type == "tool":
            answers.append(message)
        elif isinstance(message, AIMessage):
            _read_calls(ledger, task, message, answers)
            break
        elif isinstance(message, HumanMessage) and not is_prompted:
            own_texts = ledger.rules.config.own_texts
            is_prompted = kind_of(message, is_user_prompt, own_texts) == "prompt"
    for answer in reversed(answers):
        ledger.answer(answer.tool_call_id or "")
    # Whoever rewrites the history repeats old prompts.
    if is_prompted and all(message.type != "remove" for message in messages):
        ledger.start_anew()


def _read_calls(ledger: Ledger, task: Run, message: AIMessage, answers: Sequence[Any]) -> None:
    if not (message.tool_calls or message.invalid_tool_calls):
        return
    calls = calls_of(message)
    # A whole history, such as a subgraph returns, ends in steps that are answered.
    if not answers or not all_answered(calls, answers):
        ledger.issue(message.id or "", calls, None, task.node)


def read_request(
    ledger: Ledger, asking: Run, messages: Sequence[Any], is_user_prompt: IsUserPrompt
) -> Request:
    """Compare what a model is shown with the open steps, and with the one counted last.

    Where calls come without messages there is nothing to compare: any model is the agent's.
    """
    is_looped = _is_looped(ledger, asking)
    may_be_edited, ledger.is_adopted = ledger.is_adopted, False
    if not (ledger.is_waiting or (is_looped and ledger.chain.count)):
        return Request(is_own=False)
    is_asked_again = asking.node in ledger.issuers
    is_prompted = is_closed = is_reminded = False
    for item in read_back(messages, is_user_prompt, own_texts=ledger.rules.config.own_texts):
        if isinstance(item, Step):
            is_known = _compare(ledger, item, may_be_edited=may_be_edited)
            if is_known and is_prompted and is_looped:
                ledger.start_anew()
            is_own = is_known or ledger.last is None or is_asked_again
            return Request(is_own, is_closed or item.is_reminded)
        is_prompted = is_prompted or isinstance(item, Prompt)
        is_closed = is_closed or not isinstance(item, Prompt)
        is_reminded = is_reminded or (isinstance(item, Closing) and not item.is_answer)
    # A prompt or a reminder without the steps before it is what helpers of a middleware are shown.
    return Request(ledger.last is None or (is_asked_again and not is_prompted), is_reminded)


def _compare(ledger: Ledger, step: Step, *, may_be_edited: bool) -> bool:
    """Count `step` if it waited for its answers; tell whether it is one of the agent's.

    Where a paused state may have been edited, what it shows now counts.
    """
    message_id, ids = step.message.id or "", [call.id for call in step.calls]
    if open_step := ledger.open_step(message_id, ids):
        if step.is_complete:
            if may_be_edited:
                open_step.rewrite(message_id, step.calls)
            ledger.count(open_step)
        return True
    if ledger.last is None or not ledger.last.is_same(message_id, ids):
        return False
    if may_be_edited and step.is_complete:
        ledger.recount(ledger.last, step.calls)
    return True


def _is_looped(ledger: Ledger, asking: Run) -> bool:
    """Tell whether code, not a graph's state, decides what the model is shown.

    Then a prompt is seen in the request alone; as after a resume, before which a state may be
    edited. Elsewhere, what is only in the request is no part of the history.
    """
    task = asking.task
    if task is None or task.is_entrypoint or ledger.is_adopted:
        return True
    return bool(ledger.last and ledger.last.task_id == task.run_id.int)
