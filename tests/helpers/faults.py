"""Functions of the package that raise on purpose, one at a time."""

import importlib
import inspect
import pkgutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType, FunctionType
from typing import Any

import langchain_repeat_guard

_FAULT = "_injected_fault"
Functions = dict[CodeType, tuple[str, FunctionType]]


class FaultError(RuntimeError):
    """A fault that a test has put into the package."""


def functions_of(*packages: str) -> Functions:
    """Return every function and method that the named subpackages define, by its code."""
    found: Functions = {}
    for part in packages:
        package = importlib.import_module(f"langchain_repeat_guard.{part}")
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            module = importlib.import_module(info.name)
            prefix = info.name.removeprefix(f"{langchain_repeat_guard.__name__}.")
            for function in _functions_in(module):
                found[function.__code__] = (f"{prefix}.{function.__qualname__}", function)
    return found


def _functions_in(module: Any) -> Iterator[FunctionType]:
    for member in vars(module).values():
        if getattr(member, "__module__", None) == module.__name__:
            own = vars(member).values() if inspect.isclass(member) else [member]
            for one in own:
                function = one.fget if isinstance(one, property) else one
                function = inspect.unwrap(getattr(function, "__func__", function))
                # What dataclasses and enums generate has no line of the package.
                if isinstance(function, FunctionType) and _file_of(function) == module.__file__:
                    yield function


def _file_of(function: FunctionType) -> str:
    return function.__code__.co_filename


def called_by(run: Callable[[], object], functions: Functions) -> dict[str, FunctionType]:
    """Return those of `functions` that `run` calls, in any thread, by name."""
    codes: set[CodeType] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            codes.add(frame.f_code)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return dict(functions[code] for code in codes & functions.keys())


@contextmanager
def broken(function: FunctionType, secret: str) -> Iterator[list[str]]:
    """Let `function` raise an error that quotes `secret`; the list gets an entry for each call."""
    calls: list[str] = []

    def fail() -> None:
        calls.append(function.__qualname__)
        raise FaultError(secret)

    original = function.__code__
    function.__globals__[_FAULT] = fail
    # The code and not the name is replaced, so that every reference to the function is broken.
    function.__code__ = _raising_like(function).__code__
    try:
        yield calls
    finally:
        function.__code__ = original
        del function.__globals__[_FAULT]


def _raising_like(function: FunctionType) -> Any:
    """Return a function of the same kind: Python does not let another kind take its place."""
    if inspect.iscoroutinefunction(function):
        return _raising_async
    return _raising_generator if inspect.isgeneratorfunction(function) else _raising


def _raising(*_: Any, **__: Any) -> None:
    _injected_fault()  # type: ignore[name-defined]  # noqa: F821  a global of the broken function


def _raising_generator(*_: Any, **__: Any) -> Iterator[None]:
    _injected_fault()  # type: ignore[name-defined]  # noqa: F821
    yield


async def _raising_async(*_: Any, **__: Any) -> None:
    _injected_fault()  # type: ignore[name-defined]  # noqa: F821
