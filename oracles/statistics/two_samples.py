"""Student's unpaired t-test of two samples, from their means and deviations."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scipy.special import stdtrit

from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.statistics.bounds import Student
from pytest_recsys_mt.safety.errors import OracleError

__all__ = ["t_from_summary"]


def t_from_summary(
    mean1: float,
    sd1: float,
    n1: int,
    mean2: float,
    sd2: float,
    n2: int,
) -> tuple[float, float]:
    """Student's unpaired t-test with equal variances, from printed means and
    deviations.

    Deviations are those with n - 1, and not both 0; sizes are at least 2.

    Example:
        >>> statistic, p_value = t_from_summary(mean1=0.80, sd1=0.05, n1=10, mean2=0.75, sd2=0.05, n2=10)
        >>> round(float(p_value), 3)
        0.038

    Returns:
        The statistic and the two-sided p-value.
    """
    return TwoSamples((mean1, mean2), (sd1, sd2), (n1, n2)).test()


class TwoSamples(Student):
    """The difference of two means by the pooled t distribution, from summaries."""

    def __init__(
        self,
        means: Sequence[float],
        deviations: Sequence[float],
        counts: Sequence[int],
    ) -> None:
        if min(counts) < 2 or min(deviations) < 0 or max(deviations) == 0:
            raise OracleError(
                f"an unpaired t-test needs two samples of at least 2 values that are not all "
                f"equal, got sizes {counts} and standard deviations {deviations}",
            )
        self.counts = counts
        self._means, self._deviations = means, deviations
        self.estimate = means[0] - means[1]
        freedom = sum(counts) - 2
        squares = sum(sd**2 * (n - 1) for sd, n in zip(deviations, counts, strict=True))
        self._error = math.sqrt(squares / freedom * (1 / counts[0] + 1 / counts[1]))
        super().__init__(self.estimate, self._error, freedom, 1)

    @classmethod
    def of(cls, runs: Sequence[Floats]) -> TwoSamples:
        """The samples of two series of runs, which do not both have one value."""
        means = [float(run.mean()) for run in runs]
        deviations = [float(run.std(ddof=1)) for run in runs]
        return cls(means, deviations, [len(run) for run in runs])

    def with_unread(self, unread: int, users: int) -> TwoSamples:
        """The samples if the lists of further users, which could
        not be read, agreed only with the change.
        """
        share = users / (users + unread)
        first, second = self._means
        means = (share * first, share * second + 1 - share)
        if means[0] <= means[1]:
            means = (0.0, 0.0)
        return TwoSamples(means, [share * sd for sd in self._deviations], self.counts)

    @property
    def runs_in_words(self) -> str:
        """How many runs each sample has."""
        return f"{self.counts[0]} runs without and {self.counts[1]} with the change"

    def test(self) -> tuple[float, float]:
        """The statistic and the two-sided p-value of equal means."""
        return self.estimate / self._error, 2 * self._tail(
            -abs(self.estimate) / self._error,
        )

    def _quantiles(self, alpha: float) -> float:
        return -float(stdtrit(self._freedoms, alpha))
