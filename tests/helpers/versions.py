"""Tests of what an older LangChain or LangGraph does not do yet."""

from importlib.metadata import version

import pytest
from packaging.version import Version


def needs(package: str, minimum: str, feature: str) -> pytest.MarkDecorator:
    """Return the mark that skips a test of `feature` below version `minimum` of `package`."""
    return pytest.mark.skipif(
        Version(version(package)) < Version(minimum),
        reason=f"{feature}: since {package} {minimum}",
    )
