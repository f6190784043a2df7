"""The same candidates in another order.

It is not applicable if there are no candidates, or too few for another order.

Source:
    Position bias of language models as rankers, https://arxiv.org/abs/2305.08845.

Example:
    >>> films = (Item("a"), Item("b"), Item("c"))
    >>> request = Request("u", history=(), scale=Scale(), candidates=films, k=2)
    >>> followup = shuffle_candidates(request, np.random.default_rng(0))
    >>> [item.id for item in followup.candidates]
    ['c', 'a', 'b']
"""

from pytest_recsys_mt.relations.drawing import new_order
from pytest_recsys_mt.relations.sources import ZERO_SHOT_RANKERS
from pytest_recsys_mt.relations.transformation import Generator, transformation
from pytest_recsys_mt.requests import Request, World
from pytest_recsys_mt.safety.errors import NotApplicable


@transformation(
    promise="The ranking stays the same when the candidates are offered in another order.",
    changes={"candidates"},
    origin=ZERO_SHOT_RANKERS,
)
def shuffle_candidates(request: Request, rng: Generator, world: World) -> Request:
    if request.candidates is None:
        raise NotApplicable("there are no candidates")
    ids = tuple(item.id for item in request.candidates)
    if len(set(ids)) < 2:
        raise NotApplicable("there are fewer than two candidates")
    order = new_order(ids, rng)
    return request.replace(candidates=tuple(request.candidates[at] for at in order))
