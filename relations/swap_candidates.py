"""Other candidates: as many items of the catalogue, none of them offered before or in the history.

Source:
    This project.

Example:
    >>> import numpy as np
    >>> from pytest_recsys_mt.requests import Item, Request, Scale, World
    >>> request = Request("u", history=(), scale=Scale(), candidates=(Item("a"),), k=1)
    >>> world = World(catalogue=(Item("a"), Item("z")))
    >>> followup = swap_candidates(request, np.random.default_rng(0), world)
    >>> [item.id for item in followup.candidates]
    ['z']

Raises:
    NotApplicable: If there are no candidates, or the catalogue has too few other items.
"""

from pytest_recsys_mt.errors import NotApplicable
from pytest_recsys_mt.relations.drawing import strays
from pytest_recsys_mt.relations.sources import HOUSE
from pytest_recsys_mt.relations.transformation import Generator, Transformation
from pytest_recsys_mt.requests import Request, World


def _apply(request: Request, rng: Generator, world: World) -> Request:
    if not request.candidates:
        raise NotApplicable("there are no candidates")
    others = strays(len(request.candidates), request, rng, world)
    return request.replace(candidates=tuple(others))


swap_candidates = Transformation(
    name="swap_candidates",
    apply=_apply,
    promise="The answer changes when other candidates are offered.",
    promises_change=True,
    changes=frozenset({"candidates"}),
    needs=frozenset({"candidates"}),
    origin=HOUSE,
)
