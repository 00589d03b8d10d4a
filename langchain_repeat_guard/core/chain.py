"""The chain of one agent, and the one function that advances it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

from langchain_repeat_guard.core.arguments import fingerprint
from langchain_repeat_guard.core.config import RepeatGuardConfig
from langchain_repeat_guard.core.reminder import Reminder, make_reminder
from langchain_repeat_guard.errors import RepeatGuardStateError

_REMEMBERED_CALLS = 256


@dataclass(frozen=True, slots=True)
class Chain:
    """How often an agent has repeated its last tool call. `Chain()` is the empty chain.

    Example:
        >>> Chain.from_dict(Chain().to_dict()) == Chain()
        True
    """

    key: str = ""
    """Digest of the last tracked call. Empty where there is none or it cannot be compared."""

    count: int = 0
    """Identical calls, the last one included, as `counting` counts them; 0 before any call."""

    seen: tuple[tuple[str, int], ...] = ()
    """With `counting="since_new_call"`: the calls of the prompt, last used last, and their counts.

    Empty otherwise.
    """

    def to_dict(self) -> dict[str, Any]:
        """Return the chain as plain JSON values, for a checkpoint.

        Example:
            >>> Chain().to_dict()
            {'key': '', 'count': 0}
        """
        seen = {"seen": [list(entry) for entry in self.seen]} if self.seen else {}
        return {"key": self.key, "count": self.count, **seen}

    @classmethod
    def from_dict(cls, value: object) -> Self:
        """Return the chain that `to_dict` has written.

        Raises:
            RepeatGuardStateError: `value` is not such a dict.

        Example:
            >>> Chain.from_dict({"key": "", "count": 0})
            Chain(key='', count=0, seen=())
        """
        match value:
            case {"key": str(key), "count": int(count), **rest} if (
                count >= 0 and type(count) is int
            ):
                return cls(key, count, _seen_from_json(rest["seen"]) if "seen" in rest else ())
        raise RepeatGuardStateError(value, "a dict with a string 'key' and a whole 'count'")


def _seen_from_json(value: object) -> tuple[tuple[str, int], ...]:
    match value:
        case [*entries]:
            return tuple([_entry_from_json(entry) for entry in entries[-_REMEMBERED_CALLS:]])
    raise RepeatGuardStateError(value, "a list of calls")


def _entry_from_json(value: object) -> tuple[str, int]:
    match value:
        case [str(key), int(count)] if count >= 0 and type(count) is int:
            return key, count
    raise RepeatGuardStateError(value, "a pair of a key and a whole count")


def observe(
    chain: Chain, name: str, args: object, *, config: RepeatGuardConfig
) -> tuple[Chain, Reminder | None]:
    """Add one tool call to `chain`, and say what the model is to be told, if anything.

    A pure function: it keeps nothing, and `args` may change afterwards. Two calls are identical if
    name and canonical arguments are: key order does not matter, list order does, `1` and `1.0` are
    the same number, `True` is not `1`, and a string is never parsed. Source: the original plugin.

    Args:
        chain: The chain before the call; `Chain()` at the start and after each user prompt.
        name: Name of the tool, compared exactly.
        args: The arguments, of any type. Whatever has no honest comparison (an object without
            value semantics) equals nothing, so that it starts a chain and never extends one;
            `langchain_repeat_guard.core.canonical` lists what that is.
        config: What to track and when to remind.

    Returns:
        The chain after the call, and the reminder that is due, or None. An untracked call returns
        `chain` itself.

    Example:
        >>> config = RepeatGuardConfig(thresholds=(2,))
        >>> chain, reminder = observe(Chain(), "grep", {"q": "a", "n": 1}, config=config)
        >>> (chain.count, reminder)
        (1, None)
        >>> chain, reminder = observe(chain, "grep", {"n": 1.0, "q": "a"}, config=config)
        >>> (chain.count, reminder.summary)
        (2, 'grep × 2')
    """
    if not config.tracks(name):
        return chain, None
    call = fingerprint(name, args, config.ignored_paths(name))
    return count_call(chain, name, call, config=config)


def count_call(
    chain: Chain, name: str, call: tuple[str, str], *, config: RepeatGuardConfig
) -> tuple[Chain, Reminder | None]:
    """Do as `observe` does, for a tracked call whose fingerprint is `call`."""
    key, arguments = call
    advanced = _advance(chain, key, config)
    return advanced, reminder_at(name, advanced.count, arguments, config)


def reminder_at(
    name: str, count: int, arguments: str, config: RepeatGuardConfig
) -> Reminder | None:
    """Return what is due for `count` calls of `name` with canonical `arguments`, or None."""
    template = config.text_at(name, count)
    if template is None:
        return None
    return make_reminder(
        name,
        count,
        arguments,
        template=template,
        preview_chars=config.arguments_preview_chars,
        redact_keys=config.redact_arguments,
    )


class CallCounts:
    """Counts of single calls, which all clear when a new call comes. For whoever feeds many."""

    __slots__ = ("_counts", "_newest_start")

    def __init__(self, seen: Iterable[tuple[str, int]] = ()) -> None:
        """Go on with the calls that were `seen`, last used last, and their counts."""
        # A count holds if it was made since all counts were cleared last.
        self._newest_start = 0
        self._counts = {key: (0, count) for key, count in seen}

    def add(self, key: str) -> int:
        """Count a call, and return its count. The empty key equals none."""
        start, count = self._counts.pop(key, (-1, 0))
        if start < 0:
            self._newest_start += 1
        elif start < self._newest_start:
            count = 0
        if key:
            self._counts[key] = (self._newest_start, count + 1)
            if len(self._counts) > _REMEMBERED_CALLS:
                del self._counts[next(iter(self._counts))]
        return count + 1

    @property
    def seen(self) -> tuple[tuple[str, int], ...]:
        """The calls, last used last, and their counts."""
        newest = self._newest_start
        return tuple(
            [(key, count if start == newest else 0) for key, (start, count) in self._counts.items()]
        )


def _advance(chain: Chain, key: str, config: RepeatGuardConfig) -> Chain:
    if config.counting == "since_new_call":
        # A chain that was counted in a row, before the setting was changed, goes on.
        counts = CallCounts(chain.seen or [(chain.key, chain.count)] * bool(chain.key))
        return Chain(key, counts.add(key), counts.seen)
    return Chain(key, chain.count + 1 if key and key == chain.key else 1)
