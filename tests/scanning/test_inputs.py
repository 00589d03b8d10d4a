"""Files in every form, made by the libraries that write them."""

import gzip
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers.langsmith_server import langsmith_tracer
from helpers.models import ScriptedModel, asks, call, repeats, says
from helpers.recorded import GREP, READ, langchain_run, openai_run
from helpers.tools import grep
from langchain.agents import create_agent
from langchain_core.load import dumpd, dumps
from langchain_core.messages import convert_to_openai_messages, messages_to_dict
from langchain_core.prompt_values import ChatPromptValue
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError
from langsmith.schemas import Run as LangSmithRun

from langchain_repeat_guard import RepeatGuardConfig
from langchain_repeat_guard.scanning import Place, Problem, Run, RunRecord, read_runs, scan
from langchain_repeat_guard.scanning.read import total_bytes

CALLS = [GREP, GREP, GREP, READ]
FIGURES = {"grep": (3, 3), "read": (1, 1)}


def figures(path: Path | str) -> list[tuple[Place, dict[str, tuple[int, int]]]]:
    """Return, for each agent's run, its place and its tools with calls and longest chain."""
    records = list(scan(read_runs(str(path))))
    assert [one for one in records if isinstance(one, Problem)] == []
    return [
        (one.place, {name: (tool.calls, tool.longest) for name, tool in one.tools.items()})
        for one in records
        if isinstance(one, RunRecord)
    ]


RUN = langchain_run(*CALLS)
OPENAI = convert_to_openai_messages(RUN)
DOCUMENTS: dict[str, Callable[[], str]] = {
    "openai-list": lambda: json.dumps(OPENAI),
    "openai-list-indented": lambda: json.dumps(OPENAI, indent=2),
    "openai-object": lambda: json.dumps({"model": "m", "messages": OPENAI}),
    "openai-object-indented": lambda: json.dumps({"model": "m", "messages": OPENAI}, indent=2),
    "openai-message-lines": lambda: "\n".join(map(json.dumps, OPENAI)),
    "messages-to-dict": lambda: json.dumps(messages_to_dict(RUN)),
    "messages-to-dict-lines": lambda: "\n".join(map(json.dumps, messages_to_dict(RUN))),
    "dumpd": lambda: json.dumps(dumpd(RUN)),
    "dumps-indented": lambda: dumps({"messages": RUN}, pretty=True),
    "dumped-prompt": lambda: dumps(ChatPromptValue(messages=RUN)),
    "thread-state": lambda: json.dumps({"values": {"messages": [m.model_dump() for m in RUN]}}),
}


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS.keys())
def test_each_form_is_recognised_by_its_content(
    document: Callable[[], str], tmp_path: Path
) -> None:
    """The name of a file says nothing; one document is one run."""
    path = tmp_path / "run.data"
    path.write_text(document(), encoding="utf-8")
    assert figures(path) == [(Place(str(path), 1), FIGURES)]


def test_lines_are_runs_with_their_place(tmp_path: Path) -> None:
    """A line is a run: an object with messages, or a list of them; both may be mixed."""
    lines = [
        {"run_id": "one", "messages": OPENAI},
        messages_to_dict(RUN),
        {"id": 3, "thread_id": "t", "messages": dumpd(RUN)},
    ]
    path = tmp_path / "runs.jsonl"
    path.write_text("\n\n".join(map(json.dumps, lines)), encoding="utf-8")
    assert figures(path) == [
        (Place(str(path), 1, "one"), FIGURES),
        (Place(str(path), 3), FIGURES),
        (Place(str(path), 5, "3", "t"), FIGURES),
    ]


def test_members_of_an_array_are_runs(tmp_path: Path) -> None:
    """An array of runs is taken apart, in one line or many."""
    runs = [{"messages": OPENAI}, OPENAI]
    (tmp_path / "a.json").write_text(json.dumps(runs), encoding="utf-8")
    (tmp_path / "b.json").write_text(json.dumps(runs, indent=1), encoding="utf-8")
    assert [found for _, found in figures(tmp_path)] == [FIGURES] * 4


def test_messages_in_front_of_a_run_are_a_run(tmp_path: Path) -> None:
    """Messages that stand alone are one run together, until something else comes."""
    path = tmp_path / "mixed.jsonl"
    lines = [*OPENAI, {"messages": OPENAI}, *OPENAI]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    size = len(OPENAI)
    places = [1, size + 1, size + 2]
    assert figures(path) == [(Place(str(path), line), FIGURES) for line in places]


def test_run_nobody_reads_is_passed_over(tmp_path: Path) -> None:
    """The reader goes on behind a run of single messages, read or not."""
    path = tmp_path / "mixed.jsonl"
    path.write_text("\n".join(map(json.dumps, [*OPENAI, {"messages": []}])), encoding="utf-8")
    lines = [one.place.line for one in read_runs(str(path))]
    assert lines == [1, len(OPENAI) + 1]


def test_broken_lines_are_told_and_the_rest_is_read(tmp_path: Path) -> None:
    """A broken line costs itself, also in the middle of a run of single messages."""
    path = tmp_path / "runs.jsonl"
    good = json.dumps({"messages": OPENAI})
    path.write_text(f"{good}\n{good[:-9]}]\n{{}}\n{good}\n", encoding="utf-8")
    found = scan(read_runs(str(path)), RepeatGuardConfig(thresholds=(99,)))
    one, broken, empty, other = found
    assert isinstance(one, RunRecord)
    assert isinstance(other, RunRecord)
    assert isinstance(broken, Problem)
    assert (broken.place, broken.reason.startswith("not valid JSON: ")) == (
        Place(str(path), 2),
        True,
    )
    assert empty == Problem(Place(str(path), 3), "no run: a JSON value without messages")
    assert other.place == Place(str(path), 4)


def test_gzip_in_gzip_and_by_any_name(tmp_path: Path) -> None:
    """Packed files are recognised by their content, however often they were packed."""
    path = tmp_path / "runs"
    path.write_bytes(gzip.compress(gzip.compress(json.dumps(OPENAI).encode())))
    assert figures(path) == [(Place(str(path), 1), FIGURES)]


@pytest.mark.parametrize("keep", [0.5, 0.9], ids=["half", "most"])
def test_torn_gzip_gives_what_it_holds(tmp_path: Path, keep: float) -> None:
    """A file that ends too early is a problem; what could be unpacked is read."""
    path = tmp_path / "runs.gz"
    lines = "\n".join(json.dumps({"run_id": str(n), "messages": OPENAI}) for n in range(3000))
    packed = gzip.compress(lines.encode(), compresslevel=0)
    path.write_bytes(packed[: int(len(packed) * keep)])
    *records, problem = scan(read_runs(str(path)))
    assert isinstance(problem, Problem)
    assert problem.place == Place(str(path))
    assert problem.reason.startswith("cannot be read: ")
    assert sum(isinstance(one, RunRecord) for one in records) > 1000


def test_directories_are_read_in_order_of_names(tmp_path: Path) -> None:
    """All below a directory is read; hidden files and other kinds of files are passed over."""
    (tmp_path / "b").mkdir()
    (tmp_path / ".git").mkdir()
    for name in ("b/2.json", "a.txt", "c.jsonl", ".hidden.json", ".git/x.json"):
        (tmp_path / name).write_text(json.dumps(OPENAI), encoding="utf-8")
    (tmp_path / "README.md").write_text("# Runs\n", encoding="utf-8")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (tmp_path / "empty").touch()
    names = [place.source.removeprefix(f"{tmp_path}{os.sep}") for place, _ in figures(tmp_path)]
    assert names == ["a.txt", "c.jsonl", str(Path("b", "2.json"))]


def test_named_file_of_another_kind_is_a_problem(tmp_path: Path) -> None:
    """What the user names is never passed over in silence."""
    path = tmp_path / "README.md"
    path.write_text("# Runs\n", encoding="utf-8")
    assert list(read_runs(str(path))) == [
        Problem(Place(str(path), 1), "not valid JSON: Expecting value (line 1, column 1)")
    ]


def test_missing_file_is_a_problem(tmp_path: Path) -> None:
    """A path that leads nowhere is told, and the next one is read."""
    missing, path = tmp_path / "missing", tmp_path / "run.json"
    path.write_text(json.dumps(OPENAI), encoding="utf-8")
    problem, run = read_runs([str(missing), str(path)])
    assert problem == Problem(Place(str(missing)), "cannot be read: No such file or directory")
    assert isinstance(run, Run)


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_standard_input(
    pack: Callable[[bytes], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`-` reads standard input, packed or not."""
    path = tmp_path / "input"
    path.write_bytes(pack(json.dumps(OPENAI).encode()))
    with path.open() as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        assert figures("-") == [(Place("-", 1), FIGURES)]


def test_bytes_are_counted_as_they_are_read(tmp_path: Path) -> None:
    """Progress counts what is read from disk, before it is unpacked."""
    path = tmp_path / "runs.gz"
    path.write_bytes(gzip.compress(json.dumps(OPENAI).encode()))
    counted: list[int] = []
    list(read_runs(str(tmp_path), on_bytes=counted.append))
    assert sum(counted) == path.stat().st_size == total_bytes([str(tmp_path)])
    assert total_bytes([str(path), "-"]) is None


@tool
def ask(question: str) -> str:
    """Ask a subagent."""
    model = ScriptedModel(script=[*repeats(3, "grep", {"pattern": "b"}), says("found")])
    helper = create_agent(model, [grep])
    state: Any = {"messages": [("user", question)]}
    return str(helper.invoke(state)["messages"][-1].text)


@pytest.fixture(scope="module")
def exported() -> list[LangSmithRun]:
    """Two turns of a thread: one with a subagent that ends well, one that hits its limit."""
    script = [
        asks(call("ask", {"question": "?"})),
        *repeats(2, "grep", {"pattern": "a"}),
        says("done"),
        *repeats(9, "grep", {"pattern": "a"}),
    ]
    agent = create_agent(ScriptedModel(script=script), [grep, ask], checkpointer=InMemorySaver())
    with langsmith_tracer() as (tracer, store):
        config: Any = {"callbacks": [tracer], "configurable": {"thread_id": "t1"}}
        first: Any = {"messages": [("user", "hi")]}
        agent.invoke(first, config)
        second: Any = {"messages": [("user", "again")]}
        config["recursion_limit"] = 8
        with pytest.raises(GraphRecursionError):
            agent.invoke(second, config)
        return store.runs()


EXPECTED = [
    ("t1", False, {"grep": (4, 4)}),
    ("t1", True, {"grep": (3, 3)}),
    ("t1", False, {"ask": (1, 1), "grep": (2, 2)}),
]


def traces(path: Path) -> list[tuple[str, bool, dict[str, tuple[int, int]]]]:
    """Return thread, whether it is a subagent, and figures of each run."""
    return sorted(
        ((place.thread_id, bool(place.namespace), found) for place, found in figures(path)),
        key=str,
    )


@pytest.mark.parametrize("order", ["newest-first", "oldest-first"])
@pytest.mark.parametrize("layout", ["lines", "array"])
def test_langsmith_runs_are_put_together(
    exported: list[LangSmithRun], order: str, layout: str, tmp_path: Path
) -> None:
    """Each agent of each trace is one run, finished or failed, and no call counts twice."""
    path = tmp_path / "export.json"
    runs = exported if order == "newest-first" else exported[::-1]
    lines = [one.model_dump_json() for one in runs]
    text = "\n".join(lines) if layout == "lines" else f"[{','.join(lines)}]"
    path.write_text(text, encoding="utf-8")
    assert traces(path) == sorted(EXPECTED, key=str)


def test_langsmith_run_trees_are_walked(exported: list[LangSmithRun], tmp_path: Path) -> None:
    """Runs loaded with their children hold the same agents."""
    by_parent: dict[Any, list[LangSmithRun]] = {}
    for one in exported:
        by_parent.setdefault(one.parent_run_id, []).append(one)
    for one in exported:
        one.child_runs = by_parent.get(one.id, [])
    path = tmp_path / "trees.jsonl"
    path.write_text("\n".join(one.model_dump_json() for one in by_parent[None]), encoding="utf-8")
    for one in exported:
        one.child_runs = None
    assert traces(path) == sorted(EXPECTED, key=str)


def test_langsmith_model_calls_without_a_graph(tmp_path: Path) -> None:
    """Model calls that were traced alone give the longest history of each conversation."""
    path = tmp_path / "llm.jsonl"
    messages = openai_run(*[GREP] * 3)
    runs = [
        {
            "id": str(size),
            "trace_id": "t",
            "run_type": "llm",
            "inputs": {"messages": messages[:size]},
            "outputs": {"choices": [{"message": messages[size]}]},
            "dotted_order": str(size),
        }
        for size in (1, 3, 5)
    ]
    last = {**runs[-1], "id": "7", "inputs": {"messages": messages}, "dotted_order": "7"}
    last["outputs"] = {"choices": [{"message": {"role": "assistant", "content": "done"}}]}
    path.write_text("\n".join(map(json.dumps, [*runs, last])), encoding="utf-8")
    assert figures(path) == [(Place(str(path), 1, "t"), {"grep": (3, 3)})]


def test_langsmith_trace_without_messages_is_a_problem(tmp_path: Path) -> None:
    """A trace of plain functions is no agent's run, and says so."""
    path = tmp_path / "tools.jsonl"
    run = {"id": "1", "trace_id": "t", "run_type": "tool", "inputs": {}, "outputs": {}}
    path.write_text(json.dumps(run), encoding="utf-8")
    assert list(read_runs(str(path))) == [
        Problem(Place(str(path), 1, "t"), "no run: a trace without messages")
    ]


def test_many_langsmith_traces_stay_few_in_memory(tmp_path: Path) -> None:
    """Traces are closed while the export is read, each once."""
    path = tmp_path / "many.jsonl"
    run = {"run_type": "chain", "inputs": {}, "outputs": {"messages": OPENAI}}
    lines = [json.dumps({**run, "id": str(n), "trace_id": str(n)}) for n in range(200)]
    path.write_text("\n".join(lines), encoding="utf-8")
    found = read_runs(str(path))
    next(found)
    assert [one.place.run_id for one in found] == [str(n) for n in range(1, 200)]
