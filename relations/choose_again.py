"""One item of the history moved to its end, as if the user had just chosen it.

The item is not the latest, and the one with the largest effect: the product of how many
items follow it and of the number of its neighbours among the offered items is the
largest. If the history has times, the item gets the time of the latest, so that the
history stays in order. `pytest_recsys_mt.oracles.neighbours_raised` judges the change
of the neighbours.

This is for recommenders that promise recency (`promises = ("recency",)`): for any
other, the order of the history must change nothing (`reorder_history`).

It is not applicable if the history is empty or has one item, or none before the latest
has a neighbour among the offered ones.

Source:
    This project; sequential recommenders, such as https://arxiv.org/abs/1511.06939,
    weigh the latest items most.

Example:
    >>> history = tuple(Rating(Item(name), 4.0, at) for at, name in enumerate(("a", "b", "c")))
    >>> request = Request("u", history, Scale(1, 5), candidates=(Item("x"), Item("y")), k=2)
    >>> world = World(neighbours={"b": ("x", "y")})
    >>> followup = choose_again(request, np.random.default_rng(0), world)
    >>> [(rating.item.id, rating.timestamp) for rating in followup.history]
    [('a', 0), ('c', 2), ('b', 2)]
"""

from pytest_recsys_mt.relations.histories import most_effective
from pytest_recsys_mt.relations.transformation import Generator, transformation
from pytest_recsys_mt.requests import Rating, Request, World


@transformation(
    promise="What is like an item rises when the item is the latest of the history.",
    promises_change=True,
    changes={"history"},
    promised="recency",
)
def choose_again(request: Request, rng: Generator, world: World) -> Request:
    # Of an item that is there twice, the later place counts.
    place = {rating.item.id: at for at, rating in enumerate(request.history)}
    last = len(request.history) - 1
    chosen = most_effective(
        request,
        world,
        lambda rating: last - place[rating.item.id],
    ).item.id
    again = request.history[place[chosen]]
    latest = request.history[-1].timestamp
    moment = again.timestamp if latest is None else latest
    others = tuple(rating for rating in request.history if rating.item.id != chosen)
    return request.replace(history=(*others, Rating(again.item, again.value, moment)))
