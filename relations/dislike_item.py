"""The lowest rating for one item of the history and its near-duplicates.

The item is the one with the largest effect: the product of how far its rating can fall
and of the number of its neighbours among the offered items is the largest. Its
neighbours in the history get the lowest rating too: a user who likes ten such films and
dislikes the eleventh still likes such films.
`pytest_recsys_mt.oracles.neighbours_not_raised` judges the change of the neighbours,
and `neighbours_lowered` for a recommender that claims to use ratings.

It is not applicable if the history is empty, all ratings are the lowest, or none of the
other items has a neighbour among the offered ones.

Source:
    This project; monotonicity of a recommender in its user's ratings.

Example:
    >>> history = tuple(Rating(Item(name), 4.0) for name in ("a", "b", "c"))
    >>> request = Request("u", history, Scale(1, 5), candidates=(Item("x"), Item("y")), k=2)
    >>> world = World(neighbours={"b": ("x", "a", "y")})
    >>> followup = dislike_item(request, np.random.default_rng(0), world)
    >>> [rating.value for rating in followup.history]
    [1.0, 1.0, 4.0]
"""

from pytest_recsys_mt.relations.histories import alike, most_effective, rerated
from pytest_recsys_mt.relations.transformation import Generator, transformation
from pytest_recsys_mt.requests import Request, World


@transformation(
    promise="What is like an item does not rise when the item and its like get the lowest rating.",
    changes={"history"},
)
def dislike_item(request: Request, rng: Generator, world: World) -> Request:
    scale = request.scale
    chosen = most_effective(request, world, lambda rating: scale.unit(rating.value))
    return rerated(request, alike(chosen.item.id, world), float(scale.low))
