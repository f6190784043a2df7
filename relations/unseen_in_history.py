"""The history contains an item that the training data never named.

It is drawn from no catalogue: its id is new. It stands before the latest item, with its
time, and has the middle of the scale as its rating. The recommender can know nothing of
it, so it says nothing.

It is not applicable if the history is empty.

Source:
    Michiels et al. (2024), https://doi.org/10.1145/3591109, on unknown items.

Example:
    >>> history = (Rating(Item("m1"), 5, 100), Rating(Item("m2"), 2, 110))
    >>> request = Request("u", history, Scale(), candidates=None, k=2)
    >>> followup = unseen_in_history(request, np.random.default_rng(0))
    >>> [(rating.item.id, rating.value, rating.timestamp) for rating in followup.history]
    [('m1', 5, 100), ('m3', 3.0, 110), ('m2', 2, 110)]
"""

from functools import lru_cache

from pytest_recsys_mt.relations.invented import new_ids
from pytest_recsys_mt.relations.sources import CORRECTNESS
from pytest_recsys_mt.relations.transformation import Generator, transformation
from pytest_recsys_mt.requests import Item, Rating, Request, World
from pytest_recsys_mt.safety.errors import NotApplicable


@lru_cache(maxsize=16)  # almost all requests of a run show items of one catalogue
def _new_id(known: frozenset[str]) -> str:
    return new_ids(known, 1)[0]


@transformation(
    promise="An item in the history that the training data never named hardly changes the answer.",
    changes={"history"},
    needs={"ratings", "fit"},
    origin=CORRECTNESS,
)
def unseen_in_history(request: Request, rng: Generator, world: World) -> Request:
    if not request.history:
        raise NotApplicable("the history is empty")
    known = request.known.union(item.id for item in request.candidates or ())
    name = _new_id(world.ids if known <= world.ids else world.ids | known)
    *earlier, latest = request.history
    middle = (request.scale.low + request.scale.high) / 2
    unseen = Rating(Item(name, f"Unseen {name}"), middle, latest.timestamp)
    return request.replace(history=(*earlier, unseen, latest))
