"""A history without one item and its near-duplicates.

The item is the one with the largest effect: the product of its rating and of the number
of its neighbours among the offered items is the largest. Its neighbours in the history
go too, for a recommender that still has those knows nearly the same. One other item
stays at least. `pytest_recsys_mt.oracles.neighbours_lowered` judges the change of the
neighbours.

It is not applicable if the history is empty, none of its items has a neighbour among
the offered ones, or no other item would stay.

Source:
    This project; a choice that a user takes back must lose its effect, as in machine
    unlearning.

Example:
    >>> history = tuple(Rating(Item(name), 4.0) for name in ("a", "b", "c"))
    >>> request = Request("u", history, Scale(1, 5), candidates=(Item("x"), Item("y")), k=2)
    >>> world = World(neighbours={"b": ("x", "a", "y")})
    >>> followup = forget_item(request, np.random.default_rng(0), world)
    >>> [rating.item.id for rating in followup.history]
    ['c']
"""

from pytest_recsys_mt.relations.histories import alike, most_effective
from pytest_recsys_mt.relations.transformation import Generator, transformation
from pytest_recsys_mt.requests import Request, World
from pytest_recsys_mt.safety.errors import NotApplicable


@transformation(
    promise="What is like an item falls when the item and its like are taken out of the history.",
    promises_change=True,
    changes={"history"},
)
def forget_item(request: Request, rng: Generator, world: World) -> Request:
    chosen = most_effective(
        request, world, lambda rating: request.scale.unit(rating.value)
    )
    forgotten = alike(chosen.item.id, world)
    kept = tuple(
        rating for rating in request.history if rating.item.id not in forgotten
    )
    if not kept:
        raise NotApplicable("no other item would stay in the history")
    return request.replace(history=kept)
