"""A history without the items rated below the middle of the scale.

A recommender that takes only good ratings for a taste answers as before. That is a
decision many make; so this relation is for recommenders that claim to use ratings
(`promises = ("ratings",)`), the low ones too. It finds faults that `dislike_item`
cannot: a recommender that leaves dislikes out lowers similar items, too.

It is not applicable if no rating is below the middle of the scale, or all are.

Example:
    >>> history = tuple(Rating(Item(str(value)), value) for value in (1.0, 2.0, 2.5, 3.0, 5.0))
    >>> request = Request("u", history, Scale(1, 5), candidates=None, k=5)
    >>> [rating.value for rating in drop_dislikes(request, np.random.default_rng(0)).history]
    [3.0, 5.0]
"""

from pytest_recsys_mt.relations.transformation import Generator, transformation
from pytest_recsys_mt.requests import Request, World
from pytest_recsys_mt.safety.errors import NotApplicable


@transformation(
    promise="The answer changes when the dislikes are taken out of the history.",
    promises_change=True,
    changes={"history"},
    promised="ratings",
)
def drop_dislikes(request: Request, rng: Generator, world: World) -> Request:
    kept = tuple(
        rating for rating in request.history if request.scale.unit(rating.value) >= 0.5
    )
    if len(kept) in (0, len(request.history)):
        raise NotApplicable(
            "all ratings are on one side of the middle of the scale, or there are none",
        )
    return request.replace(history=kept)
