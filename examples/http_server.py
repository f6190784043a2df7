"""A recommender behind HTTP: the reference server of
docs/http-recommender.openapi.yaml.

    pip install 'pytest-recsys-mt[examples]'
    python examples/http_server.py --port 8000

It likes what shares genres and directors with the history. Set SHOP_TOKEN, and it wants
the header ``Authorization: Bearer`` with that token, or ``X-API-Key`` with it.
"""

import argparse
import os
import secrets
from collections import defaultdict
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Header, HTTPException
from pydantic import BaseModel, Field

VERSION = "taste-1"
"""Another one for every change that may change an
answer: recorded answers are kept by it.
"""

LARGEST_BATCH = 64


class Item(BaseModel):
    """Something that can be recommended."""

    id: str
    title: str = ""
    year: int | None = None
    attributes: dict[str, Any] = {}


class Rating(BaseModel):
    """One past interaction."""

    item: Item
    rating: float
    timestamp: int | None = None


class Scale(BaseModel):
    """The anchors of the ratings."""

    low: float
    high: float


class Request(BaseModel):
    """One question."""

    user: str
    attributes: dict[str, Any] = {}
    history: list[Rating]
    scale: Scale
    candidates: list[Item] | None
    k: int = Field(ge=1)
    replicate: int = 0


class Batch(BaseModel):
    """Several questions."""

    requests: list[Request] = Field(min_length=1, max_length=LARGEST_BATCH)


def authorized(
    authorization: Annotated[str | None, Header()] = None,
    x_api_key: Annotated[str | None, Header()] = None,
) -> None:
    """Refuse who does not have the token, where there is one."""
    token = os.environ.get("SHOP_TOKEN")
    given = f"Bearer {x_api_key}" if x_api_key else authorization or ""
    if token and not secrets.compare_digest(given, f"Bearer {token}"):
        raise HTTPException(401, "a token is needed")


app = FastAPI(title="A shop", version=VERSION, dependencies=[Depends(authorized)])


@app.get("/about")
def about() -> dict[str, Any]:
    """What answers."""
    return {
        "version": VERSION,
        "deterministic": True,
        "max_batch": LARGEST_BATCH,
        "promises": ["ratings"],
    }


@app.post("/recommend")
def recommend(batch: Batch) -> dict[str, Any]:
    """One answer a request, in their order."""
    return {
        "version": VERSION,
        "answers": [answer(request) for request in batch.requests],
    }


def answer(request: Request) -> dict[str, Any]:
    """The candidates that share most with what the user
    rated, each rating as a share of the scale.
    """
    if request.candidates is None:
        return {
            "not_applicable": "this shop ranks candidates, and has no catalogue of its own",
        }
    taste: defaultdict[str, float] = defaultdict(float)
    for rating in request.history:
        liked = (rating.rating - request.scale.low) / (
            request.scale.high - request.scale.low
        ) - 0.5
        for feature in features(rating.item):
            taste[feature] += liked
    ranked = sorted(
        request.candidates,
        key=lambda item: (
            -round(sum(taste[feature] for feature in features(item)), 9),
            item.id,
        ),
    )
    return {"items": [item.id for item in ranked[: request.k]]}


def features(item: Item) -> list[str]:
    """Genres and directors."""
    return [
        f"{name}:{value}"
        for name in ("genres", "directors")
        for value in item.attributes.get(name, ())
    ]


if __name__ == "__main__":
    import uvicorn

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    given = parser.parse_args()
    uvicorn.run(app, host=given.host, port=given.port, log_level="warning")
