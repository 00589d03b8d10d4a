"""The accounts of interrupted agents, until their runs are resumed."""

from langchain_repeat_guard.callback.ledger import Ledger

Key = tuple[str, str, str]
"""Namespace of the task around the agent, thread, and the agent's own namespace.

Thread and own namespace alone are not enough: an agent that is invoked inside another one under a
thread of its own starts at the root again.
"""

Parked = dict[Key, Ledger]


class ParkingLot:
    """Holds what interrupted runs left, by thread; the oldest goes where there are too many."""

    def __init__(self, max_threads: int) -> None:
        """Start empty."""
        self._max_threads = max_threads
        self._threads: dict[str, Parked] = {}

    def __len__(self) -> int:
        """Count the threads."""
        return len(self._threads)

    def put(self, thread_id: str, parked: Parked) -> None:
        """Keep what the run of a thread has left."""
        self._threads.pop(thread_id, None)
        self._threads[thread_id] = parked
        if len(self._threads) > self._max_threads:
            del self._threads[next(iter(self._threads))]

    def get(self, thread_id: str) -> Parked:
        """Return what the last run of the thread has left."""
        return self._threads.get(thread_id, {})

    def take(self, thread_id: str) -> Parked:
        """Return what the last run of the thread has left, and keep it no longer."""
        return self._threads.pop(thread_id, {})
