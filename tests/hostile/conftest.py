"""What the tests of hostile and broken input share."""

import pytest
from helpers.attachments import ATTACHMENTS


@pytest.fixture(params=list(ATTACHMENTS))
def attachment(request: pytest.FixtureRequest) -> str:
    return str(request.param)
