"""The real model and a real server with it, started once a session."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.models import servers
from tests.models.faults import FaultServer


@pytest.fixture(scope="session")
def smollm_folder() -> Path:
    return servers.smollm_folder()


@pytest.fixture(scope="session")
def llamacpp_url() -> Iterator[str]:
    with servers.llamacpp_server() as url:
        yield url


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultServer]:
    """A server whose answers the test chooses, as the endpoint of the environment."""
    with FaultServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        yield server
