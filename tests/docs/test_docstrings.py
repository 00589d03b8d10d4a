"""What the docstrings show is what happens."""

import doctest
import importlib
import pkgutil

import pytest

import langchain_repeat_guard

MODULES = [
    module.name
    for module in pkgutil.walk_packages(
        langchain_repeat_guard.__path__, f"{langchain_repeat_guard.__name__}."
    )
    if not module.name.endswith("__main__")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str) -> None:
    """Each example of a module prints what it says."""
    assert doctest.testmod(importlib.import_module(name)).failed == 0
