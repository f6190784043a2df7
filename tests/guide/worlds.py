"""What the reader of a page has before its first step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial

from tests.journeys.endpoint import KEY, Endpoint
from tests.journeys.pages import DOCS, Command, Journey, steps_of
from tests.models.faults import FaultServer


@contextmanager
def a_provider(journey: Journey) -> Iterator[None]:
    """An account at a provider of language models, which is a server on this machine."""
    with FaultServer() as server:
        Endpoint(server)
        journey.environment |= {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": KEY}
        yield


@contextmanager
def a_provider_once(journey: Journey) -> Iterator[None]:
    """An account that is there for the first command alone that asks a language model."""
    steps = steps_of(DOCS.parent / "README.md")
    asks = next(
        step.text
        for step in steps
        if isinstance(step, Command) and "gpt-4o" in step.text
    )
    before = dict(journey.environment)
    with a_provider(journey):
        # Afterwards its address is OpenAI's again, whose prices the plan knows.
        journey.meanwhile[asks] = partial(
            journey.environment.update,
            OPENAI_BASE_URL="",
        )
        yield
    journey.environment = before


def nothing(journey: Journey) -> AbstractContextManager[None]:
    """The package alone."""
    return nullcontext()


World = Callable[[Journey], AbstractContextManager[None]]
WORLDS: Mapping[str, World] = {"README": a_provider_once, "calls": a_provider}
