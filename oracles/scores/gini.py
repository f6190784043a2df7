"""Gini index of popularity, and its three comparisons of an answer with its user.

Source:
    Section 3.2 of https://arxiv.org/abs/2406.01285. Only the difference is centred at 0 and changes
    its sign when the sides are swapped. The paper prints the other two beside it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pytest_recsys_mt.answers import Asked, Context
from pytest_recsys_mt.oracles.scores.popularity import Zero, scores
from pytest_recsys_mt.oracles.scores.popularity_scores import against_past, own_items, signed_unit

__all__ = ["gini_difference", "gini_ratio", "gini_relative_difference"]


def gini(values: ArrayLike, *, zero: Zero = "error") -> float:
    """Inequality of popularity within a list, in [0, (n - 1) / n): ``sum (2i - n - 1) / n * share_i``, ascending."""
    ascending = np.sort(scores("gini", "values", values, zero))
    n = len(ascending)
    # Divided by n last, so that equal values give exactly 0 on every processor.
    weights = 2 * np.arange(1, n + 1) - n - 1
    return float(weights @ ascending / (n * ascending.sum()))


def gini_difference(recommended: ArrayLike, consumed: ArrayLike, *, zero: Zero = "error") -> float:
    """`gini` of the recommended items minus that of the consumed ones.

    Arguments are those of `log_popularity_difference`.

    Example:
        >>> round(gini_difference(recommended=[90, 90, 80], consumed=[90, 5, 1]), 2)
        -0.59
    """
    return gini(recommended, zero=zero) - gini(consumed, zero=zero)


def gini_relative_difference(
    recommended: ArrayLike, consumed: ArrayLike, *, zero: Zero = "error"
) -> float | None:
    """`gini_difference` divided by the `gini` of the consumed items.

    Arguments are those of `log_popularity_difference`.

    Example:
        >>> round(gini_relative_difference(recommended=[90, 90, 80], consumed=[90, 5, 1]), 2)
        -0.96

    Returns:
        The relative difference; None if the `gini` of the consumed items is 0 (all equal).
    """
    base = gini(consumed, zero=zero)
    return None if base == 0 else gini_difference(recommended, consumed, zero=zero) / base


def gini_ratio(
    recommended: ArrayLike, consumed: ArrayLike, *, zero: Zero = "error"
) -> float | None:
    """`gini` of the recommended items divided by that of the consumed ones.

    Arguments are those of `log_popularity_difference`.

    Example:
        >>> round(gini_ratio(recommended=[90, 90, 80], consumed=[90, 5, 1]), 2)
        0.04

    Returns:
        The ratio; None if the `gini` of the consumed items is 0 (all equal).
    """
    base = gini(consumed, zero=zero)
    return None if base == 0 else gini(recommended, zero=zero) / base


def _ratio_span(asked: Asked, context: Context) -> tuple[float, float]:
    """The ends of `gini_ratio`: counts are whole, so an index above 0 is at least ``1 / (n * sum)``."""
    own = [context.popularity.get(item, 0) for item in own_items(asked)]
    return 0.0, float(max(1, len(own) * sum(own)))


def _relative_span(asked: Asked, context: Context) -> tuple[float, float]:
    low, high = _ratio_span(asked, context)
    return low - 1, high - 1


SCORES = {
    "gini_difference": (against_past(gini_difference), signed_unit),
    "gini_relative_difference": (against_past(gini_relative_difference), _relative_span),
    "gini_ratio": (against_past(gini_ratio), _ratio_span),
}
