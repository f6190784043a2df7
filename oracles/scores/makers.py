"""Makers of scores of one answer: of its list, of its slots and of its format."""

from collections.abc import Callable, Sequence

from pytest_recsys_mt.oracles.scores.metrics import depth_of, leading, places
from pytest_recsys_mt.oracles.scores.popularity_scores import Of, Scored, Span
from pytest_recsys_mt.oracles.scores.slots import Slot, slot_depth, slots_of
from pytest_recsys_mt.requests import Recommendation
from pytest_recsys_mt.safety.errors import OracleError
from pytest_recsys_mt.verdict.answers import Asked, Context, offer_of

Listed = Callable[[Sequence[str], Asked, Context, int], Scored]
"""From the items in the counted places, and the number of these places, to a score."""

unit = (0.0, 1.0)


def listed(score: Listed, span: Span) -> Callable[[str], tuple[Of, Span]]:
    """The maker of a score of the items in the counted places,
    from its name with or without ``@k``.
    """

    def make(name: str) -> tuple[Of, Span]:
        depth = depth_of(name)

        def of(answer: Recommendation, asked: Asked, context: Context) -> Scored:
            items = leading(name, answer, asked, depth)
            return score(items, asked, context, places(name, asked, depth))

        return of, span

    return make


def known_items(items: Sequence[str], context: Context) -> list[str]:
    """The items of the catalogue or of the training data."""
    return [
        item for item in items if item in context.items or item in context.popularity
    ]


def slot_share(
    share: Callable[[Sequence[Slot], int], float],
) -> Callable[[str], tuple[Of, Span]]:
    """The maker of a share of slots: the first k for ``name@k``, all requested ones for
    ``name``, all for ``name@full``.
    """

    def make(name: str) -> tuple[Of, Span]:
        depth = slot_depth(name)

        def of(answer: Recommendation, asked: Asked, context: Context) -> Scored:
            slots = slots_of(answer, asked, context)
            counted = len(slots) if depth == "full" else places(name, asked, depth)
            return (share(slots, counted) if counted else None), 0

        return of, unit

    return make


def of_format(
    fits: Callable[[Recommendation, Asked, Context, int], bool],
    *,
    unread: bool = False,
) -> Callable[[str], tuple[Of, Span, bool, bool]]:
    """The maker of a score that is 1 or 0 per answer, without a
    depth; an empty answer has a format too.
    """

    def make(name: str) -> tuple[Of, Span, bool, bool]:
        if "@" in name:
            raise OracleError(
                f"{name.partition('@')[0]} judges the whole answer and has no depth, got {name!r}",
            )

        def of(answer: Recommendation, asked: Asked, context: Context) -> Scored:
            demanded = min(asked.request.k, len(offer_of(asked, context.items)))
            return float(fits(answer, asked, context, demanded)), 0

        return of, unit, True, unread

    return make
