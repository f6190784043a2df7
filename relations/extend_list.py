"""A longer list of the same recommendations."""

from pytest_recsys_mt.relations import arguments
from pytest_recsys_mt.relations.ask_k import require_choice
from pytest_recsys_mt.relations.transformation import (
    Generator,
    Transformation,
    built_in,
    usual,
)
from pytest_recsys_mt.requests import Request, World


@usual(2)
def extend_list(n: int) -> Transformation:
    """Ask for `n` more items, at least one.

    It is not applicable if there are fewer items to choose from.

    Example:
        >>> request = Request("u", history=(), scale=Scale(), candidates=None, k=5)
        >>> extend_list(5)(request, np.random.default_rng(0)).k
        10
    """
    more = arguments.count("extend_list", "n", n)

    def apply(request: Request, rng: Generator, world: World) -> Request:
        require_choice(request, request.k + more, world)
        return request.replace(k=request.k + more)

    return built_in(
        ("extend_list", more),
        apply=apply,
        promise="The start of the list stays the same when the request asks for a longer list.",
        changes={"k"},
    )
