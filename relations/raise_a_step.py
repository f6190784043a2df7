"""A rating one step higher for one item of the history.

A step is a quarter of the scale, as from 1 to 2 of 5. The item is chosen as by
`raise_rating`, which goes to the top of the scale. After `rate_lowest` all other
ratings are the lowest, so a rating that counts with the wrong sign, or scores that are
sorted as text where they are negative, show here.

It is not applicable if the history is empty, all ratings are the highest, or none of
the other items has a neighbour among the offered ones.

Source:
    This project; monotonicity of a recommender in its user's ratings.

Example:
    >>> history = (Rating(Item("a"), 1.0), Rating(Item("b"), 1.0))
    >>> request = Request("u", history, Scale(1, 5), candidates=(Item("x"), Item("y")), k=2)
    >>> world = World(neighbours={"a": ("x",), "b": ("y", "x")})
    >>> followup = raise_a_step(request, np.random.default_rng(0), world)
    >>> [rating.value for rating in followup.history]
    [1.0, 2.0]
"""

from pytest_recsys_mt.relations.histories import most_effective, rerated
from pytest_recsys_mt.relations.transformation import Generator, transformation
from pytest_recsys_mt.requests import Request, World

_STEPS = 4  # of a scale


@transformation(
    promise="What is like an item does not fall when its rating rises by one step.",
    changes={"history"},
)
def raise_a_step(request: Request, rng: Generator, world: World) -> Request:
    scale = request.scale
    chosen = most_effective(request, world, lambda rating: 1 - scale.unit(rating.value))
    higher = chosen.value + (scale.high - scale.low) / _STEPS
    return rerated(request, {chosen.item.id}, float(min(scale.high, higher)))
