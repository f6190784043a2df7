"""Changes of a request that several relations share."""

import dataclasses
from collections.abc import Callable

from pytest_recsys_mt.errors import NotApplicable
from pytest_recsys_mt.requests import Rating, Request


def revalued(request: Request, value: Callable[[Rating], float]) -> Request:
    """The request with another value of each rating."""
    if not request.history:
        raise NotApplicable("the history is empty")
    history = (dataclasses.replace(rating, value=value(rating)) for rating in request.history)
    return request.replace(history=tuple(history))


def later(history: tuple[Rating, ...], seconds: int) -> tuple[Rating, ...]:
    """The history with all its timestamps moved."""
    return tuple(
        rating
        if rating.timestamp is None
        else dataclasses.replace(rating, timestamp=rating.timestamp + seconds)
        for rating in history
    )


def instructed(request: Request, added: str, what: str = "instruction") -> Request:
    """The request with a sentence after its instruction."""
    if added in request.instruction:
        raise NotApplicable(f"the request already has this {what}")
    return request.replace(instruction=f"{request.instruction} {added}".strip())
