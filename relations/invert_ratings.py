"""The same items with the opposite ratings.

Each rating becomes ``low + high - rating``, so that the best becomes the worst. The
scale stays. A recommender that reads ratings must answer differently, unless it reads
only which user rated which item.

It is not applicable if the history is empty, or all its ratings are the same: turned
round, they say as little of preferences.

Example:
    >>> history = (Rating(Item("h", "Heat", 1995), 4.5), Rating(Item("c", "Click", 2006), 1.0))
    >>> request = Request("509", history, Scale(0.5, 5), candidates=None, k=5)
    >>> followup = invert_ratings(request, np.random.default_rng(0))
    >>> [rating.value for rating in followup.history], followup.scale
    ([1.0, 4.5], Scale(low=0.5, high=5))
"""

from pytest_recsys_mt.relations.histories import revalued
from pytest_recsys_mt.relations.transformation import Generator, transformation
from pytest_recsys_mt.requests import Rating, Request, World
from pytest_recsys_mt.safety.errors import NotApplicable


@transformation(
    promise="The answer changes when the best ratings become the worst.",
    promises_change=True,
    changes={"history"},
    aspect="ratings",
)
def invert_ratings(request: Request, rng: Generator, world: World) -> Request:
    low, high = float(request.scale.low), float(request.scale.high)

    def opposite(rating: Rating) -> float:
        return min(
            high,
            max(low, low + high - rating.value),
        )  # rounding must not leave the scale

    if len({rating.value for rating in request.history}) == 1:
        raise NotApplicable("all ratings are the same")
    return revalued(request, opposite)
