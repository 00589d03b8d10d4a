"""The package as a whole: what it exports, and what it loads."""

import subprocess
import sys
from importlib.metadata import version
from importlib.resources import files

import pytest

import langchain_repeat_guard

NAMES = langchain_repeat_guard.__all__


def loaded_after(statement: str) -> set[str]:
    """Return the top-level modules that a fresh interpreter has loaded after `statement`."""
    code = f"import sys; {statement}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run(  # noqa: S603  our own interpreter
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    return set(done.stdout.split())


def test_import_loads_no_framework() -> None:
    """Importing the package loads neither LangChain nor LangGraph."""
    loaded = loaded_after("import langchain_repeat_guard")
    assert loaded & {"langchain", "langchain_core", "langgraph"} == set()


def test_adapters_load_on_first_use() -> None:
    """Touching an adapter loads what it needs."""
    assert "langgraph" in loaded_after("from langchain_repeat_guard import RepeatGuardNode")


@pytest.mark.parametrize("name", NAMES)
def test_every_exported_name_exists(name: str) -> None:
    """Each name in `__all__` can be imported."""
    assert getattr(langchain_repeat_guard, name).__doc__


def test_names_are_sorted_and_listed() -> None:
    """`dir` shows what `__all__` promises: constants, then classes, then functions."""
    assert sorted(NAMES, key=lambda name: (not name.isupper(), name)) == NAMES
    assert set(NAMES) <= set(dir(langchain_repeat_guard))


def test_unknown_name_is_an_attribute_error() -> None:
    """A misspelt name is refused as for any module."""
    with pytest.raises(AttributeError, match="has no attribute 'RepeatGaurdNode'"):
        _ = langchain_repeat_guard.RepeatGaurdNode  # type: ignore[attr-defined]


def test_all_that_is_listed_can_be_had_without_the_extra() -> None:
    """Without langchain, `import *` and `help()` work: the middlewares are not listed."""
    code = (
        "import sys; sys.modules['langchain'] = None\n"
        "from langchain_repeat_guard import *\n"
        "import inspect, langchain_repeat_guard as package\n"
        "names = {name for name, _ in inspect.getmembers(package)}\n"
        "print('RepeatGuardNode' in names, 'RepeatGuardMiddleware' in names)\n"
    )
    done = subprocess.run(  # noqa: S603  our own interpreter
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    assert done.stdout == "True False\n"


def test_version_and_types_ship() -> None:
    """The installed package states its version, and that it is typed."""
    assert langchain_repeat_guard.__version__ == version("langchain-repeat-guard") == "0.1.0"
    assert files("langchain_repeat_guard").joinpath("py.typed").is_file()
