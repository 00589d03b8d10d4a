"""Threads of a LangGraph checkpointer as runs, through the saver's own interface.

Of each thread and namespace the path to the newest checkpoint is a run. Where older messages were
deleted on the way, every checkpoint of the path is read, so that the thread is judged as it went.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from langchain_core.messages import BaseMessage, convert_to_messages
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple

from langchain_repeat_guard.history.message_lists import as_list
from langchain_repeat_guard.scanning.records import Place, Problem
from langchain_repeat_guard.scanning.runs import Run

Saver = BaseCheckpointSaver[Any]


class UndecodedValues:
    """Stands in for a saver's serializer where only ids are asked for: it decodes nothing."""

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """Refuse: nothing is written."""
        raise NotImplementedError

    def loads_typed(self, data: tuple[str, bytes]) -> Any:  # noqa: ARG002  the interface has it
        """Return None for every value."""
        return None


def read_threads(
    saver: Saver, ids_only: Saver, source: str, messages_key: str, page: int | None = None
) -> Iterator[Run | Problem]:
    """Yield a run for each thread and namespace that holds messages.

    Args:
        saver: The checkpointer.
        ids_only: The same one with `UndecodedValues` as its serializer.
        source: Name of the database, for the places.
        messages_key: The channel that holds the messages.
        page: How many checkpoints to ask for at once; None for a saver that yields one by one.
    """
    is_found = False
    newest = _newest_by_thread(ids_only, page)
    for thread_id, namespace in newest:
        place = Place(source, thread_id=thread_id, namespace=namespace)
        config: RunnableConfig = {
            "configurable": {"thread_id": thread_id, "checkpoint_ns": namespace}
        }
        try:
            messages = _history(saver, _path(ids_only, config, page), messages_key)
        except Exception as error:  # noqa: BLE001  one thread that cannot be decoded costs itself
            yield Problem(place, f"cannot be decoded ({type(error).__name__})")
            continue
        if messages:
            is_found = True
            yield Run(messages, place)
    if newest and not is_found:
        yield Problem(Place(source), f"no checkpoint has messages in the channel {messages_key!r}")


def _newest_by_thread(ids_only: Saver, page: int | None) -> list[tuple[str, str]]:
    """Return each thread and namespace, the oldest activity first."""
    found: dict[tuple[str, str], None] = {}
    for checkpoint in _listed(ids_only, None, page):
        where = checkpoint.config["configurable"]
        found.setdefault((where["thread_id"], where.get("checkpoint_ns", "")))
    return list(reversed(found))


def _listed(
    saver: Saver, config: RunnableConfig | None, page: int | None
) -> Iterator[CheckpointTuple]:
    """Yield what the saver lists, newest first."""
    if page is None:
        yield from saver.list(config)
        return
    before: RunnableConfig | None = None
    while listed := list(saver.list(config, limit=page, before=before)):
        yield from listed
        before = listed[-1].config


def _path(ids_only: Saver, config: RunnableConfig, page: int | None) -> list[RunnableConfig]:
    """Return the checkpoints from the newest back to the first, without other branches."""
    path: list[RunnableConfig] = []
    expected: str | None = None
    for checkpoint in _listed(ids_only, config, page):
        checkpoint_id = checkpoint.config["configurable"]["checkpoint_id"]
        if not path or checkpoint_id == expected:
            path.append(checkpoint.config)
            parent = checkpoint.parent_config
            expected = parent["configurable"]["checkpoint_id"] if parent else None
    return path


def _history(saver: Saver, path: Sequence[RunnableConfig], key: str) -> list[Any]:
    """Return the messages of the path, those that were deleted on it included."""
    newest = _messages(saver, path[0], key)
    oldest = next(filter(None, (_messages(saver, one, key) for one in reversed(path))), newest)
    if _ids(newest)[: len(oldest)] == _ids(oldest):
        return newest
    history: list[Any] = []
    seen: set[str | None] = set()
    for config in reversed(path):
        for message in _messages(saver, config, key):
            message_id = _id(message)
            if message_id not in seen:
                seen.add(message_id)
                history.append(message)
    return history


def _messages(saver: Saver, config: RunnableConfig, key: str) -> list[Any]:
    checkpoint = saver.get_tuple(config)
    if checkpoint is None:
        return []
    value = _plain(checkpoint.checkpoint["channel_values"].get(key))
    if value is None:
        value = _written(saver, config, key)
    return [_message(one) for one in as_list(value)]


def _written(saver: Saver, config: RunnableConfig, key: str) -> list[Any]:
    """Return what was written to a channel that stores changes instead of its value."""
    read = getattr(saver, "get_delta_channel_history", None)
    if read is None:  # older savers have no such channels
        return []
    history = read(config=config, channels=[key])[key]
    written = list(as_list(_plain(history.get("seed"))))
    for _, _, value in history["writes"]:
        written += as_list(_plain(value))
    return written


def _plain(value: Any) -> Any:
    """Return what a snapshot or an overwriting write holds, or `value` itself."""
    return value.value if hasattr(value, "value") and not isinstance(value, BaseMessage) else value


def _message(value: Any) -> Any:
    if isinstance(value, BaseMessage | dict):
        return value
    return convert_to_messages([value])[0]


def _id(message: Any) -> str | None:
    return message.get("id") if isinstance(message, dict) else message.id


def _ids(messages: Sequence[Any]) -> list[str | None]:
    return [_id(message) for message in messages]
