"""The highest rating for one item of the history.

Of the items that are not rated highest, it raises the one that says most: the product
of how far its rating can rise and of the number of its neighbours among the offered
items is the largest. `pytest_recsys_mt.oracles.neighbours_not_lowered` judges what
becomes of these neighbours.

It is not applicable if the history is empty, all ratings are the highest, or none of
the other items has a neighbour among the offered ones.

Source:
    This project; monotonicity of a recommender in its user's ratings.

Example:
    >>> history = (Rating(Item("a"), 4.0), Rating(Item("b"), 2.0))
    >>> request = Request("u", history, Scale(1, 5), candidates=(Item("x"), Item("y")), k=2)
    >>> world = World(neighbours={"a": ("x", "y"), "b": ("y", "x")})
    >>> followup = raise_rating(request, np.random.default_rng(0), world)
    >>> [rating.value for rating in followup.history]
    [4.0, 5.0]
"""

from pytest_recsys_mt.relations.histories import most_effective, rerated
from pytest_recsys_mt.relations.transformation import Generator, transformation
from pytest_recsys_mt.requests import Request, World


@transformation(
    promise="What is like an item does not fall when its rating rises.",
    changes={"history"},
)
def raise_rating(request: Request, rng: Generator, world: World) -> Request:
    scale = request.scale
    chosen = most_effective(request, world, lambda rating: 1 - scale.unit(rating.value))
    return rerated(request, {chosen.item.id}, float(scale.high))
