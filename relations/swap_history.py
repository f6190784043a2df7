"""Another user's history, for the same candidates.

The donor is the one of `DONORS` randomly drawn users whose history overlaps least with
the user's own. The follow-up has the latest items of the donor's history: as many as
the user's own history has, or fewer, but at least half as many. Donor items among the
candidates are left out first, because recommenders do not recommend items of the
history. That alone would change the answer, even if the recommender ignored the taste.

It is not applicable if the history is empty, or no known history of another user is
long enough and different enough.

Example:
    >>> mine, theirs = (Rating(Item("a"), 5),), (Rating(Item("x"), 4), Rating(Item("y"), 1))
    >>> request = Request("me", mine, Scale(1, 5), candidates=(Item("y"), Item("z")), k=1)
    >>> world = World(histories={"me": mine, "you": theirs})
    >>> followup = swap_history(request, np.random.default_rng(0), world)
    >>> [rating.item.id for rating in followup.history]
    ['x']
"""

from itertools import islice

from pytest_recsys_mt.relations.transformation import Generator, transformation
from pytest_recsys_mt.requests import Rating, Request, World
from pytest_recsys_mt.safety.errors import NotApplicable

DONORS = 16
"""How many users are considered; more would cost time and hardly reduce the overlap."""

MOST_OVERLAP = 0.5
"""A donor's history must share less than this part of its items with the user's own."""


@transformation(
    promise="The answer changes when the history is another user's.",
    promises_change=True,
    changes={"history"},
)
def swap_history(request: Request, rng: Generator, world: World) -> Request:
    if not request.history:
        raise NotApplicable("the history is empty")
    scale = request.scale
    own = {rating.item.id for rating in request.history}
    offered = {item.id for item in request.candidates or ()}
    names = sorted(world.histories)
    drawn = (names[at] for at in rng.permutation(len(names)))
    others = (name for name in drawn if name != request.user)
    best: tuple[Rating, ...] = ()
    least = MOST_OVERLAP
    for donor in islice(others, DONORS):
        latest = (
            rating
            for rating in reversed(world.histories[donor])
            if rating.item.id not in offered
        )
        history = tuple(islice(latest, len(request.history)))[::-1]
        # The scale may be one that another relation has changed.
        values = [rating.value for rating in history]
        on_scale = not values or scale.low <= min(values) <= max(values) <= scale.high
        if 2 * len(history) < len(request.history) or not on_scale:
            continue
        overlap = sum([rating.item.id in own for rating in history]) / len(history)
        if overlap < least:
            best, least = history, overlap
        if not least:  # no further donor can share fewer
            break
    if not best:
        raise NotApplicable(
            "no other user has a history that is long and different enough",
        )
    return request.replace(history=best)
