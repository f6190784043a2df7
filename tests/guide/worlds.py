"""What the reader of a page has before its first step."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial

from tests.journeys.endpoint import KEY, Endpoint
from tests.journeys.pages import DOCS, Command, File, Journey, steps_of
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


@contextmanager
def a_shop(journey: Journey) -> Iterator[None]:
    """The server of the page, which runs in another terminal."""
    steps = steps_of(DOCS / "how-to" / "map-an-endpoint.md")
    (server,) = (
        step
        for step in steps
        if isinstance(step, File) and step.name == "shop_server.py"
    )
    command = [sys.executable, "-c", server.text]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            _wait_for(8125)
            yield
        finally:
            process.terminate()


def _wait_for(port: int) -> None:
    """Wait until a server on this machine accepts connections."""
    for _ in range(100):
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError(f"no server listens on port {port}")


def nothing(journey: Journey) -> AbstractContextManager[None]:
    """The package alone."""
    return nullcontext()


World = Callable[[Journey], AbstractContextManager[None]]
WORLDS: Mapping[str, World] = {
    "README": a_provider_once,
    "calls": a_provider,
    "map-an-endpoint": a_shop,
}
