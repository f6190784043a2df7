"""The same items, all with the lowest rating.

It is a starting point for relations that raise a rating, such as `raise_a_step`: real
histories are mostly of good ratings, so what goes wrong with bad ones hardly shows in
them.

It is not applicable if the history is empty, or all ratings are the lowest.

Source:
    This project; `level_ratings` at the other end of the scale.

Example:
    >>> history = (Rating(Item("h", "Heat", 1995), 4.5), Rating(Item("c", "Click", 2006), 1.0))
    >>> request = Request("509", history, Scale(0.5, 5), candidates=None, k=5)
    >>> followup = rate_lowest(request, np.random.default_rng(0))
    >>> [rating.value for rating in followup.history], followup.scale
    ([0.5, 0.5], Scale(low=0.5, high=5))
"""

from pytest_recsys_mt.relations.histories import revalued
from pytest_recsys_mt.relations.transformation import Generator, transformation
from pytest_recsys_mt.requests import Request, World
from pytest_recsys_mt.safety.errors import NotApplicable


@transformation(
    promise="The answer changes when all ratings become the lowest.",
    promises_change=True,
    changes={"history"},
    aspect="ratings",
)
def rate_lowest(request: Request, rng: Generator, world: World) -> Request:
    low = float(request.scale.low)
    if request.history and all(rating.value == low for rating in request.history):
        raise NotApplicable("all ratings are the lowest")
    return revalued(request, lambda rating: low)
