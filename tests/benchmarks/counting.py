"""Counted function calls: what a step costs, whatever else the machine is doing."""

import gc
import sys
import threading
from collections.abc import Callable
from typing import Any


def count_calls(run: Callable[[], object]) -> int:
    """Return how many Python and C functions `run` calls, on all threads that it starts."""
    calls = 0
    lock = threading.Lock()

    def profile(_frame: Any, event: str, _arg: Any) -> None:
        nonlocal calls
        if event in ("call", "c_call"):
            with lock:
                calls += 1

    gc.collect()
    gc.disable()  # its callbacks would be counted
    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        run()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
        gc.enable()
    return calls
