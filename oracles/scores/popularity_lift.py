"""Average popularity lift."""

from __future__ import annotations

from numpy.typing import ArrayLike

from pytest_recsys_mt.answers import Context
from pytest_recsys_mt.oracles.scores.popularity import Zero, scores
from pytest_recsys_mt.oracles.scores.popularity_scores import against_past, extremes


def popularity_lift(recommended: ArrayLike, consumed: ArrayLike, *, zero: Zero = "error") -> float:
    """Mean popularity of the recommended items divided by that of the consumed ones, minus 1.

    A mean of heavy-tailed scores does not become stable with more data: a single blockbuster can dominate it. Use
    `log_popularity_difference` to compare systems. Arguments are those of `log_popularity_difference`.

    Source:
        Abdollahpouri et al. (2020) with all users as one group, as in equation 1 of https://arxiv.org/abs/2406.01285.

    Example:
        >>> round(popularity_lift(recommended=[90, 80], consumed=[90, 5]), 2)
        0.79
    """
    ours = scores("popularity_lift", "recommended", recommended, zero).mean()
    theirs = scores("popularity_lift", "consumed", consumed, zero).mean()
    return float((ours - theirs) / theirs)


def _span(context: Context) -> tuple[float, float]:
    low, high = extremes(context)
    return low / high - 1, high / low - 1


SCORES = {"popularity_lift": (against_past(popularity_lift), _span)}
