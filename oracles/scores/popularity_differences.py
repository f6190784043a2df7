"""What answers recommend beside what their users have, by popularity: log-popularity,
lift, Gini and Herfindahl index.

Source:
    Section 3 of https://arxiv.org/abs/2406.01285, which proposes the log-popularity
    difference. Only the differences are centred at 0 and change their sign when the
    sides are swapped. The paper prints the others next to them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from pytest_recsys_mt.oracles.scores.popularity import Zero, scores
from pytest_recsys_mt.oracles.scores.popularity_scores import (
    Span,
    against_past,
    difference_span,
    extremes,
    own_items,
    signed_unit,
)
from pytest_recsys_mt.verdict.answers import Asked, Context

__all__ = [
    "gini_difference", "gini_ratio", "gini_relative_difference", "herfindahl_difference", "herfindahl_ratio",
    "herfindahl_relative_difference", "log_popularity_difference", "popularity_lift",
]  # fmt: skip


def log_popularity_difference(
    recommended: ArrayLike,
    consumed: ArrayLike,
    *,
    zero: Zero = "error",
) -> float:
    """Mean ln popularity of the recommended items minus that of the consumed ones.

    It does not depend on the unit of popularity: multiplying all scores by a constant
    does not change it (except with ``zero="plus-one"``). The paper does not print the
    base of the logarithm; its values fit the natural one.

    Source:
        Equation 2 of https://arxiv.org/abs/2406.01285.

    Example:
        >>> round(log_popularity_difference(recommended=[90, 80], consumed=[90, 5]), 2)
        1.39

    Args:
        recommended: Popularity of each recommended item, ``(k,)``, k at least 1.
        consumed: Popularity of each item of the user, ``(n,)``, n at least 1.
        zero: How to treat items without interactions; see `popularity.Zero`.
    """
    ours = scores("log_popularity_difference", "recommended", recommended, zero)
    theirs = scores("log_popularity_difference", "consumed", consumed, zero)
    return float(np.log(ours).mean() - np.log(theirs).mean())


def popularity_lift(
    recommended: ArrayLike,
    consumed: ArrayLike,
    *,
    zero: Zero = "error",
) -> float:
    """Mean popularity of the recommended items divided by that of the consumed ones,
    minus 1.

    A mean of heavy-tailed scores does not become stable with more data: a single
    blockbuster can dominate it. Use `log_popularity_difference` to compare systems.
    Arguments are those of `log_popularity_difference`.

    Source:
        Abdollahpouri et al. (2020) with all users as one group, as in equation 1 of
        https://arxiv.org/abs/2406.01285.

    Example:
        >>> round(popularity_lift(recommended=[90, 80], consumed=[90, 5]), 2)
        0.79
    """
    ours = scores("popularity_lift", "recommended", recommended, zero).mean()
    theirs = scores("popularity_lift", "consumed", consumed, zero).mean()
    return float((ours - theirs) / theirs)


def _lift_span(context: Context) -> tuple[float, float]:
    low, high = extremes(context)
    return low / high - 1, high / low - 1


def gini(values: ArrayLike, *, zero: Zero = "error") -> float:
    """Inequality of popularity within a list, in [0, (n - 1) / n): ``sum (2i - n - 1) /
    n * share_i``, ascending.
    """
    ascending = np.sort(scores("gini", "values", values, zero))
    n = len(ascending)
    # Divided by n last, so that equal values give exactly 0 on every processor.
    weights = 2 * np.arange(1, n + 1) - n - 1
    return float(weights @ ascending / (n * ascending.sum()))


def gini_difference(
    recommended: ArrayLike,
    consumed: ArrayLike,
    *,
    zero: Zero = "error",
) -> float:
    """`gini` of the recommended items minus that of the consumed ones.

    Arguments are those of `log_popularity_difference`.

    Example:
        >>> round(gini_difference(recommended=[90, 90, 80], consumed=[90, 5, 1]), 2)
        -0.59
    """
    return gini(recommended, zero=zero) - gini(consumed, zero=zero)


def gini_relative_difference(
    recommended: ArrayLike,
    consumed: ArrayLike,
    *,
    zero: Zero = "error",
) -> float | None:
    """`gini_difference` divided by the `gini` of the consumed items.

    Arguments are those of `log_popularity_difference`.

    Example:
        >>> round(gini_relative_difference(recommended=[90, 90, 80], consumed=[90, 5, 1]), 2)
        -0.96

    Returns:
        The relative difference; None if the `gini` of the consumed items is 0 (all
        equal).
    """
    base = gini(consumed, zero=zero)
    return (
        None if base == 0 else gini_difference(recommended, consumed, zero=zero) / base
    )


def gini_ratio(
    recommended: ArrayLike,
    consumed: ArrayLike,
    *,
    zero: Zero = "error",
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


def _gini_span(asked: Asked, context: Context) -> tuple[float, float]:
    """The ends of `gini_ratio`: counts are whole, so an index
    above 0 is at least ``1 / (n * sum)``.
    """
    own = [context.popularity.get(item, 0) for item in own_items(asked)]
    return 0.0, float(max(1, len(own) * sum(own)))


def herfindahl(values: ArrayLike, *, zero: Zero = "error") -> float:
    """Concentration of popularity within a list, in [1 /
    n, 1]: the sum of squared shares.
    """
    shares = scores("herfindahl", "values", values, zero)
    return float(((shares / shares.sum()) ** 2).sum())


def herfindahl_difference(
    recommended: ArrayLike,
    consumed: ArrayLike,
    *,
    zero: Zero = "error",
) -> float:
    """`herfindahl` of the recommended items minus that of the consumed ones.

    Arguments are those of `log_popularity_difference`.

    Example:
        >>> round(herfindahl_difference(recommended=[90, 90, 80], consumed=[90, 5, 1]), 2)
        -0.55
    """
    return herfindahl(recommended, zero=zero) - herfindahl(consumed, zero=zero)


def herfindahl_relative_difference(
    recommended: ArrayLike,
    consumed: ArrayLike,
    *,
    zero: Zero = "error",
) -> float:
    """`herfindahl_difference` divided by the `herfindahl` of the consumed items.

    Arguments are those of `log_popularity_difference`.

    Example:
        >>> round(herfindahl_relative_difference(recommended=[90, 90, 80], consumed=[90, 5, 1]), 2)
        -0.62
    """
    difference = herfindahl_difference(recommended, consumed, zero=zero)
    return difference / herfindahl(consumed, zero=zero)


def herfindahl_ratio(
    recommended: ArrayLike,
    consumed: ArrayLike,
    *,
    zero: Zero = "error",
) -> float:
    """`herfindahl` of the recommended items divided by that of the consumed ones.

    Arguments are those of `log_popularity_difference`.

    Example:
        >>> round(herfindahl_ratio(recommended=[90, 90, 80], consumed=[90, 5, 1]), 2)
        0.38
    """
    return herfindahl(recommended, zero=zero) / herfindahl(consumed, zero=zero)


def _herfindahl_span(asked: Asked, context: Context) -> tuple[float, float]:
    """The ends of `herfindahl_ratio`: the index of n items is at least ``1 / n``."""
    return 1 / max(1, asked.request.k), float(max(1, len(own_items(asked))))


def _less_one(span: Callable[[Asked, Context], tuple[float, float]]) -> Span:
    """The ends of a relative difference, which is the ratio less 1."""

    def ends(asked: Asked, context: Context) -> tuple[float, float]:
        low, high = span(asked, context)
        return low - 1, high - 1

    return ends


SCORES = {
    "log_popularity_difference": (
        against_past(log_popularity_difference),
        difference_span,
    ),
    "absolute_log_popularity_difference": (
        against_past(lambda ours, theirs: abs(log_popularity_difference(ours, theirs))),
        lambda context: (0.0, difference_span(context)[1]),
    ),
    "popularity_lift": (against_past(popularity_lift), _lift_span),
    "gini_difference": (against_past(gini_difference), signed_unit),
    "gini_relative_difference": (
        against_past(gini_relative_difference),
        _less_one(_gini_span),
    ),
    "gini_ratio": (against_past(gini_ratio), _gini_span),
    "herfindahl_difference": (against_past(herfindahl_difference), signed_unit),
    "herfindahl_relative_difference": (
        against_past(herfindahl_relative_difference),
        _less_one(_herfindahl_span),
    ),
    "herfindahl_ratio": (against_past(herfindahl_ratio), _herfindahl_span),
}
