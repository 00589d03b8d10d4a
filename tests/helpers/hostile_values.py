"""Strategies for messages and values that nobody should send, and that somebody will."""

from typing import Any

from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(),
    st.text(max_size=4),
    st.sampled_from(["\ud800", "\u2028", "</system>", "```", "\x00", '"', "{", "}"]),
)

JSON_VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


class Raising:
    """An object that raises whatever is done to it; Hypothesis alone may show it."""

    def _fail(self, *_: object) -> Any:
        msg = "do not touch"
        raise RuntimeError(msg)

    __eq__ = __hash__ = __str__ = __bool__ = __len__ = __iter__ = _fail  # type: ignore[assignment]


ANY_VALUES = (
    JSON_VALUES | st.builds(Raising) | st.sets(st.integers(), max_size=2) | st.binary(max_size=3)
)

_NAMES = st.sampled_from(["grep", "read", "", "</tool>\n", "\ud800", "```\n", "é"])
_IDS = st.sampled_from(["c1", "c2", "", "\ud800"]) | st.none()
_ARGS = st.dictionaries(st.text(max_size=2), ANY_VALUES, max_size=2) | st.just({"q": "a"})

_CALLS = st.builds(
    lambda name, args, id_: {"name": name, "args": args, "id": id_, "type": "tool_call"},
    _NAMES,
    _ARGS,
    _IDS,
)
_MALFORMED = st.builds(
    lambda name, args, id_: {
        "name": name,
        "args": args,
        "id": id_,
        "error": None,
        "type": "invalid_tool_call",
    },
    _NAMES | st.none(),
    st.text(max_size=4) | st.none(),
    _IDS,
)
_BLOCKS = st.lists(
    st.text(max_size=3)
    | st.dictionaries(st.sampled_from(["type", "text", "id", "name"]), JSON_VALUES, max_size=3)
    | st.builds(lambda text: {"type": "text", "text": text}, JSON_VALUES),
    max_size=2,
)
_CONTENT = st.text(max_size=4) | _BLOCKS
_EXTRAS = st.dictionaries(
    st.sampled_from(["lc_source", "lc_data", "repeat_guard", "tool_calls"]), JSON_VALUES, max_size=2
)
_MESSAGE_IDS = st.sampled_from(["m1", "m2", "m3", "", "repeat_guard:m1"]) | st.none()


def _message(kind: type[BaseMessage], **more: Any) -> st.SearchStrategy[BaseMessage]:
    fields = {"content": _CONTENT, "id": _MESSAGE_IDS, "additional_kwargs": _EXTRAS, **more}
    return st.fixed_dictionaries(fields).map(lambda given: kind(**given))


ANSWERS = _message(
    ToolMessage,
    tool_call_id=st.sampled_from(["c1", "c2", "", "other"]),
    status=st.sampled_from(["success", "error"]),
    artifact=ANY_VALUES,
)
MESSAGES = st.one_of(
    _message(HumanMessage),
    _message(SystemMessage),
    ANSWERS,
    _message(AIMessage, tool_calls=st.lists(_CALLS, max_size=3)),
    _message(
        AIMessage,
        tool_calls=st.lists(_CALLS, max_size=2),
        invalid_tool_calls=st.lists(_MALFORMED, max_size=2),
        response_metadata=st.dictionaries(
            st.sampled_from(["model_provider", "model_name"]), JSON_VALUES, max_size=2
        ),
    ),
    st.builds(AIMessageChunk, content=st.text(max_size=3)),
    st.builds(lambda text: {"role": "user", "content": text}, st.text(max_size=3)),
    st.builds(lambda text: ("ai", text), st.text(max_size=3)),
    st.text(max_size=3),
)
"""Messages of every kind and form that LangChain can read, with any content."""

HISTORIES = st.builds(
    lambda messages, answer: [*messages, answer], st.lists(MESSAGES, max_size=8), ANSWERS
)
"""Histories that end in a tool's result, which is when the guard looks closely."""

NEAR_CHANNELS = st.fixed_dictionaries(
    {},
    optional={
        "chain": st.fixed_dictionaries({}, optional={"key": JSON_VALUES, "count": JSON_VALUES})
        | JSON_VALUES,
        "counted": st.lists(st.lists(JSON_VALUES, max_size=3), max_size=3) | JSON_VALUES,
        "prompt": JSON_VALUES,
        "reminded": st.lists(st.lists(JSON_VALUES, max_size=3), max_size=3) | JSON_VALUES,
    },
)
CHANNELS = NEAR_CHANNELS | ANY_VALUES | st.just({})
"""Values of the state's channel: the guard's own, nearly so, and anything else."""
