"""Options of the whole test suite."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the flag for longer runs of the laws."""
    parser.addoption(
        "--laws-examples",
        type=int,
        default=0,
        metavar="N",
        help="play N random runs of each kind in tests/laws, instead of a fixed set",
    )
