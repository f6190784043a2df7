"""The whole history, given twice.

The copy comes first. Its timestamps are moved back, so that it ends before the original starts. So the
follow-up is still oldest first, and the latest ratings keep their timestamps.

Source:
    This project.

Example:
    >>> import numpy as np
    >>> from pytest_recsys_mt.requests import Item, Rating, Request, Scale
    >>> history = (Rating(Item("a"), 5, 100), Rating(Item("b"), 2, 110))
    >>> request = Request("u", history, Scale(), candidates=None, k=2)
    >>> followup = duplicate_history(request, np.random.default_rng(0))
    >>> [(rating.item.id, rating.timestamp) for rating in followup.history]
    [('a', 89), ('b', 99), ('a', 100), ('b', 110)]

Raises:
    NotApplicable: If the history is empty.
"""

import dataclasses

from pytest_recsys_mt.errors import NotApplicable
from pytest_recsys_mt.relations.sources import HOUSE
from pytest_recsys_mt.relations.transformation import Generator, Transformation
from pytest_recsys_mt.requests import Rating, Request, World


def _apply(request: Request, rng: Generator, world: World) -> Request:
    if not request.history:
        raise NotApplicable("the history is empty")
    moments = [rating.timestamp for rating in request.history if rating.timestamp is not None]
    back = max(moments) - min(moments) + 1 if moments else 0
    earlier = tuple(_moved(rating, back) for rating in request.history)
    return request.replace(history=earlier + request.history)


def _moved(rating: Rating, back: int) -> Rating:
    if rating.timestamp is None:
        return rating
    return dataclasses.replace(rating, timestamp=rating.timestamp - back)


duplicate_history = Transformation(
    name="duplicate_history",
    apply=_apply,
    promise="The ranking stays the same when the whole history is given twice.",
    changes=frozenset({"history"}),
    needs=frozenset({"ratings"}),
    origin=HOUSE,
)
