"""The lowest rating for one item of the history and its near-duplicates.

The item is the one that says most: the product of how far its rating can fall and of the number of its
neighbours among the offered items is the largest. What of the history is a neighbour of it gets the lowest
rating too: who likes ten such films and dislikes the eleventh still likes such films.
`pytest_recsys_mt.oracles.neighbours_not_raised` judges what becomes of the neighbours, and `neighbours_lowered`
for a recommender that promises to mind ratings.

Source:
    This project; monotonicity of a recommender in its user's ratings.

Example:
    >>> import numpy as np
    >>> from pytest_recsys_mt.requests import Item, Rating, Request, Scale, World
    >>> history = tuple(Rating(Item(name), 4.0) for name in ("a", "b", "c"))
    >>> request = Request("u", history, Scale(1, 5), candidates=(Item("x"), Item("y")), k=2)
    >>> world = World(neighbours={"b": ("x", "a", "y")})
    >>> followup = dislike_item(request, np.random.default_rng(0), world)
    >>> [rating.value for rating in followup.history]
    [1.0, 1.0, 4.0]

Raises:
    NotApplicable: If the history is empty, all ratings are the lowest, or none of the other items has a
        neighbour among the offered ones.
"""

from pytest_recsys_mt.relations.neighbours import alike, revalued, telling
from pytest_recsys_mt.relations.sources import HOUSE
from pytest_recsys_mt.relations.transformation import Generator, Transformation
from pytest_recsys_mt.requests import Request, World


def _apply(request: Request, rng: Generator, world: World) -> Request:
    scale = request.scale
    chosen = telling(request, world, lambda rating: scale.unit(rating.value))
    return revalued(request, alike(chosen.item.id, world), float(scale.low))


dislike_item = Transformation(
    name="dislike_item",
    apply=_apply,
    promise="What is like an item does not rise when the item and its like get the lowest rating.",
    changes=frozenset({"history"}),
    needs=frozenset({"ratings"}),
    origin=HOUSE,
)
