"""The same items with the opposite ratings.

Each rating becomes ``low + high - rating``, so that the best becomes the worst. The scale stays. A
recommender that reads ratings must answer differently, unless it reads only who rated what.

Source:
    This project.

Example:
    >>> import numpy as np
    >>> from pytest_recsys_mt.requests import Item, Rating, Request, Scale
    >>> history = (Rating(Item("h", "Heat", 1995), 4.5), Rating(Item("c", "Click", 2006), 1.0))
    >>> request = Request("509", history, Scale(0.5, 5), candidates=None, k=5)
    >>> followup = invert_ratings(request, np.random.default_rng(0))
    >>> [rating.value for rating in followup.history], followup.scale
    ([1.0, 4.5], Scale(low=0.5, high=5))

Raises:
    NotApplicable: If the history is empty, or all its ratings are the same: turned round, they say as little of
        what is preferred.
"""

import dataclasses

from pytest_recsys_mt.errors import NotApplicable
from pytest_recsys_mt.relations.sources import HOUSE
from pytest_recsys_mt.relations.transformation import Generator, Transformation
from pytest_recsys_mt.requests import Request, World


def _apply(request: Request, rng: Generator, world: World) -> Request:
    if not request.history:
        raise NotApplicable("the history is empty")
    low, high = float(request.scale.low), float(request.scale.high)

    def opposite(value: float) -> float:
        return min(high, max(low, low + high - value))  # rounding must not leave the scale

    if len({rating.value for rating in request.history}) == 1:
        raise NotApplicable("all ratings are the same")
    return request.replace(
        history=tuple(
            dataclasses.replace(rating, value=opposite(rating.value)) for rating in request.history
        )
    )


invert_ratings = Transformation(
    name="invert_ratings",
    apply=_apply,
    promise="The answer changes when the best ratings become the worst.",
    promises_change=True,
    changes=frozenset({"history"}),
    needs=frozenset({"ratings"}),
    origin=HOUSE,
    aspect="ratings",
)
