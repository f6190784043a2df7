"""Herfindahl index of popularity, and its three comparisons of an answer with its user.

Source:
    Section 3.2 of https://arxiv.org/abs/2406.01285. Only the difference is centred at 0 and changes
    its sign when the sides are swapped. The paper prints the other two beside it.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from pytest_recsys_mt.answers import Asked, Context
from pytest_recsys_mt.oracles.scores.popularity import Zero, scores
from pytest_recsys_mt.oracles.scores.popularity_scores import against_past, own_items, signed_unit

__all__ = ["herfindahl_difference", "herfindahl_ratio", "herfindahl_relative_difference"]


def herfindahl(values: ArrayLike, *, zero: Zero = "error") -> float:
    """Concentration of popularity within a list, in [1 / n, 1]: the sum of squared shares."""
    shares = scores("herfindahl", "values", values, zero)
    return float(((shares / shares.sum()) ** 2).sum())


def herfindahl_difference(
    recommended: ArrayLike, consumed: ArrayLike, *, zero: Zero = "error"
) -> float:
    """`herfindahl` of the recommended items minus that of the consumed ones.

    Arguments are those of `log_popularity_difference`.

    Example:
        >>> round(herfindahl_difference(recommended=[90, 90, 80], consumed=[90, 5, 1]), 2)
        -0.55
    """
    return herfindahl(recommended, zero=zero) - herfindahl(consumed, zero=zero)


def herfindahl_relative_difference(
    recommended: ArrayLike, consumed: ArrayLike, *, zero: Zero = "error"
) -> float:
    """`herfindahl_difference` divided by the `herfindahl` of the consumed items.

    Arguments are those of `log_popularity_difference`.

    Example:
        >>> round(herfindahl_relative_difference(recommended=[90, 90, 80], consumed=[90, 5, 1]), 2)
        -0.62
    """
    difference = herfindahl_difference(recommended, consumed, zero=zero)
    return difference / herfindahl(consumed, zero=zero)


def herfindahl_ratio(recommended: ArrayLike, consumed: ArrayLike, *, zero: Zero = "error") -> float:
    """`herfindahl` of the recommended items divided by that of the consumed ones.

    Arguments are those of `log_popularity_difference`.

    Example:
        >>> round(herfindahl_ratio(recommended=[90, 90, 80], consumed=[90, 5, 1]), 2)
        0.38
    """
    return herfindahl(recommended, zero=zero) / herfindahl(consumed, zero=zero)


def _ratio_span(asked: Asked, context: Context) -> tuple[float, float]:
    """The ends of `herfindahl_ratio`: the index of n items is at least ``1 / n``."""
    return 1 / max(1, asked.request.k), float(max(1, len(own_items(asked))))


def _relative_span(asked: Asked, context: Context) -> tuple[float, float]:
    low, high = _ratio_span(asked, context)
    return low - 1, high - 1


SCORES = {
    "herfindahl_difference": (against_past(herfindahl_difference), signed_unit),
    "herfindahl_relative_difference": (
        against_past(herfindahl_relative_difference),
        _relative_span,
    ),
    "herfindahl_ratio": (against_past(herfindahl_ratio), _ratio_span),
}
