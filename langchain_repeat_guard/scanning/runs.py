"""A recorded run, as a scan takes it."""

from collections.abc import Iterable
from dataclasses import dataclass

from langchain_repeat_guard.scanning.records import Place

_NOWHERE = Place("")


@dataclass(slots=True)
class Run:
    """The messages of one run, oldest first.

    Example:
        >>> Run([{"role": "user", "content": "hi"}]).place.source
        ''
    """

    messages: Iterable[object]
    """LangChain messages, or dicts in the form of OpenAI, of LangChain's `messages_to_dict` or of
    its `dumpd`; also mixed. A `Problem` among them is handed on. May be an iterator: then it is
    read once, and before the next run is asked for."""

    place: Place = _NOWHERE
    """Where it was found."""
