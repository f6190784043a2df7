"""Demographic parity difference (DPD): are active and inactive users served equally
well?

Source:
    Equation 21 of https://arxiv.org/abs/2411.00331. Users whose history is as long as
    the median are inactive, as in the paper's code. Verdicts count all of a user's own
    training items, however few of them the request shows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pytest_recsys_mt.oracles import arguments
from pytest_recsys_mt.oracles.aggregates.aggregate import of_ndcg
from pytest_recsys_mt.safety.errors import OracleError


def dpd(values: ArrayLike, lengths: ArrayLike) -> float | None:
    """``|mean of active users - mean of inactive ones|``, divided at the median history
    length.

    Example:
        >>> round(dpd(values=[0.9, 0.8, 0.4, 0.2], lengths=[20, 18, 3, 2]), 2)
        0.55

    Args:
        values: One number per user, such as an nDCG, ``(n,)``.
        lengths: Length of each user's history, ``(n,)``; up to the median, a user is
            inactive.

    Returns:
        At least 0; None if no history is longer than the median.
    """
    numbers = arguments.flat("dpd", "values", values)
    sizes = arguments.flat("dpd", "lengths", lengths, 0)
    if numbers.shape != sizes.shape:
        raise OracleError(
            f"dpd: every user needs a value and a length, got arrays of shapes {numbers.shape} and "
            f"{sizes.shape}",
        )
    active = sizes > np.median(sizes) if len(sizes) else np.zeros(0, np.bool_)
    if not active.any():
        return None
    return float(abs(numbers[active].mean() - numbers[~active].mean()))


AGGREGATES = {"dpd": of_ndcg(dpd, "if no history is longer than the median of all")}
