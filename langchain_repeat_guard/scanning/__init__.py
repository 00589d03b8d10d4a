"""Recorded runs, and where reminders would have fallen in them."""

from langchain_repeat_guard.scanning.read import read_runs
from langchain_repeat_guard.scanning.records import (
    Chained,
    FoundReminder,
    Place,
    Problem,
    Record,
    RunRecord,
    ToolFigures,
)
from langchain_repeat_guard.scanning.report import Comparison, Summary, compare
from langchain_repeat_guard.scanning.runs import Run
from langchain_repeat_guard.scanning.scan import scan, scan_with_each

__all__ = [
    "Chained",
    "Comparison",
    "FoundReminder",
    "Place",
    "Problem",
    "Record",
    "Run",
    "RunRecord",
    "Summary",
    "ToolFigures",
    "compare",
    "read_runs",
    "scan",
    "scan_with_each",
]
