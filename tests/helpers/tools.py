"""Tools for agents in tests."""

from langchain_core.tools import ToolException, tool
from langgraph.types import interrupt


@tool
def grep(pattern: str, path: str = ".") -> str:
    """Search for a pattern."""
    return f"nothing found for {pattern}"


@tool
def read(path: str) -> str:
    """Read a file."""
    return f"content of {path}"


@tool
async def fetch(url: str) -> str:
    """Fetch a page; works in async runs only."""
    return f"page {url}"


@tool
def ping() -> str:
    """Take no arguments."""
    return "pong"


@tool
def ask_human(question: str) -> str:
    """Pause the run until somebody answers."""
    return str(interrupt(question))


@tool
def broken(reason: str) -> str:
    """Raise an error that no one expects."""
    raise RuntimeError(reason)


@tool
def refusing(reason: str) -> str:
    """Raise the error that tools report to the model."""
    raise ToolException(reason)


refusing.handle_tool_error = True


@tool(return_direct=True)
def finish(answer: str) -> str:
    """End the run with its result."""
    return answer
