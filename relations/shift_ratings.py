"""MR2 of the metamorphic paper: the same ratings on a scale that starts elsewhere."""

from pytest_recsys_mt.relations import arguments
from pytest_recsys_mt.relations.histories import revalued
from pytest_recsys_mt.relations.sources import METAMORPHIC
from pytest_recsys_mt.relations.transformation import (
    Generator,
    Transformation,
    built_in,
    usual,
)
from pytest_recsys_mt.requests import Request, Scale, World
from pytest_recsys_mt.safety.errors import RelationError


@usual(1)
def shift_ratings(offset: float, *, paper: bool = False) -> Transformation:
    """Add `offset`, any number except 0, to every rating and to both ends of the scale.

    `paper` has no effect, because the paper also moves both ends. It is accepted so
    that all of the paper's relations can be called in the same way.

    It is not applicable to an empty history.

    Source:
        Rating shifting, MR2 in Table 1 of https://arxiv.org/abs/2411.12121.

    Example:
        >>> click = Rating(Item("c", "Click", 2006), 2.0)
        >>> request = Request("509", (click,), Scale(1, 5), candidates=None, k=5)
        >>> followup = shift_ratings(1)(request, np.random.default_rng(0))
        >>> followup.history[0].value, followup.scale
        (3.0, Scale(low=2.0, high=6.0))
    """
    by = arguments.number("shift_ratings", "offset", offset)
    if by == 0:
        raise RelationError(
            "shift_ratings: offset must not be 0 (it would change nothing)",
        )

    def apply(request: Request, rng: Generator, world: World) -> Request:
        moved = revalued(request, lambda rating: rating.value + by)
        return moved.replace(
            scale=Scale(request.scale.low + by, request.scale.high + by),
        )

    return built_in(
        ("shift_ratings", by),
        apply=apply,
        promise="The ranking stays the same when all ratings and their scale are shifted.",
        changes={"history", "scale"},
        origin=METAMORPHIC,
    )
