"""The paired test of two recommenders on the same users."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from pytest_recsys_mt.oracles.arguments import one_of, share
from pytest_recsys_mt.oracles.statistics.sign_flips import sign_flip_test
from pytest_recsys_mt.safety.errors import OracleError

__all__ = ["PairedDifference", "paired_difference"]

Test = Literal["sign-flips", "t"]


@dataclass(frozen=True)
class PairedDifference:
    """How much two recommenders differ on the same users.

    Example:
        >>> found = paired_difference(ours=[0.6, 0.5, 0.4, 0.7], other=[0.5, 0.5, 0.2, 0.6])
        >>> found.users, round(found.mean, 2)
        (4, 0.1)

    Attributes:
        users: Number of users.
        mean: Mean difference, the first minus the second.
        p_value: Two-sided p-value of no difference; None if the t-test is undefined.
        significant: Whether the p-value is below alpha.
    """

    users: int
    mean: float
    p_value: float | None
    significant: bool


def paired_difference(
    ours: ArrayLike,
    other: ArrayLike,
    alpha: float = 0.01,
    *,
    test: Test = "sign-flips",
) -> PairedDifference:
    """Test whether two recommenders differ in a metric of the same users.

    The multidimensional paper marks differences with p < .01 and does not name the test
    (https://arxiv.org/abs/2411.00331, Table 3).

    Example:
        >>> found = paired_difference(ours=[0.6, 0.5, 0.4, 0.7], other=[0.5, 0.5, 0.2, 0.6])
        >>> round(found.mean, 2), found.significant
        (0.1, False)

    Args:
        ours: One number per user, ``(n,)``, n at least 2.
        other: The other recommender's numbers, for the same users in the same order,
            ``(n,)``.
        alpha: In (0, 1).
        test: ``sign-flips`` permutes (`sign_flip_test`, 9,999 draws, so p is at least
            0.0001). ``t`` is Student's paired t-test, which is undefined if all users
            differ by the same amount other than 0.

    Returns:
        See `PairedDifference`; p is 1 if no user differs.
    """
    level = share("paired_difference", "alpha", alpha)
    left, right = np.asarray(ours, np.float64), np.asarray(other, np.float64)
    fit = left.ndim == 1 and left.shape == right.shape and len(left) > 1
    if not fit or not np.isfinite(left).all() or not np.isfinite(right).all():
        raise OracleError(
            f"paired_difference: both recommenders need one finite number for each of the same "
            f"users, at least two, got arrays of shapes {left.shape} and {right.shape}",
        )
    one_of("paired_difference", "test", test, get_args(Test))
    difference = left - right
    p: float | None
    if not difference.any():
        p = 1.0
    elif test == "sign-flips":
        p = float(sign_flip_test(difference)[0])
    elif np.ptp(difference) == 0:
        p = None
    else:
        from scipy.stats import ttest_rel

        p = float(ttest_rel(left, right).pvalue)
    return PairedDifference(
        len(left),
        float(difference.mean()),
        p,
        p is not None and p < level,
    )
