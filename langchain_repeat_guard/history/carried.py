"""What an agent's state carries from step to step, so that a chain survives deletion and resume."""

from dataclasses import dataclass, field
from typing import Any, Self

from langchain_repeat_guard.core.chain import Chain
from langchain_repeat_guard.errors import RepeatGuardStateError
from langchain_repeat_guard.history.tokens import DIGEST_CHARS, short_digest

CHANNEL = "repeat_guard"
"""Name of the state channel."""

REMEMBERED_STEPS = 8
"""How many counted steps are known by their message ids."""

REMEMBERED_PROMPTS = 8
"""How many prompts are known."""


@dataclass(frozen=True, slots=True)
class Carried:
    """The chain so far, and which messages it has counted."""

    chain: Chain = field(default_factory=Chain)
    """The chain after the newest counted step."""

    counted: tuple[tuple[str, int], ...] = ()
    """Message ids of the last counted steps, oldest first, with the chain's length after each.

    Empty while nothing is known of the agent. A length of 0 stands for what was there before it.
    """

    prompts: tuple[str, ...] = ()
    """Digests of the ids of the last user prompts; the chain counts since the newest, the last."""

    def with_step(self, message_id: str, chain: Chain) -> Self:
        """Return this, with one more counted step after which the chain is `chain`."""
        counted = (*self.counted, (message_id, chain.count))[-REMEMBERED_STEPS:]
        return type(self)(chain, counted, self.prompts)

    @property
    def is_new(self) -> bool:
        """Whether nothing is known of the agent: no step, and no prompt."""
        return not self.counted and not self.prompts

    def rewound(self) -> Self:
        """Return this without the counted steps, for whoever reads them anew from the messages."""
        before = tuple([entry for entry in self.counted if not entry[1]])
        return type(self)(Chain(), before, self.prompts)

    def behind(self, token: str) -> Self:
        """Return this for an agent that has done nothing yet, and finds the step `token` there.

        The empty token stands for no step.
        """
        return type(self)(Chain(), ((token, 0),), self.prompts)

    def back_to(self, place: int, key: str) -> Self:
        """Return this as it was after the counted step at `place`, whose last call has `key`."""
        count = self.counted[place][1]
        return type(self)(Chain(key, count), self.counted[: place + 1], self.prompts)

    def after_prompt(self, message_id: str) -> Self:
        """Return what is carried once the user's prompt with this id was seen. Resets the chain."""
        if self.is_newest_prompt(message_id):
            return self
        if not message_id:
            return type(self)(prompts=self.prompts)
        return type(self)(prompts=(*self.prompts, short_digest(message_id))[-REMEMBERED_PROMPTS:])

    def is_newest_prompt(self, message_id: str) -> bool:
        """Tell whether the chain counts since the prompt with this id."""
        return bool(message_id) and self.prompts[-1:] == (short_digest(message_id),)

    def has_seen_prompt(self, message_id: str) -> bool:
        """Tell whether the prompt with this id is one of the last, which have reset their chain."""
        return bool(message_id) and short_digest(message_id) in self.prompts

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values, for a checkpoint."""
        return {
            "chain": self.chain.to_dict(),
            "counted": [list(entry) for entry in self.counted],
            "prompts": "".join(self.prompts),
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
            case {"chain": chain, "counted": list(entries), "prompts": str(digests)}:
                counted = _counted(entries[-REMEMBERED_STEPS:])
                starts = range(0, len(digests), DIGEST_CHARS)
                prompts = tuple([digests[start : start + DIGEST_CHARS] for start in starts])
                return cls(Chain.from_dict(chain), counted, prompts[-REMEMBERED_PROMPTS:])
        raise RepeatGuardStateError(value, "a dict with 'chain', 'counted' and 'prompts'")


def _counted(entries: list[Any]) -> tuple[tuple[str, int], ...]:
    # All at once, as this is read at every step.
    try:
        pairs = [
            (token, n) for token, n in entries if type(token) is str and type(n) is int and n >= 0
        ]
    except (TypeError, ValueError):  # something else than pairs
        pairs = []
    if len(pairs) == len(entries):
        return tuple(pairs)
    raise RepeatGuardStateError(entries, "a list of pairs of a message id and a count")
