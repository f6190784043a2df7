"""The whole history, given twice.

The copy comes first. Its timestamps are moved back, so that it ends before the original
starts. So the follow-up is still oldest first, and the latest ratings keep their
timestamps.

It is not applicable if the history is empty.

Example:
    >>> history = (Rating(Item("a"), 5, 100), Rating(Item("b"), 2, 110))
    >>> request = Request("u", history, Scale(), candidates=None, k=2)
    >>> followup = duplicate_history(request, np.random.default_rng(0))
    >>> [(rating.item.id, rating.timestamp) for rating in followup.history]
    [('a', 89), ('b', 99), ('a', 100), ('b', 110)]
"""

from pytest_recsys_mt.relations.histories import later
from pytest_recsys_mt.relations.transformation import Generator, transformation
from pytest_recsys_mt.requests import Request, World
from pytest_recsys_mt.safety.errors import NotApplicable


@transformation(
    promise="The ranking stays the same when the whole history is given twice.",
    changes={"history"},
)
def duplicate_history(request: Request, rng: Generator, world: World) -> Request:
    if not request.history:
        raise NotApplicable("the history is empty")
    moments = [
        rating.timestamp for rating in request.history if rating.timestamp is not None
    ]
    back = max(moments) - min(moments) + 1 if moments else 0
    return request.replace(history=later(request.history, -back) + request.history)
