"""The held-out item at a chosen place among the candidates."""

from pytest_recsys_mt.relations import arguments
from pytest_recsys_mt.relations.sources import MULTIDIMENSIONAL
from pytest_recsys_mt.relations.transformation import (
    Generator,
    Transformation,
    built_in,
    usual,
)
from pytest_recsys_mt.requests import Request, World
from pytest_recsys_mt.safety.errors import NotApplicable


@usual(6)
@usual(1)
@usual(20)
def place_positive(position: int) -> Transformation:
    """Move the held-out item to `position`, counted from 1, among the candidates; all
    others keep their order.

    Nothing else in the prompt changes, so only the place can change the accuracy. A
    request whose item already stands there is sent unchanged. If such users were left
    out, each place would be tested on different users.

    It is not applicable without candidates, with fewer candidates than `position`, or
    unless exactly one candidate is held out.

    Source:
        The candidate position of section 3.4.4 of https://arxiv.org/abs/2411.00331. For
        each place, its released code also draws another template and another order of
        the other candidates.

    Example:
        >>> request = Request("u", (), Scale(), candidates=tuple(map(Item, "abcd")), k=2)
        >>> world = World(relevant={"u": frozenset("c")})
        >>> followup = place_positive(1)(request, np.random.default_rng(0), world)
        >>> [item.id for item in followup.candidates]
        ['c', 'a', 'b', 'd']
    """
    place = arguments.count("place_positive", "position", position)

    def apply(request: Request, rng: Generator, world: World) -> Request:
        if request.candidates is None:
            raise NotApplicable("there are no candidates")
        relevant = world.relevant.get(request.user, frozenset())
        positives = [item for item in request.candidates if item.id in relevant]
        if len(positives) != 1:
            raise NotApplicable(
                f"{len(positives) or 'none'} of the candidates are held out",
            )
        if place > len(request.candidates):
            raise NotApplicable(f"there are no {place} candidates")
        others = [item for item in request.candidates if item.id not in relevant]
        moved = (*others[: place - 1], positives[0], *others[place - 1 :])
        return request.replace(candidates=moved)

    return built_in(
        ("place_positive", place),
        apply=apply,
        promise="The held-out item is found equally often at every place among the candidates.",
        changes={"candidates"},
        origin=MULTIDIMENSIONAL,
        may_keep=True,
    )
