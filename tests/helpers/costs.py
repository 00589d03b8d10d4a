"""Work and memory that a piece of code takes, counted and not timed."""

import sys
import tracemalloc
from collections.abc import Callable
from types import FrameType
from typing import Any


def operations(run: Callable[[], object]) -> int:
    """Return how many bytecodes `run` executes, in Python functions of any package."""
    count = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal count
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        run()
    finally:
        sys.settrace(before)
    return count


def peak_bytes(run: Callable[[], object]) -> int:
    """Return how much more memory `run` holds at its highest point than before."""
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        run()
        _, peak = tracemalloc.get_traced_memory()
        return peak - before
    finally:
        tracemalloc.stop()
