"""What the commands found, for people: tables that fit the terminal."""

from collections.abc import Iterable, Sequence
from typing import Any

from rich import box
from rich.console import Console, ConsoleRenderable
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from langchain_repeat_guard.cli.playback import RecordedRun
from langchain_repeat_guard.cli.report import calls_after_first_reminder
from langchain_repeat_guard.cli.transcript import CallRecord, SeenReminder, StepRecord

_WIDEST = 120
_NARROW = 80
_INDENT = 6


def console_for(stream: Any = None, *, stderr: bool = False) -> Console:
    return Console(file=stream, stderr=stderr, highlight=False, markup=False, emoji=False)
