"""One strict server and one set of clients for all tests of a process."""

from collections.abc import Iterator

import pytest
from helpers.attachments import ATTACHMENTS
from helpers.stage import ALLOWED, Stage
from helpers.strict_server import StrictServer, strict_server


@pytest.fixture(scope="session")
def running_server() -> Iterator[StrictServer]:
    with strict_server() as server:
        yield server


@pytest.fixture
def server(running_server: StrictServer) -> StrictServer:
    """The server, as it is before its first request."""
    running_server.reset()
    return running_server


@pytest.fixture(params=ALLOWED, ids="-".join)
def api_and_delivery(request: pytest.FixtureRequest) -> tuple[str, str]:
    api, delivery = request.param
    return api, delivery


@pytest.fixture(params=list(ATTACHMENTS))
def attachment(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def stage(server: StrictServer, api_and_delivery: tuple[str, str], attachment: str) -> Stage:
    return Stage(server, *api_and_delivery, attachment)
