"""Log-popularity difference: the bias metric that the popularity paper proposes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pytest_recsys_mt.oracles.scores.popularity import Zero, scores

_NAME = "log_popularity_difference"


def log_popularity_difference(
    recommended: ArrayLike, consumed: ArrayLike, *, zero: Zero = "error"
) -> float:
    """Mean ln popularity of the recommended items less that of the consumed ones.

    It does not depend on the unit of popularity: all scores times a constant give the same (but for
    ``zero="plus-one"``). The base of the logarithm is not printed in the paper; its values suit the
    natural one.

    Source:
        Equation 2 of https://arxiv.org/abs/2406.01285.

    Args:
        recommended: Popularity of each recommended item, ``(k,)``.
        consumed: Popularity of each item of the user, ``(n,)``.
        zero: How to treat items without interactions; see `popularity.Zero`.

    Raises:
        OracleError: If a side is empty, or holds a value that is not a popularity.
    """
    ours = scores(_NAME, "recommended", recommended, zero)
    theirs = scores(_NAME, "consumed", consumed, zero)
    return float(np.log(ours).mean() - np.log(theirs).mean())
