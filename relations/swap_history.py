"""Another user's history, for the same candidates.

The donor is the one of `DONORS` randomly drawn users whose history overlaps least with the user's
own. Of the donor's history the latest items are taken, as many as the user's own history has and at
least half as many; items that are among the candidates are left out first, because recommenders do not recommend what
is in the history, which would change the answer without any taste being read.

Promise:
    The answer changes: another taste gets other recommendations. A recommender that gives everybody
    the same list breaks this relation and keeps almost every other one.

Source:
    This project.

Example:
    >>> import numpy as np
    >>> from pytest_recsys_mt.requests import Item, Rating, Request, Scale, World
    >>> mine, theirs = (Rating(Item("a"), 5),), (Rating(Item("x"), 4), Rating(Item("y"), 1))
    >>> request = Request("me", mine, Scale(1, 5), candidates=(Item("y"), Item("z")), k=1)
    >>> world = World(histories={"me": mine, "you": theirs})
    >>> followup = swap_history(request, np.random.default_rng(0), world)
    >>> [rating.item.id for rating in followup.history]
    ['x']

Raises:
    NotApplicable: If the history is empty, or no other user's history is known, long enough and
        different enough.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_recsys_mt.errors import NotApplicable
from pytest_recsys_mt.relations.sources import HOUSE
from pytest_recsys_mt.relations.transformation import Transformation
from pytest_recsys_mt.requests import Rating, Request, World

if TYPE_CHECKING:
    from numpy.random import Generator

DONORS = 16
"""How many users are looked at; more cost time and find hardly less overlap."""

MOST_OVERLAP = 0.5
"""A donor shares less than this part of the items with the user's own history."""


def _apply(request: Request, rng: Generator, world: World) -> Request:
    if not request.history:
        raise NotApplicable("the history is empty")
    own = {rating.item.id for rating in request.history}
    offered = {item.id for item in request.candidates or ()}
    best: tuple[Rating, ...] = ()
    least = MOST_OVERLAP
    for donor in _donors(request, rng, world):
        history = tuple(rating for rating in donor if rating.item.id not in offered)
        history = history[-len(request.history) :]
        if 2 * len(history) < len(request.history) or not _on_scale(history, request):
            continue
        overlap = sum(rating.item.id in own for rating in history) / len(history)
        if overlap < least:
            best, least = history, overlap
    if not best:
        raise NotApplicable("no other user has a history that is long and different enough")
    return request.replace(history=best)


def _donors(request: Request, rng: Generator, world: World) -> list[tuple[Rating, ...]]:
    names = sorted(world.histories)
    order = rng.permutation(len(names))
    others = [names[at] for at in order if names[at] != request.user]
    return [world.histories[name] for name in others[:DONORS]]


def _on_scale(history: tuple[Rating, ...], request: Request) -> bool:
    """Whether the ratings can be read on the request's scale, which a relation may have moved."""
    return all(request.scale.low <= rating.value <= request.scale.high for rating in history)


swap_history = Transformation(
    name="swap_history",
    apply=_apply,
    promise="The answer changes when the history is another user's.",
    needs=frozenset({"ratings"}),
    origin=HOUSE,
)
