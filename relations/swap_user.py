"""Another user altogether: another name, and the history of that other taste.

The history is that of `swap_history`, and the name that of `rename_user`.

It is applicable where `swap_history` is.

Example:
    >>> mine, theirs = (Rating(Item("a"), 5),), (Rating(Item("x"), 4),)
    >>> request = Request("user-1", mine, Scale(1, 5), candidates=None, k=1)
    >>> world = World(histories={"user-1": mine, "user-2": theirs})
    >>> followup = swap_user(request, np.random.default_rng(0), world)
    >>> [rating.item.id for rating in followup.history], followup.user == request.user
    (['x'], False)
"""

from pytest_recsys_mt.relations.rename_user import rename_user
from pytest_recsys_mt.relations.swap_history import swap_history
from pytest_recsys_mt.relations.transformation import Generator, transformation
from pytest_recsys_mt.requests import Request, World


@transformation(
    promise="The answer changes when another user asks.",
    promises_change=True,
    changes={"history", "user"},
)
def swap_user(request: Request, rng: Generator, world: World) -> Request:
    return rename_user(swap_history(request, rng, world), rng, world)
