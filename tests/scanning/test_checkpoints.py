"""Databases of LangGraph's checkpointers, written by real agents, are read and never written."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import psycopg
import pytest
from deepagents import create_deep_agent
from helpers.models import ScriptedModel, asks, call, repeats, says
from helpers.postgres import new_database
from helpers.tools import grep
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage, RemoveMessage
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from langchain_repeat_guard.scanning import (
    FoundReminder,
    Place,
    Problem,
    RunRecord,
    read_runs,
    scan,
)
from langchain_repeat_guard.scanning.formats import databases
from langchain_repeat_guard.scanning.formats.databases import without_password

GREP = {"pattern": "a"}
GO: Any = {"messages": [HumanMessage("go")]}


def thread(name: str) -> Any:
    """Return the config of a thread."""
    return {"configurable": {"thread_id": name}}


def agent(times: int, saver: Any) -> Any:
    """Return an agent that makes one call so often."""
    model = ScriptedModel(script=[*repeats(times, "grep", GREP), says("done")])
    return create_agent(model, [grep], checkpointer=saver)


def figures(address: Path | str, **options: Any) -> list[tuple[str, bool, int, int]]:
    """Return thread, whether in a subgraph, calls and longest chain of each run."""
    records = list(scan(read_runs(str(address), **options)))
    assert [one for one in records if isinstance(one, Problem)] == []
    return [
        (
            one.place.thread_id,
            bool(one.place.namespace),
            one.calls,
            one.longest.count if one.longest else 0,
        )
        for one in records
        if isinstance(one, RunRecord)
    ]


def contents(folder: Path) -> dict[str, str]:
    """Return a digest of every file in a folder."""
    return {path.name: sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


@contextmanager
def sqlite_saver(path: Path) -> Iterator[SqliteSaver]:
    """Open a file as LangGraph does."""
    with closing(sqlite3.connect(path, check_same_thread=False)) as connection:
        yield SqliteSaver(connection)


def test_sqlite_threads_are_runs_and_the_folder_stays_as_it_is(tmp_path: Path) -> None:
    """Each thread is a run, in the order in which they were last active."""
    path = tmp_path / "memory"
    with sqlite_saver(path) as saver:
        agent(3, saver).invoke(GO, thread("b"))
        agent(5, saver).invoke(GO, thread("a"))
    before = contents(tmp_path)
    records = list(scan(read_runs(str(path))))
    found = [one for one in records if isinstance(one, FoundReminder)]
    assert [(one.place, one.reminder.count, one.after_message) for one in found] == [
        (Place(str(path), thread_id="b"), 3, 6),
        (Place(str(path), thread_id="a"), 3, 6),
        (Place(str(path), thread_id="a"), 5, 10),
    ]
    assert contents(tmp_path) == before


async def test_async_sqlite_file(tmp_path: Path) -> None:
    """What `AsyncSqliteSaver` wrote is read too."""
    path = tmp_path / "memory.db"
    async with AsyncSqliteSaver.from_conn_string(str(path)) as saver:
        await agent(4, saver).ainvoke(GO, thread("t"))
    assert figures(path) == [("t", False, 4, 4)]


def test_sqlite_file_in_use(tmp_path: Path) -> None:
    """What a live process has not yet moved into the file is read, and nothing changes."""
    path = tmp_path / "memory.db"
    with sqlite_saver(path) as saver:
        agent(3, saver).invoke(GO, thread("t"))
        before = contents(tmp_path)
        assert set(before) == {"memory.db", "memory.db-shm", "memory.db-wal"}
        assert figures(tmp_path) == [("t", False, 3, 3)]
        after = contents(tmp_path)
        # The index of the log is shared memory that each reader notes itself in.
        assert {**after, "memory.db-shm": ""} == {**before, "memory.db-shm": ""}


def test_sqlite_file_of_a_process_that_died(tmp_path: Path) -> None:
    """A log of changes that nobody has moved into the file is read from a copy."""
    path = tmp_path / "memory.db"
    left = tmp_path / "left"
    left.mkdir()
    with sqlite_saver(path) as saver:
        agent(3, saver).invoke(GO, thread("t"))
        for name in ("memory.db", "memory.db-wal"):
            (left / name).write_bytes((tmp_path / name).read_bytes())
    before = contents(left)
    assert figures(left) == [("t", False, 3, 3)]
    assert contents(left) == before


def test_sqlite_file_of_an_older_saver(tmp_path: Path) -> None:
    """A table that lacks a column of today is brought up to date in a copy."""
    path = tmp_path / "memory.db"
    with sqlite_saver(path) as saver:
        agent(3, saver).invoke(GO, thread("t"))
        saver.conn.execute("ALTER TABLE writes DROP COLUMN task_path")
        saver.conn.commit()
    before = contents(tmp_path)
    assert figures(path) == [("t", False, 3, 3)]
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        pytest.param(
            lambda path: sqlite3.connect(path).execute("CREATE TABLE notes (text)").connection,
            "an SQLite file without the tables of a checkpointer",
            id="other-tables",
        ),
        pytest.param(
            lambda path: path.write_bytes(b"SQLite format 3\0" + b"x" * 5000),
            "cannot be read: file is not a database",
            id="garbage",
        ),
    ],
)
def test_other_sqlite_files_are_problems(
    make: Callable[[Path], Any], reason: str, tmp_path: Path
) -> None:
    """A database of another kind is told."""
    path = tmp_path / "other.db"
    made = make(path)
    if isinstance(made, sqlite3.Connection):
        made.commit()
        made.close()
    assert list(read_runs(str(path))) == [Problem(Place(str(path)), reason)]


def test_channel_with_another_name(tmp_path: Path) -> None:
    """`messages_key` names the channel; one that holds nothing is told."""
    path = tmp_path / "memory.db"
    with sqlite_saver(path) as saver:
        agent(3, saver).invoke(GO, thread("t"))
    assert figures(path, messages_key="messages") == [("t", False, 3, 3)]
    assert list(read_runs(str(path), messages_key="chat")) == [
        Problem(Place(str(path)), "no checkpoint has messages in the channel 'chat'")
    ]


def test_subgraphs_are_runs_of_their_own(tmp_path: Path) -> None:
    """A subgraph has its own namespace: its chain is not its parent's, nor its next visit's."""
    path = tmp_path / "memory.db"
    helper = ScriptedModel(script=[*repeats(2, "grep", GREP), says("found")] * 2)

    with sqlite_saver(path) as saver:
        graph = StateGraph(MessagesState)
        inner = create_agent(helper, [grep])
        graph.add_node("first", inner)
        graph.add_node("second", inner)
        graph.add_edge(START, "first")
        graph.add_edge("first", "second")
        graph.add_edge("second", END)
        graph.compile(checkpointer=saver).invoke(GO, thread("t"))
    runs = figures(path)
    # The parent takes over what its subgraphs wrote: one prompt, two visits.
    assert sorted(runs) == [("t", False, 4, 4), ("t", True, 2, 2), ("t", True, 4, 4)]


def deleting_agent(saver: Any, keep: int) -> Any:
    """Return an agent that forgets all but the newest messages before each model call."""
    model = ScriptedModel(script=[*repeats(8, "grep", GREP), says("done")])

    def think(state: MessagesState) -> dict[str, Any]:
        return {"messages": [model.invoke(state["messages"])]}

    def act(state: MessagesState) -> dict[str, Any]:
        kept: list[Any] = state["messages"][-keep:]
        calls = state["messages"][-1].tool_calls  # type: ignore[union-attr]
        answers = [grep.invoke(one) for one in calls]
        return {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES), *kept, *answers]}

    graph = StateGraph(MessagesState)
    graph.add_node("think", think)
    graph.add_node("act", act)
    graph.add_edge(START, "think")
    graph.add_edge("act", "think")
    graph.add_conditional_edges(
        "think",
        lambda state: "act" if state["messages"][-1].tool_calls else END,
        ["act", END],
    )
    return graph.compile(checkpointer=saver)


def test_compacted_thread_is_judged_as_it_went(tmp_path: Path) -> None:
    """Deleted messages are found in the checkpoints from before they were deleted."""
    path = tmp_path / "memory.db"
    with sqlite_saver(path) as saver:
        state = deleting_agent(saver, keep=2).invoke(GO, thread("t"))
        assert len(state["messages"]) < 6
    assert figures(path) == [("t", False, 8, 8)]


def test_fork_counts_its_own_path(tmp_path: Path) -> None:
    """Of a thread that was rewound, the way to the newest checkpoint counts."""
    path = tmp_path / "memory.db"
    with sqlite_saver(path) as saver:
        first = agent(4, saver)
        first.invoke(GO, thread("t"))
        history = first.get_state_history(thread("t"))
        earlier = next(one for one in history if len(one.values["messages"]) == 3)
        script = [*repeats(1, "grep", GREP), says("done")]
        other = create_agent(ScriptedModel(script=script), [grep], checkpointer=saver)
        other.invoke(None, earlier.config)
    assert figures(path) == [("t", False, 2, 2)]


def test_channel_that_stores_changes(tmp_path: Path) -> None:
    """Deep agents store what was written instead of the whole list."""
    path = tmp_path / "memory.db"
    model = ScriptedModel(script=[*repeats(3, "grep", GREP), asks(call("grep", {})), says("done")])
    with sqlite_saver(path) as saver:
        create_deep_agent(model, tools=[grep], checkpointer=saver).invoke(GO, thread("t"))
    assert figures(path) == [("t", False, 4, 3)]


def test_postgres_threads(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server is read as a file is; more checkpoints than are fetched at once."""
    monkeypatch.setattr(databases, "_POSTGRES_PAGE", 10)
    address = new_database(postgres)
    with PostgresSaver.from_conn_string(address) as saver:
        saver.setup()
        agent(30, saver).invoke(GO, thread("a"))
        agent(3, saver).invoke(GO, thread("b"))
    with psycopg.connect(address) as link:
        count = (
            "SELECT (SELECT count(*) FROM checkpoints), (SELECT count(*) FROM checkpoint_writes)"
        )
        before = link.execute(count).fetchone()
        assert before
        assert figures(address) == [("a", False, 30, 30), ("b", False, 3, 3)]
        assert link.execute(count).fetchone() == before


def test_postgres_session_cannot_write(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server itself refuses every write of a scan."""
    address = new_database(postgres)
    monkeypatch.setattr(PostgresSaver, "list", lambda self, *_, **__: iter([self.setup()]))
    (problem,) = read_runs(address)
    assert isinstance(problem, Problem)
    assert "read-only transaction" in problem.reason


def test_postgres_without_tables_is_a_problem(postgres: str) -> None:
    """A database without a checkpointer's tables is told, without the password."""
    address = new_database(postgres)
    (problem,) = read_runs(address)
    assert isinstance(problem, Problem)
    assert problem.reason.startswith('cannot be read: relation "checkpoints" does not exist')


def test_unreachable_postgres_does_not_show_the_password() -> None:
    """Neither the place nor the reason quotes it."""
    (problem,) = read_runs("postgresql://me:s3cret@127.0.0.1:1/db")
    assert isinstance(problem, Problem)
    assert problem.place == Place("postgresql://me@127.0.0.1:1/db")
    assert "s3cret" not in problem.reason


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("postgresql://u:p@h/d?sslmode=require&password=p", "postgresql://u@h/d"),
        ("postgres://h/d", "postgres://h/d"),
        ("postgresql://u:p%40@h:1/d", "postgresql://u@h:1/d"),
    ],
    ids=["in-both-places", "none", "escaped"],
)
def test_shown_address_has_no_password(address: str, expected: str) -> None:
    """A place can be shown and stored."""
    assert without_password(address) == expected
