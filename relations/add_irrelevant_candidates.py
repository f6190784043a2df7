"""More candidates, drawn from the rest of the catalogue."""

from pytest_recsys_mt.relations import arguments
from pytest_recsys_mt.relations.drawing import strays
from pytest_recsys_mt.relations.transformation import (
    Generator,
    Transformation,
    built_in,
    usual,
)
from pytest_recsys_mt.requests import Request, World
from pytest_recsys_mt.safety.errors import NotApplicable


@usual(2)
@usual(3)
def add_irrelevant_candidates(n: int) -> Transformation:
    """Add `n` random items of the catalogue, at least one, at random places among the
    candidates.

    The new items are neither candidates nor in the history. The original candidates
    keep their order in the request. The requested length stays the same, so new
    candidates may push original ones out of the answer. Only the order of original
    candidates that are in both answers must stay.

    It is not applicable without candidates, or if the catalogue has too few other
    items.

    Source:
        This project, after the independence of irrelevant alternatives in the theory of
        choice.

    Example:
        >>> films = (Item("a"), Item("b"))
        >>> request = Request("u", history=(), scale=Scale(), candidates=films, k=2)
        >>> world = World(catalogue=(Item("a"), Item("b"), Item("z")))
        >>> followup = add_irrelevant_candidates(1)(request, np.random.default_rng(2), world)
        >>> [item.id for item in followup.candidates]
        ['a', 'z', 'b']
    """
    more = arguments.count("add_irrelevant_candidates", "n", n)

    def apply(request: Request, rng: Generator, world: World) -> Request:
        if not request.candidates:
            raise NotApplicable("there are no candidates")
        candidates = list(request.candidates)
        for item in strays(more, request, rng, world):
            candidates.insert(int(rng.integers(len(candidates) + 1)), item)
        return request.replace(candidates=tuple(candidates))

    return built_in(
        ("add_irrelevant_candidates", more),
        apply=apply,
        promise="The original candidates keep their order when more candidates are offered.",
        changes={"candidates"},
    )
