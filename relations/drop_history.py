"""A history with a few items missing."""

from pytest_recsys_mt.relations import arguments
from pytest_recsys_mt.relations.transformation import (
    Generator,
    Transformation,
    built_in,
    usual,
)
from pytest_recsys_mt.requests import Request, World
from pytest_recsys_mt.safety.errors import NotApplicable


@usual(2)
def drop_history(n: int) -> Transformation:
    """Drop `n` random items of the history, at least one; the others stay in order.

    It is not applicable if no item would be left.

    Source:
        This project; the counterpart of `noisy_profile`.

    Example:
        >>> history = tuple(Rating(Item(name), 4) for name in "abcd")
        >>> request = Request("u", history, Scale(), candidates=None, k=2)
        >>> followup = drop_history(1)(request, np.random.default_rng(0))
        >>> [rating.item.id for rating in followup.history]
        ['b', 'c', 'd']
    """
    fewer = arguments.count("drop_history", "n", n)

    def apply(request: Request, rng: Generator, world: World) -> Request:
        size = len(request.history)
        if size <= fewer:
            raise NotApplicable(f"the history has no more than {fewer} items")
        kept = sorted(int(at) for at in rng.choice(size, size - fewer, replace=False))
        return request.replace(history=tuple(request.history[at] for at in kept))

    return built_in(
        ("drop_history", fewer),
        apply=apply,
        promise="The answer hardly changes when a few items of the history are missing.",
        changes={"history"},
    )
