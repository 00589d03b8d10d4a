"""The lines of the guard's own texts."""

from langchain_repeat_guard.core.texts import FIRST_TEXT, LATER_TEXT

LATER_HEAD, *_, LATER_TAIL = LATER_TEXT.splitlines()

__all__ = ["FIRST_TEXT", "LATER_HEAD", "LATER_TAIL"]
