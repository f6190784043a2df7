"""The two-sample Kolmogorov-Smirnov test: whether a
sample has the distribution of the whole.
"""

import math
from collections.abc import Sequence

from pytest_recsys_mt.safety.errors import OracleError


def same_distribution(
    sample: Sequence[float],
    everybody: Sequence[float],
) -> tuple[float, float]:
    """The largest distance of two empirical distributions, and its p-value.

    Source:
        The acceptance of user samples in section 4.1 of
        https://arxiv.org/abs/2411.00331. If the sample is part of the whole, as there,
        the test rejects less often than its p-value says.

    Example:
        >>> distance, p_value = same_distribution([0.1, 0.4, 0.5], everybody=[0.1, 0.2, 0.4, 0.5, 0.6])
        >>> round(distance, 2)
        0.2

    Args:
        sample: One finite number per sampled user, of at least one.
        everybody: One finite number per user of the whole, of at least one.

    Returns:
        The distance in [0, 1], and the p-value of no difference.
    """
    if not len(sample) or not len(everybody):
        raise OracleError(
            f"same_distribution: both need at least one number, got {len(sample)} and {len(everybody)}",
        )
    for values in (sample, everybody):
        if odd := [value for value in values if not math.isfinite(value)]:
            raise OracleError(
                f"same_distribution: every user needs a finite number, got {odd[0]!r}; leave out "
                f"users without one",
            )
    from scipy.stats import ks_2samp

    found = ks_2samp(sample, everybody)
    return float(found.statistic), float(found.pvalue)
