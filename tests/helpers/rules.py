"""The rules written down a second time, in plain Python, and runs to try them on."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from helpers.models import asks, call, says
from langchain_repeat_guard.core.texts import FIRST_TEXT, LATER_TEXT, REDIRECT_TEXT

Call = tuple[str, dict[str, Any]]
Step = Sequence[Call]
Prompts = Sequence[Sequence[Step]]
Options = dict[str, Any]
Found = list[tuple[str, str]]
"""Reminders: id and text."""

CALLS: list[Call] = [
    ("grep", {"pattern": "a", "path": "1"}),
    ("grep", {"pattern": "a", "path": "2"}),
    ("grep", {"pattern": "b", "path": "1"}),
    ("read", {"path": "a"}),
    ("ping", {}),
]
UNTRACKED: Call = ("poll", {"path": "a"})

# Few choices, so that repetitions and cycles are frequent.
STEPS = st.one_of(
    st.sampled_from([*CALLS, UNTRACKED]).map(lambda one: [one]),
    st.lists(st.sampled_from(CALLS), min_size=2, max_size=3),
)
CYCLES = st.builds(
    lambda steps, times: steps * times, st.lists(STEPS, min_size=1, max_size=3), st.integers(1, 5)
)
PROMPTS = st.lists(
    st.lists(CYCLES, max_size=2).map(lambda parts: [step for part in parts for step in part]),
    min_size=1,
    max_size=2,
)

OWN_FIRST = "Call {count} of {tool} brought nothing new ({threshold}). Braces: {{}}."
OWN_LATER = "Again {tool}, {count} times now, with {arguments}. Please do something else."

OPTIONS = st.fixed_dictionaries(
    {
        "thresholds": st.sampled_from([(2,), (2, 3), (2, 4, 5)]),
        "exclude": st.just(("poll",)),
        "counting": st.sampled_from(["consecutive", "since_new_call", "since_new_call"]),
    },
    optional={
        "ignore_arguments": st.sampled_from([{"gr*": ("path",)}, {"read": ("path",)}]),
        "overrides": st.sampled_from(
            [
                {"grep": {"thresholds": (3,)}, "*": {"thresholds": (2, 3)}},
                {"pi*": {"thresholds": [4]}},
            ]
        ),
        "remind_every": st.integers(1, 3),
        "style": st.just("redirect"),
        "first_reminder": st.just(OWN_FIRST),
        "later_reminder": st.just(OWN_LATER),
    },
)


@dataclass(frozen=True)
class Due:
    """A reminder that the rules demand for one of several calls."""

    place: int
    count: int
    text: str


def demanded(calls: Sequence[Call], options: Options) -> Iterator[Due]:
    """Yield the reminders for the calls since a prompt, as the rules have it word for word."""
    tracked = [one for one in enumerate(calls) if one[1][0] not in options.get("exclude", ())]
    keys = [_key(one, options) for _, one in tracked]
    for number, (place, (tool, args)) in enumerate(tracked):
        if options.get("counting") == "since_new_call":
            count = since_new_call(keys[: number + 1])
        else:
            count = in_a_row(keys[: number + 1])
        text = _text(tool, count, options)
        if text is not None:
            yield Due(place, count, _filled(text, tool, count, _shown(tool, args, options)))


def in_a_row(keys: Sequence[str]) -> int:
    """Return how many of the last keys are like the last one."""
    return next((n for n, key in enumerate(reversed(keys)) if key != keys[-1]), len(keys))


def since_new_call(keys: Sequence[str]) -> int:
    """Return how often the last key stands among those since a key came for the first time."""
    newest = max(place for place, key in enumerate(keys) if key not in keys[:place])
    return [*keys[newest:]].count(keys[-1])


def expected(prompts: Prompts, options: Options) -> Found:
    """Return the reminders of a whole run: those of a step are one message."""
    found: dict[str, list[str]] = {}
    for number, steps in enumerate(prompts):
        calls = [one for step in steps for one in step]
        step_of = [place for place, step in enumerate(steps) for _ in step]
        for due in demanded(calls, options):
            reminder = f"repeat_guard:answer-{number}-{step_of[due.place]}"
            found.setdefault(reminder, []).append(due.text)
    return [(reminder, "\n\n".join(texts)) for reminder, texts in found.items()]


def script(prompts: Prompts) -> list[AIMessage]:
    """Return what a model says in such a run: all calls, and an answer to each prompt."""
    turns = []
    for number, steps in enumerate(prompts):
        for place, step in enumerate(steps):
            issued = [
                call(name, args, f"{number}-{place}-{index}")
                for index, (name, args) in enumerate(step)
            ]
            turns.append(asks(*issued, id=f"answer-{number}-{place}"))
        turns.append(says("done", id=f"answer-{number}"))
    return turns


def history(prompts: Prompts) -> Iterator[list[BaseMessage]]:
    """Yield the messages of such a run after each complete step."""
    messages: list[BaseMessage] = []
    turns = iter(script(prompts))
    for number, steps in enumerate(prompts):
        messages.append(HumanMessage("go", id=f"prompt-{number}"))
        for _ in steps:
            turn = next(turns)
            messages.append(turn)
            for one in turn.tool_calls:
                answer = ToolMessage(
                    "ok", name=one["name"], tool_call_id=one["id"], id=f"result-{one['id']}"
                )
                messages.append(answer)
            yield [*messages]
        messages.append(next(turns))


def _key(one: Call, options: Options) -> str:
    return f"{one[0]} {_shown(*one, options)}"


def _shown(tool: str, args: dict[str, Any], options: Options) -> str:
    ignored = _first(options.get("ignore_arguments", {}), tool) or ()
    counted = {name: value for name, value in args.items() if name not in ignored}
    return json.dumps(counted, sort_keys=True, separators=(",", ":"))


def _first(by_pattern: dict[str, Any], tool: str) -> Any:
    """Return the first entry whose pattern fits; patterns here have `*` at the end at most."""
    for pattern, entry in by_pattern.items():
        start = pattern.removesuffix("*")
        if tool == start or (start != pattern and tool.startswith(start)):
            return entry
    return None


def _text(tool: str, count: int, options: Options) -> str | None:
    override = _first(options.get("overrides", {}), tool)
    thresholds = sorted((override or options)["thresholds"])
    redirect = REDIRECT_TEXT if options.get("style") == "redirect" else None
    if count == thresholds[0]:
        return options.get("first_reminder") or redirect or FIRST_TEXT
    every = options.get("remind_every")
    further = every and count > thresholds[-1] and (count - thresholds[-1]) % every == 0
    if count in thresholds or further:
        return options.get("later_reminder") or redirect or LATER_TEXT
    return None


def _filled(text: str, tool: str, count: int, arguments: str) -> str:
    for field, value in {"tool": tool, "count": count, "threshold": count}.items():
        text = text.replace(f"{{{field}}}", str(value))
    return text.replace("{{}}", "{}").replace("{arguments}", arguments)


def history_with(steps: int, reminder: HumanMessage) -> list[Any]:
    """Return so many identical steps, with the reminder behind the second one."""
    messages: list[Any] = [HumanMessage("go", id="h")]
    for number in range(steps):
        issued = {"name": "grep", "args": {"q": "a"}, "id": f"c{number}"}
        messages.append(AIMessage("", id=f"a{number}", tool_calls=[issued]))
        messages.append(ToolMessage("none", id=f"t{number}", tool_call_id=f"c{number}"))
        messages += [reminder] if number == 1 else []
    return messages
