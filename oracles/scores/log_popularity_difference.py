"""Log-popularity difference: the bias metric that the popularity paper proposes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pytest_recsys_mt.oracles.scores.popularity import Zero, scores
from pytest_recsys_mt.oracles.scores.popularity_scores import against_past, difference_span


def log_popularity_difference(
    recommended: ArrayLike, consumed: ArrayLike, *, zero: Zero = "error"
) -> float:
    """Mean ln popularity of the recommended items minus that of the consumed ones.

    It does not depend on the unit of popularity: multiplying all scores by a constant does not change it (except with
    ``zero="plus-one"``). The paper does not print the base of the logarithm; its values fit the natural one.

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


SCORES = {
    "log_popularity_difference": (against_past(log_popularity_difference), difference_span),
    "absolute_log_popularity_difference": (
        against_past(lambda ours, theirs: abs(log_popularity_difference(ours, theirs))),
        lambda context: (0.0, difference_span(context)[1]),
    ),
}
