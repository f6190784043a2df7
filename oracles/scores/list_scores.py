"""What scores of one list with a depth share."""

from collections.abc import Callable, Sequence

from pytest_recsys_mt.answers import Asked, Context
from pytest_recsys_mt.oracles.scores.metrics import depth_of, leading, places
from pytest_recsys_mt.oracles.scores.popularity_scores import Of, Scored, Span
from pytest_recsys_mt.requests import Recommendation

Listed = Callable[[Sequence[str], Asked, Context, int], Scored]
"""From the items in the counted places, and the number of these places, to a score."""


def listed(score: Listed, span: Span) -> Callable[[str], tuple[Of, Span]]:
    """The maker of a score of the items in the counted places, from its name with or without ``@k``."""

    def make(name: str) -> tuple[Of, Span]:
        depth = depth_of(name)

        def of(answer: Recommendation, asked: Asked, context: Context) -> Scored:
            items = leading(name, answer, asked, depth)
            return score(items, asked, context, places(name, asked, depth))

        return of, span

    return make


def known_items(items: Sequence[str], context: Context) -> list[str]:
    """The items of the catalogue or of the training data."""
    return [item for item in items if item in context.items or item in context.popularity]


unit = (0.0, 1.0)
