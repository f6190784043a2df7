"""A list of another length."""

from pytest_recsys_mt.relations import arguments
from pytest_recsys_mt.relations.sources import METAMORPHIC
from pytest_recsys_mt.relations.transformation import (
    Generator,
    Transformation,
    built_in,
    usual,
)
from pytest_recsys_mt.requests import Request, World
from pytest_recsys_mt.safety.errors import NotApplicable


@usual(2)
@usual(1)
def ask_k(k: int) -> Transformation:
    """Ask for a list of length `k`, at least 1.

    It is not applicable if the request already asks for that length, or if there are
    fewer items to choose from.

    Source:
        The randomness control of the metamorphic paper, which varies k (section 4.2,
        Table 2 of https://arxiv.org/abs/2411.12121).

    Example:
        >>> request = Request("u", history=(), scale=Scale(), candidates=None, k=5)
        >>> ask_k(20)(request, np.random.default_rng(0)).k
        20
    """
    length = arguments.count("ask_k", "k", k)

    def apply(request: Request, rng: Generator, world: World) -> Request:
        if request.k == length:
            raise NotApplicable("the request already asks for that length")
        require_choice(request, length, world)
        return request.replace(k=length)

    return built_in(
        ("ask_k", length),
        apply=apply,
        promise="Lists of two lengths agree over the length of the shorter one.",
        changes={"k"},
        origin=METAMORPHIC,
    )


def require_choice(request: Request, k: int, world: World) -> None:
    """Raise `NotApplicable` if `request` is known to offer fewer than `k` items."""
    if request.candidates is not None:
        if len({item.id for item in request.candidates}) < k:
            raise NotApplicable(
                "there are fewer candidates than the list would have places",
            )
    elif world.catalogue and len(world.catalogue) - len(request.known) < k:
        raise NotApplicable(
            "the catalogue has fewer items than the list would have places",
        )
