"""MR1 of the metamorphic paper: the same ratings on a larger scale."""

from pytest_recsys_mt.relations import arguments
from pytest_recsys_mt.relations.histories import revalued
from pytest_recsys_mt.relations.sources import METAMORPHIC
from pytest_recsys_mt.relations.transformation import (
    Generator,
    Transformation,
    call_name,
    usual,
)
from pytest_recsys_mt.requests import Request, Scale, World
from pytest_recsys_mt.safety.errors import NotApplicable, RelationError


@usual(2)
@usual(2, paper=True)
def scale_ratings(factor: float, *, paper: bool = False) -> Transformation:
    """Multiply every rating and both ends of the scale by one `factor`, above 0 and not
    1.

    With `paper`, the lower end of the scale stays, as printed, and the factor is above
    1, because a smaller one would move ratings below that end.

    It is not applicable to an empty history, or, with `paper`, if the lower end is
    negative (ratings would fall below it).

    Source:
        Rating multiplication, MR1 in Table 1 of https://arxiv.org/abs/2411.12121. The
        paper multiplies the ratings and the upper end, but the lower end stays 1. So
        its follow-up says something slightly different: a 1 of 5, the worst rating,
        becomes a 2 on a scale that starts at 1.

    Example:
        >>> click = Rating(Item("c", "Click", 2006), 2.0)
        >>> request = Request("509", (click,), Scale(1, 5), candidates=None, k=5)
        >>> followup = scale_ratings(2)(request, np.random.default_rng(0))
        >>> followup.history[0].value, followup.scale
        (4.0, Scale(low=2.0, high=10.0))
        >>> scale_ratings(2, paper=True)(request, np.random.default_rng(0)).scale
        Scale(low=1, high=10.0)
    """
    by = arguments.number("scale_ratings", "factor", factor)
    if by <= 0 or by == 1:
        raise RelationError(
            f"scale_ratings: factor must be above 0 and not 1 (1 would change nothing), "
            f"got {factor!r}",
        )
    if paper and by < 1:
        raise RelationError(
            f"scale_ratings: with paper=True the lower end of the scale stays, so a factor below 1 "
            f"moves ratings off the scale; use a factor above 1, got {factor!r}",
        )

    def apply(request: Request, rng: Generator, world: World) -> Request:
        moved = revalued(request, lambda rating: rating.value * by)
        low, high = request.scale.low, request.scale.high
        if paper and low < 0:
            raise NotApplicable(
                "the scale starts below 0, so ratings would fall off it",
            )
        return moved.replace(scale=Scale(low if paper else low * by, high * by))

    return Transformation(
        name=call_name("scale_ratings", by, paper=paper),
        apply=apply,
        promise="The ranking stays the same when all ratings and their scale are multiplied.",
        changes=frozenset({"history", "scale"}),
        needs=frozenset({"ratings"}),
        origin=METAMORPHIC,
    )
