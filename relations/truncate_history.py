"""A history shortened to its latest items."""

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


@usual(3)
def truncate_history(n: int) -> Transformation:
    """Keep only the latest `n` items of the history, at least one.

    It is not applicable if the history has at most `n` items.

    Source:
        This project; the metamorphic paper varies the length of the history in its
        randomness control (section 4.2, Table 3 of https://arxiv.org/abs/2411.12121).

    Example:
        >>> history = tuple(Rating(Item(name), 4) for name in "abcd")
        >>> request = Request("u", history, Scale(), candidates=None, k=2)
        >>> [rating.item.id for rating in truncate_history(2)(request, np.random.default_rng(0)).history]
        ['c', 'd']
    """
    latest = arguments.count("truncate_history", "n", n)

    def apply(request: Request, rng: Generator, world: World) -> Request:
        if len(request.history) <= latest:
            raise NotApplicable(f"the history has no more than {latest} items")
        return request.replace(history=request.history[-latest:])

    return built_in(
        ("truncate_history", latest),
        apply=apply,
        promise="The answer hardly changes when only the latest items of the history are known.",
        changes={"history"},
        origin=METAMORPHIC,
        window=latest,
    )
