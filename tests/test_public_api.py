"""What users may rely on: names, how they are called, and examples that run."""

import inspect
import re
from collections.abc import Iterator
from difflib import unified_diff
from doctest import DocTest, DocTestFinder, DocTestRunner
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest

import langchain_repeat_guard
from langchain_repeat_guard import scanning

PACKAGE = langchain_repeat_guard.__name__
EXAMPLE = ">>> "
PINNED = Path(__file__).parent / "data" / "public_api.txt"


def signature(function: object) -> str:
    """Return a signature with the names in it as they stand without their modules."""
    assert callable(function)
    text = re.sub(r"\b(?:\w+\.)+(?=\w)", "", str(inspect.signature(function)))
    return re.sub(r"\*<class '(\w+)'>", r"Unpack[\1]", text)  # as Python 3.12 and later spell it


def on_lines(text: str) -> str:
    """Return a signature with one parameter a line."""
    return re.sub(r", (?=\*|\w+: )", ",\n    ", text.replace("(", "(\n    ", 1))


def own_members(kind: type) -> dict[str, object]:
    """Return the public methods and properties that this package gives a class."""
    own = [base for base in reversed(kind.__mro__) if base.__module__.startswith(PACKAGE)]
    members = {name: member for base in own for name, member in vars(base).items()}
    kinds = (property, classmethod, type(signature))
    return {
        name: member
        for name, member in sorted(members.items())
        if isinstance(member, kinds) and not name.startswith("_")
    }


def described(name: str, item: object) -> Iterator[str]:
    """Yield the lines that say how a public name is used."""
    if not isinstance(item, type):
        yield f"{name}{on_lines(signature(item))}" if callable(item) else f"{name} = {item!r}"
    elif issubclass(item, dict):  # a TypedDict
        yield f"class {name}: {', '.join(item.__annotations__)}"
    else:
        is_bare_error = issubclass(item, Exception) and "__init__" not in vars(item)
        bases = ", ".join(base.__name__ for base in item.__bases__)
        yield f"class {name} of {bases}{'' if is_bare_error else on_lines(signature(item))}"
        for member_name, member in own_members(item).items():
            function = getattr(item, member_name)
            is_property = isinstance(member, property)
            yield f"  .{member_name}" + ("" if is_property else signature(function))


def documented_examples() -> list[DocTest]:
    """Return the examples of every module, by docstring."""
    modules = [one.name for one in walk_packages(langchain_repeat_guard.__path__, f"{PACKAGE}.")]
    finder = DocTestFinder()
    found = [finder.find(import_module(name)) for name in modules if not name.endswith("__main__")]
    return [one for examples in found for one in examples if one.examples]


def test_names_and_signatures() -> None:
    """Every public name, parameter and default is as pinned: a change here is one for users."""
    pinned = PINNED.read_text(encoding="utf-8").splitlines()
    now = "\n".join(
        line
        for module in (langchain_repeat_guard, scanning)
        for name in module.__all__
        for line in described(name, getattr(module, name))
    ).splitlines()
    changes = "\n".join(unified_diff(pinned, now, "as pinned", "as it is", lineterm="", n=0))
    assert now == pinned, f"Write what is meant into {PINNED.name}:\n{changes}"


@pytest.mark.parametrize(
    "example", [pytest.param(one, id=one.name) for one in documented_examples()]
)
def test_example_in_a_docstring_runs(example: DocTest) -> None:
    """What a docstring shows is what happens."""
    complaints: list[str] = []
    DocTestRunner().run(example, out=complaints.append)
    assert complaints == []


def test_whatever_is_called_has_an_example() -> None:
    """Only constants, payloads and errors that users do not make go without."""
    items = {name: getattr(langchain_repeat_guard, name) for name in langchain_repeat_guard.__all__}
    assert [name for name, item in items.items() if EXAMPLE not in str(item.__doc__)] == [
        "REMINDER_EVENT",
        "ReminderEvent",
        "RepeatGuardError",
        "RepeatGuardSetupError",
    ]
