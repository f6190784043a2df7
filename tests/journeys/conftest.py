from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.journeys.endpoint import Endpoint
from tests.journeys.pages import Journey
from tests.models.faults import FaultServer


@pytest.fixture
def journey(tmp_path: Path) -> Journey:
    """An empty folder of a user who has just installed the package."""
    return Journey(tmp_path)


@pytest.fixture
def endpoint(journey: Journey) -> Iterator[Endpoint]:
    """A provider of language models, whose address is in the user's shell."""
    with FaultServer() as server:
        journey.environment["OPENAI_BASE_URL"] = server.url
        yield Endpoint(server)
