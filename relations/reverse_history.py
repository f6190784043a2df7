"""The same history in the opposite order.

The items move but the timestamps stay, so the follow-up is again oldest first. This
relation is for recommenders that say that the order counts, ``promises = ("order",)``:
sequence models, such as `gru4rec` and `sasrec`. For any other the order of the history
must change nothing (`reorder_history`).

It is not applicable if the history reads the same in both directions.

Source:
    This project; sequence models, such as https://arxiv.org/abs/1808.09781, predict the
    next item from the order of the earlier ones.

Example:
    >>> history = (Rating(Item("a"), 5, 10), Rating(Item("b"), 2, 20), Rating(Item("c"), 4, 30))
    >>> request = Request("u", history, Scale(), candidates=None, k=2)
    >>> followup = reverse_history(request, np.random.default_rng(0))
    >>> [(rating.item.id, rating.value, rating.timestamp) for rating in followup.history]
    [('c', 4, 10), ('b', 2, 20), ('a', 5, 30)]
"""

import dataclasses

from pytest_recsys_mt.relations.transformation import Generator, transformation
from pytest_recsys_mt.requests import Request, World
from pytest_recsys_mt.safety.errors import NotApplicable


@transformation(
    promise="The ranking changes when the same history is given in the opposite order.",
    promises_change=True,
    changes={"history"},
    promised="order",
)
def reverse_history(request: Request, rng: Generator, world: World) -> Request:
    history = request.history
    chosen = [(rating.item.id, rating.value) for rating in history]
    if chosen == chosen[::-1]:
        raise NotApplicable("the history reads the same in both directions")
    return request.replace(
        history=tuple(
            dataclasses.replace(rating, timestamp=slot.timestamp)
            for rating, slot in zip(reversed(history), history, strict=True)
        ),
    )
