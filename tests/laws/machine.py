"""A machine that lets agents do random things, and compares all that is seen with core."""

import itertools
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from helpers.laws import check_append_only, check_order
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    rule,
)
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.types import Command
from laws.agents import KINDS, BrokenOffError, Desk, Kind, Parts, invoke
from laws.oracle import Call, Event, due, texts
from laws.seen import (
    expected_reminders,
    found_reminders,
    has_reminder,
    kept_from,
    message_of,
    newest_event,
    shapes,
)

from langchain_repeat_guard import RepeatGuardCallbackHandler, RepeatGuardConfig, is_reminder

MOST_OTHERS = 2
SOURCES = {"note": {"lc_source": "harness"}, "summary": {"lc_source": "summarization"}}

CALLS: st.SearchStrategy[Call] = st.sampled_from(
    [
        ("grep", {"pattern": "a", "path": "."}),
        ("grep", {"path": ".", "pattern": "a"}),
        ("ping", {}),
        ("refusing", {"reason": "x"}),
        ("unknown", {"n": 1.0}),
        ("unknown", {"n": 1}),
        ("grep", {"wrong": 1}),
        ("denied", {"n": 1}),
        ("shaky", {}),
        ("flaky", {}),
        ("ask_human", {"question": "why"}),
        ("untracked", {}),
    ]
)
STEPS = st.one_of(
    CALLS.map(lambda one: [one]),
    CALLS.map(lambda one: [one, one]),
    st.lists(CALLS, min_size=2, max_size=3),
)
PAUSES = st.sampled_from(["late", "late", "early", "overtaken"])
CONFIGS = st.builds(
    RepeatGuardConfig,
    thresholds=st.sampled_from([(2, 3, 4), (3, 5, 8), (2,)]),
    counting=st.sampled_from(["consecutive", "consecutive", "since_new_call"]),
    remind_every=st.sampled_from([None, None, 2]),
    exclude=st.just(("untracked",)),
)


@dataclass
class Thread:
    """One conversation with an agent, and what is known of it."""

    id: str
    kind: Kind
    events: dict[str, Event] = field(default_factory=dict)
    """All that ever happened, in all branches, by the id of the message."""

    head: Event = field(default_factory=lambda: Event("", "note"))
    """The newest thing that happened in this branch."""

    start: dict[str, Any] = field(default_factory=dict)
    """What names the older checkpoint from which the next run starts, if it does."""

    last_request: list[BaseMessage] | None = None
    """What the model was sent last, as long as nothing since may have changed that."""

    @property
    def config(self) -> Any:
        """The config of the next run."""
        return {"configurable": {"thread_id": self.id, **self.start}}

    @property
    def newest(self) -> Any:
        """The config of the newest checkpoint."""
        return {"configurable": {"thread_id": self.id}}


class Log(logging.Handler):
    """Keeps what is logged."""

    def __init__(self) -> None:
        """Start empty."""
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one line, unless it is the handler's report of a reminder."""
        line = record.getMessage()
        if not line.startswith("reminder: "):
            self.lines.append(line)


class Laws(RuleBasedStateMachine):
    """Several agents on several threads, in a process that may end at any time."""

    threads = Bundle("threads")

    def __init__(self, lead: Kind) -> None:
        """Start with nothing. The first agent is of the kind `lead`."""
        super().__init__()
        self.lead = lead
        self.desk = Desk()
        self.saver = InMemorySaver()
        self.all: list[Thread] = []
        self.agents: dict[str, Any] = {}
        self.is_async = False
        self.numbers = itertools.count()
        self.log = Log()
        logging.getLogger("langchain_repeat_guard").addHandler(self.log)

    # What can happen.

    @initialize(
        target=threads,
        config=CONFIGS,
        others=st.lists(st.sampled_from(KINDS), min_size=1, max_size=MOST_OTHERS),
    )
    def start(self, config: RepeatGuardConfig, others: Sequence[Kind]) -> Any:
        """Choose the settings of all guards, and let users start conversations."""
        self.config = config
        for kind in (self.lead, *others):
            thread = Thread(f"t{next(self.numbers)}", kind)
            self.all.append(thread)
            self._say(thread, Event(self._new_id(thread), "prompt"))
        return multiple(*self.all)

    @rule(thread=threads, calls=STEPS, times=st.integers(1, 4), pause=PAUSES)
    def step(self, thread: Thread, calls: Sequence[Call], times: int, pause: str) -> None:
        """Let the model make the same calls several times, and pause behind the results.

        An early pause is before the guard has seen them, if it stands before the model; the user
        may say something then.
        """
        for _ in range(times):
            self._do_step(thread, calls, early=pause != "late")
        if pause == "overtaken":
            self._prompt(thread)

    @rule(thread=threads, times=st.integers(1, 4))
    def repeat(self, thread: Thread, times: int) -> None:
        """Let the model do again what it did last."""
        self._settle(thread)
        done = [event.calls for event in thread.head.past if event.kind == "step"]
        for _ in range(times if done else 0):
            self._do_step(thread, done[-1], early=False)

    @rule(thread=threads)
    def answer(self, thread: Thread) -> None:
        """Let the model answer, so that the run ends."""
        self._settle(thread)
        text = Event(self._new_id(thread), "text", thread.head)
        thread.events[text.id] = text
        self._model_says(thread, AIMessage("done", id=text.id))
        assert thread.head is text

    @rule(thread=threads)
    def prompt(self, thread: Thread) -> None:
        """Let the user say something, maybe while the agent is at work."""
        self._prompt(thread)

    @rule(thread=threads, how=st.sampled_from(["model fails", "note"]))
    def disturb(self, thread: Thread, how: Literal["model fails", "note"]) -> None:
        """Let a request to the model break the run off, or the host say what no user wrote."""
        self._settle(thread)
        if how == "note":
            self._say(thread, Event(self._new_id(thread), "note", thread.head))
        else:
            self._model_says(thread, BrokenOffError())

    @rule(
        thread=threads,
        keep=st.integers(1, 12),
        has_summary=st.booleans(),
        keeps_prompt=st.booleans(),
    )
    def compact(self, thread: Thread, keep: int, has_summary: bool, keeps_prompt: bool) -> None:
        """Delete older messages, all or all but the user's prompt; maybe leave a summary."""
        self._settle(thread)
        if not thread.kind.has_channel:
            return
        messages = self._messages(thread)
        cut = kept_from(messages, keep, thread.events)
        if is_reminder(messages[cut]) and (keeps_prompt or not has_summary):
            cut += 1  # only a summary may take the place of the results in front of a reminder
        older, kept = messages[:cut], messages[cut:]
        if keeps_prompt:
            prompts = [one for one in older if self._is_prompt(thread, one)][-1:]
            older = [one for one in older if one not in prompts]
            kept = [*prompts, *kept]
        edits: list[BaseMessage] = [RemoveMessage(str(one.id)) for one in older]
        if has_summary:
            summary = HumanMessage(
                "summary", id=self._new_id(thread), additional_kwargs={**SOURCES["summary"]}
            )
            edits = [RemoveMessage(REMOVE_ALL_MESSAGES), summary, *kept]
        thread.last_request = None
        self._run(thread, {"messages": edits})

    @rule(thread=threads, back=st.integers(0, 40), how=st.sampled_from(["replay", "fork"]))
    def go_back(self, thread: Thread, back: int, how: Literal["replay", "fork"]) -> None:
        """Go on from an older checkpoint, or from a copy of it on top of the thread."""
        agent = self._agent(thread)
        history = agent.get_state_history(thread.newest)
        full = [old for old in history if old.values.get("messages")]
        old = full[back % len(full)]
        thread.start = {}
        if how == "replay":
            thread.start = {"checkpoint_id": old.config["configurable"]["checkpoint_id"]}
        else:
            agent.update_state(old.config, None, as_node="__copy__")
        thread.last_request = None
        self._check(thread)

    @rule(is_async=st.booleans())
    def restart(self, is_async: bool) -> None:
        """End the process; another one goes on with what the saver has, which is bytes."""
        self.agents = {}
        self.is_async = is_async

    # What must hold.

    @invariant()
    def nothing_is_logged(self) -> None:
        """L7: no fault of the guard."""
        assert self.log.lines == []

    def teardown(self) -> None:
        """Look at every thread as a whole."""
        try:
            for thread in self.all:
                self._check(thread)
                self._check_checkpoints(thread)
                self._check_against_bare_run(thread)
        finally:
            logging.getLogger("langchain_repeat_guard").removeHandler(self.log)

    def _check(self, thread: Thread) -> None:
        """L1 to L5: the state holds what core says, at its places, whatever else went on."""
        state = self._state(thread)
        messages = state.values["messages"]
        check_order(messages)
        thread.head = newest_event(messages, thread.events)
        said = texts(thread.head, self.config) if thread.kind.stores else {}
        newest = thread.head.newest.id
        if not thread.kind.has_seen_newest(state.next) and not has_reminder(messages, newest):
            said.pop(newest, None)
        assert found_reminders(messages) == expected_reminders(messages, said)

    def _check_request(self, thread: Thread, request: list[BaseMessage]) -> None:
        """L1 to L5 for what the model is sent, which only grows while nothing is deleted."""
        check_order(request)
        said = texts(newest_event(request, thread.events), self.config)
        assert found_reminders(request) == expected_reminders(request, said)
        if thread.last_request is not None:
            check_append_only([thread.last_request, request])
        thread.last_request = request

    def _check_checkpoints(self, thread: Thread) -> None:
        """L4 for every checkpoint of all branches."""
        for old in self._agent(thread).get_state_history(thread.newest):
            check_order(old.values.get("messages", []))

    def _check_against_bare_run(self, thread: Thread) -> None:
        """L6 and L8: the agent without guard does the same, and a handler on it finds the same."""
        self._settle(thread)
        handler = RepeatGuardCallbackHandler(config=self.config, keep_reminders=1000)
        bare = shapes(self._bare_run(thread, handler), thread.events)
        mine = shapes(self._messages(thread), thread.events)
        assert [*mine.items()] == [(key, one) for key, one in bare.items() if key in mine]
        expected = due(thread.head, self.config, with_overtaken=True)
        assert [(one.reminder_id, one.tool, one.count) for one in handler.reminders] == [
            (f"repeat_guard:{key}", one.tool, one.count)
            for key, reminders in expected.items()
            for one in reminders
        ]

    # How it is done.

    def _agent(self, thread: Thread) -> Any:
        kind = thread.kind
        if kind.name not in self.agents:
            self.agents[kind.name] = kind.build(Parts(self.desk, self.saver, self.config))
        return self.agents[kind.name]

    def _state(self, thread: Thread) -> Any:
        return self._agent(thread).get_state(thread.config)

    def _messages(self, thread: Thread) -> list[BaseMessage]:
        messages: list[BaseMessage] = self._state(thread).values["messages"]
        return messages

    def _is_prompt(self, thread: Thread, message: BaseMessage) -> bool:
        event = thread.events.get(str(message.id))
        return event is not None and event.kind == "prompt"

    def _new_id(self, thread: Thread) -> str:
        return f"{thread.id}-{next(self.numbers)}"

    def _say(self, thread: Thread, event: Event) -> None:
        """Hand the graph a message of the user or the host."""
        thread.events[event.id] = event
        marks = SOURCES.get(event.kind, {})
        message = HumanMessage(event.kind, id=event.id, additional_kwargs={**marks})
        self._run(thread, {"messages": [message]})
        assert thread.head is event

    def _prompt(self, thread: Thread) -> None:
        self._settle(thread)
        newest = thread.head.newest
        overtakes = newest.kind == "step" and not has_reminder(self._messages(thread), newest.id)
        self._say(thread, Event(self._new_id(thread), "prompt", thread.head, overtakes=overtakes))

    def _do_step(self, thread: Thread, calls: Sequence[Call], *, early: bool) -> None:
        self._settle(thread)
        step = Event(self._new_id(thread), "step", thread.head, calls)
        thread.events[step.id] = step
        self._model_says(thread, message_of(step), early=early)
        assert thread.head is step

    def _model_says(
        self, thread: Thread, turn: AIMessage | Exception, *, early: bool = False
    ) -> None:
        """Run until the model has said its turn, and on until it would be asked again."""
        turns = self.desk.turns[thread.id]
        turns.append(turn)
        while turns:
            is_at_rest = not self._state(thread).next
            self._run(thread, {"messages": []} if is_at_rest else None, early=early)

    def _settle(self, thread: Thread) -> None:
        """Answer what tools ask, and try again what broke off, until all calls are answered.

        A checkpoint may also stand in front of a message that was handed in.
        """
        while not {"tools", START}.isdisjoint((state := self._state(thread)).next):
            answers = {one.id: "yes" for one in state.interrupts}
            self._run(thread, Command(resume=answers) if answers else None)

    def _run(self, thread: Thread, value: Any, *, early: bool = False) -> None:
        """Run until the model would be asked."""
        agent = self._agent(thread)
        before = agent.get_state(thread.newest).config if self.desk.requests[thread.id] else None
        requests = self.desk.requests[thread.id]
        seen = len(requests)
        invoke(
            agent,
            value,
            thread.config,
            is_async=self.is_async,
            interrupt_before=[thread.kind.model_node],
            interrupt_after=["tools"] if early else [],
        )
        if agent.get_state(thread.newest).config != before:
            thread.start = {}
        for request in requests[seen:]:
            self._check_request(thread, request)
        self._check(thread)

    def _bare_run(self, thread: Thread, handler: RepeatGuardCallbackHandler) -> list[BaseMessage]:
        """Let an agent without guard do what happened in the thread's branch, undisturbed."""
        name = f"{thread.id}-bare"
        agent = thread.kind.build(Parts(self.desk, InMemorySaver(), None))
        config: Any = {"configurable": {"thread_id": name}, "callbacks": [handler]}
        value: Any = None
        for event in [*thread.head.past, None]:
            if event is None or event.kind == "prompt":
                if value:
                    self.desk.turns[name].append(AIMessage("done"))
                while value:
                    invoke(agent, value, config, is_async=self.is_async)
                    answers = {one.id: "yes" for one in agent.get_state(config).interrupts}
                    value = Command(resume=answers) if answers else None
                value = {"messages": [HumanMessage("prompt", id=event.id)]} if event else None
            elif event.kind == "step":
                self.desk.turns[name].append(message_of(event))
        messages: list[BaseMessage] = agent.get_state(config).values["messages"]
        return messages
