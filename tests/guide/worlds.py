"""What the reader of a page has before its first step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext

from tests.journeys.endpoint import KEY, Endpoint
from tests.journeys.pages import Journey
from tests.models.faults import FaultServer


@contextmanager
def a_provider(journey: Journey) -> Iterator[None]:
    """An account at a provider of language models, which is a server on this machine."""
    with FaultServer() as server:
        Endpoint(server)
        journey.environment |= {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": KEY}
        yield


def nothing(journey: Journey) -> AbstractContextManager[None]:
    """The package alone."""
    return nullcontext()


World = Callable[[Journey], AbstractContextManager[None]]
WORLDS: Mapping[str, World] = {"README": a_provider, "two-dollars": a_provider}
