"""The same history in another order.

The items move but the timestamps stay, so the follow-up is again oldest first. This
relation is for recommenders that read the history as a set. A sequential recommender
may rightly break it, and is not asked if it says so: ``promises = ("order",)``, or
``("recency",)``.

It is not applicable if the history is too short for another order.

Source:
    This project; language models are reported to hardly notice the order of a history,
    https://arxiv.org/abs/2305.08845.

Example:
    >>> history = (Rating(Item("a"), 5, 10), Rating(Item("b"), 2, 20), Rating(Item("c"), 4, 30))
    >>> request = Request("u", history, Scale(), candidates=None, k=2)
    >>> followup = reorder_history(request, np.random.default_rng(0))
    >>> [(rating.item.id, rating.value, rating.timestamp) for rating in followup.history]
    [('c', 4, 10), ('a', 5, 20), ('b', 2, 30)]
"""

import dataclasses

from pytest_recsys_mt.relations.drawing import new_order
from pytest_recsys_mt.relations.transformation import Generator, transformation
from pytest_recsys_mt.requests import Request, World
from pytest_recsys_mt.safety.errors import NotApplicable


@transformation(
    promise="The ranking stays the same when the same history is given in another order.",
    changes={"history"},
    unless=("order", "recency"),
)
def reorder_history(request: Request, rng: Generator, world: World) -> Request:
    history = request.history
    seen = tuple((rating.item.id, rating.value) for rating in history)
    if len(set(seen)) < 2:
        raise NotApplicable("the history has fewer than two different ratings")
    order = new_order(seen, rng)
    return request.replace(
        history=tuple(
            dataclasses.replace(history[at], timestamp=slot.timestamp)
            for at, slot in zip(order, history, strict=True)
        ),
    )
