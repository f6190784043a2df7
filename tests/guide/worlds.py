"""What the reader of a page has before its first step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext

from pytest_recsys_mt.datasets import load
from tests.journeys.endpoint import KEY, Endpoint
from tests.journeys.pages import Journey
from tests.models.faults import FaultServer


@contextmanager
def a_table(journey: Journey) -> Iterator[None]:
    """A shop's sales and catalogue, with the columns that such files have."""
    data = load("mini")
    sales = data.interactions.rename(
        columns={"user": "customer_id", "item": "product_id", "rating": "stars"}
    )
    sales.to_csv(journey.folder / "sales.csv", index=False)
    lines = [
        f'{item.id},"{item.title}",{item.year},{"|".join(item.attributes["genres"])}'
        for item in data.items.values()
    ]
    text = "\n".join(["id,title,year,genres", *lines, ""])
    (journey.folder / "items.csv").write_text(text, encoding="utf-8")
    yield


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
WORLDS: Mapping[str, World] = {"bring-data": a_table, "two-dollars": a_provider}
