"""The same items, all with the highest rating.

A recommender that reads ratings must answer differently, unless it reads all
values in the same way. It is a control next to `invert_ratings`: a recommender that
reads only how far a rating is from the middle, or how many ratings are alike, gives the
opposite ratings the same answer.

It is not applicable if the history is empty, or all ratings are the highest.

Example:
    >>> history = (Rating(Item("h", "Heat", 1995), 4.5), Rating(Item("c", "Click", 2006), 1.0))
    >>> request = Request("509", history, Scale(0.5, 5), candidates=None, k=5)
    >>> followup = level_ratings(request, np.random.default_rng(0))
    >>> [rating.value for rating in followup.history], followup.scale
    ([5.0, 5.0], Scale(low=0.5, high=5))
"""

from pytest_recsys_mt.relations.histories import revalued
from pytest_recsys_mt.relations.transformation import Generator, transformation
from pytest_recsys_mt.requests import Request, World
from pytest_recsys_mt.safety.errors import NotApplicable


@transformation(
    promise="The answer changes when all ratings become the highest.",
    promises_change=True,
    changes={"history"},
    aspect="ratings",
)
def level_ratings(request: Request, rng: Generator, world: World) -> Request:
    high = float(request.scale.high)
    if request.history and all(rating.value == high for rating in request.history):
        raise NotApplicable("all ratings are the highest")
    return revalued(request, lambda rating: high)
