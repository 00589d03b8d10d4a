"""What an agent's state carries from step to step, so that a chain survives deletion and resume."""

from dataclasses import dataclass, field
from typing import Any, Self

from langchain_repeat_guard.core.chain import Chain
from langchain_repeat_guard.errors import RepeatGuardStateError

CHANNEL = "repeat_guard"
"""Name of the state channel."""

REMEMBERED_STEPS = 8
"""How many counted steps are known by their message ids."""


@dataclass(frozen=True, slots=True)
class Carried:
    """The chain so far, and which messages it has counted."""

    chain: Chain = field(default_factory=Chain)
    """The chain after the newest counted step."""

    counted: tuple[tuple[str, int], ...] = ()
    """Message ids of the last counted steps, oldest first, with the chain's length after each."""

    prompt: str = ""
    """Id of the user prompt since which the chain counts."""

    def with_step(self, message_id: str, chain: Chain) -> Self:
        """Return this, with one more counted step after which the chain is `chain`."""
        counted = (*self.counted, (message_id, chain.count))[-REMEMBERED_STEPS:]
        return type(self)(chain, counted, self.prompt)

    def back_to(self, place: int, key: str) -> Self:
        """Return this as it was after the counted step at `place`, whose last call has `key`."""
        count = self.counted[place][1]
        return type(self)(Chain(key, count), self.counted[: place + 1], self.prompt)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values, for a checkpoint."""
        return {
            "chain": self.chain.to_dict(),
            "counted": [list(entry) for entry in self.counted],
            "prompt": self.prompt,
        }

    @classmethod
    def from_dict(cls, value: object) -> Self:
        """Return what `to_dict` has written; nothing (None, an empty dict) is nothing carried.

        Raises:
            RepeatGuardStateError: `value` is something else.
        """
        match value:
            case None:
                return cls()
            case dict() if not value:
                return cls()
            case {"chain": chain, "counted": list(entries), "prompt": str(prompt)}:
                counted = tuple(_entry(entry) for entry in entries[-REMEMBERED_STEPS:])
                return cls(Chain.from_dict(chain), counted, prompt)
        raise RepeatGuardStateError(value, "a dict with 'chain', 'counted' and 'prompt'")


def _entry(value: object) -> tuple[str, int]:
    match value:
        case [str(message_id), int(count)] if count is not True and count is not False:
            return message_id, count
    raise RepeatGuardStateError(value, "a pair of a message id and a count")
