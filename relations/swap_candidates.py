"""Other candidates: as many items of the catalogue, none of them offered before or in
the history.

It is not applicable if there are no candidates, or the catalogue has too few other
items.

Example:
    >>> request = Request("u", history=(), scale=Scale(), candidates=(Item("a"),), k=1)
    >>> world = World(catalogue=(Item("a"), Item("z")))
    >>> followup = swap_candidates(request, np.random.default_rng(0), world)
    >>> [item.id for item in followup.candidates]
    ['z']
"""

from pytest_recsys_mt.relations.drawing import strays
from pytest_recsys_mt.relations.transformation import Generator, transformation
from pytest_recsys_mt.requests import Request, World
from pytest_recsys_mt.safety.errors import NotApplicable


@transformation(
    promise="The answer changes when other candidates are offered.",
    promises_change=True,
    changes={"candidates"},
)
def swap_candidates(request: Request, rng: Generator, world: World) -> Request:
    if not request.candidates:
        raise NotApplicable("there are no candidates")
    others = strays(len(request.candidates), request, rng, world)
    return request.replace(candidates=tuple(others))
