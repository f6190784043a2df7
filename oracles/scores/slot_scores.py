"""Scores for the slots of an answer and for its format."""

from collections.abc import Callable, Sequence

from pytest_recsys_mt.answers import Asked, Context
from pytest_recsys_mt.errors import OracleError
from pytest_recsys_mt.oracles.scores.list_scores import unit
from pytest_recsys_mt.oracles.scores.metrics import places
from pytest_recsys_mt.oracles.scores.popularity_scores import Of, Scored, Span
from pytest_recsys_mt.oracles.scores.slots import (
    Slot,
    offer_of,
    slot_depth,
    slots_of,
)
from pytest_recsys_mt.requests import Recommendation


def slot_share(share: Callable[[Sequence[Slot], int], float]) -> Callable[[str], tuple[Of, Span]]:
    """The maker of a share of slots: the first k for ``name@k``, all requested ones for ``name``, all for ``name@full``."""

    def make(name: str) -> tuple[Of, Span]:
        depth = slot_depth(name)

        def of(answer: Recommendation, asked: Asked, context: Context) -> Scored:
            slots = slots_of(answer, asked, context)
            counted = len(slots) if depth == "full" else places(name, asked, depth)
            return (share(slots, counted) if counted else None), 0

        return of, unit

    return make


def of_format(
    fits: Callable[[Recommendation, Asked, Context, int], bool], *, unread: bool = False
) -> Callable[[str], tuple[Of, Span, bool, bool]]:
    """The maker of a score that is 1 or 0 per answer, without a depth; an empty answer has a format too."""

    def make(name: str) -> tuple[Of, Span, bool, bool]:
        if "@" in name:
            raise OracleError(
                f"{name.partition('@')[0]} judges the whole answer and has no depth, got {name!r}"
            )

        def of(answer: Recommendation, asked: Asked, context: Context) -> Scored:
            demanded = min(asked.request.k, len(offer_of(asked, context)))
            return float(fits(answer, asked, context, demanded)), 0

        return of, unit, True, unread

    return make
