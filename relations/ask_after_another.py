"""The same request, sent right after one of another user.

The request stays unchanged. `Transformation.before` makes it a relation: right before
each call another call is sent, for a user with another history, on another rating
scale, for one item of the same candidates. Each call is sent by itself, so compare with
`ask_alone`.

Example:
    >>> mine, theirs = (Rating(Item("a"), 3.0),), (Rating(Item("b"), 5.0),)
    >>> request = Request("u", mine, Scale(), candidates=None, k=5)
    >>> world = World(histories={"u": mine, "v": theirs})
    >>> rng = np.random.default_rng(0)
    >>> ask_after_another(request, rng, world) == request
    True
    >>> before = ask_after_another.before(request, rng, world)
    >>> before.k, [(rating.item.id, rating.value) for rating in before.history]
    (1, [('b', 10.0)])
"""

from pytest_recsys_mt.relations.rename_user import rename_user
from pytest_recsys_mt.relations.scale_ratings import scale_ratings
from pytest_recsys_mt.relations.swap_history import swap_history
from pytest_recsys_mt.relations.transformation import Generator, built_in
from pytest_recsys_mt.requests import Request, World

_OTHER = (swap_history, scale_ratings(2), rename_user)


def _apply(request: Request, rng: Generator, world: World) -> Request:
    _before(request, rng, world)
    return request


def _before(request: Request, rng: Generator, world: World) -> Request:
    for change in _OTHER:
        request = change(request, rng, world)
    return request.replace(k=1)


ask_after_another = built_in(
    "ask_after_another",
    apply=_apply,
    promise="A request gets the same answer whatever request was sent right before it.",
    needs={"ratings"},
    may_keep=True,
    asked="alone",
    before=_before,
)
