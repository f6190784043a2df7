"""The same request, sent in one batch with those of all others, in another order.

The request stays unchanged. `Transformation.asked` makes it a relation: all calls of
the follow-up are sent in one batch, those of the source in the smaller batches in which
a run sends them. With each goes a request with a longer history
(`Transformation.before`), so the histories of the batch differ in length, as a server's
do; those of the source are mostly of one length. So answers that are swapped within a
batch, a batch that is cut, padding that counts, and data that are kept from one request
to the next show.

Example:
    >>> mine, theirs = (Rating(Item("a"), 3.0),), (Rating(Item("b"), 5.0),)
    >>> request = Request("u", mine, Scale(), candidates=None, k=5)
    >>> world = World(histories={"u": mine, "v": theirs})
    >>> ask_in_one_batch(request, np.random.default_rng(0), world) == request
    True
    >>> ask_in_one_batch.asked
    'in one batch'
    >>> longer = ask_in_one_batch.before(request, np.random.default_rng(0), world)
    >>> [rating.item.id for rating in longer.history]
    ['b', 'a']
"""

from pytest_recsys_mt.relations.transformation import Generator, built_in
from pytest_recsys_mt.requests import Request, World


def _longer(request: Request, rng: Generator, world: World) -> Request:
    """The request with the ratings of another user before its own."""
    scale = request.scale
    taken = {rating.item.id for rating in request.history}
    taken |= {item.id for item in request.candidates or ()}
    others = sorted(world.histories.keys() - {request.user})
    if not others:
        return request
    theirs = world.histories[others[int(rng.integers(len(others)))]]
    added = [
        rating
        for rating in theirs
        if rating.item.id not in taken and scale.low <= rating.value <= scale.high
    ]
    return request.replace(history=(*added, *request.history))


ask_in_one_batch = built_in(
    "ask_in_one_batch",
    promise="A request gets the same answer in a large batch, at any place in it, with longer requests too.",
    may_keep=True,
    asked="in one batch",
    before=_longer,
)
