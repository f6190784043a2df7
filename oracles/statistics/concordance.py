"""Bounds for how far two rankings of the same systems agree, from what is proven about
each pair of systems.

The two rankings are by the true means of two numbers. For a pair of systems each number
has a sign: that of the difference of the two means. The pair is concordant if both
signs are the same and neither is 0, and discordant if they are opposite. Kendall's tau
of the two rankings is the share of concordant pairs minus that of discordant ones.

That both differences are above 0 is claimed at a level if each is shown at that level:
nothing is divided, since a false claim needs the false part of it to be shown
(intersection-union test, Berger 1982). A pair can be claimed concordant in two ways,
both above or both below 0, so its p-value is twice the smaller one. Holm's procedure
over the pairs then keeps the probability of any false claim at alpha, whatever the
dependence is between pairs and numbers. A pair of which nothing is proven counts as
discordant in the lower bound, and as concordant in the upper one.
"""

import math
from collections.abc import Sequence

from pytest_recsys_mt.oracles.statistics.bounds import TIE, Mean
from pytest_recsys_mt.oracles.statistics.corrections import holm
from pytest_recsys_mt.oracles.statistics.spread import Difference


def p_of_signs(first: Difference, second: Difference, *, same: bool) -> float:
    """P-value of the hypothesis that the signs of two differences are not the `same`,
    or are not opposite.
    """
    above = first.p_at_most(0.0)
    below = first.p_at_least(0.0)
    other_above = second.p_at_most(0.0)
    other_below = second.p_at_least(0.0)
    if not same:
        other_above, other_below = other_below, other_above
    return min(1.0, 2 * min(max(above, other_above), max(below, other_below)))


class Concordance(Mean):
    """Kendall's tau of two rankings; see the module.

    Args:
        concordant: The p-value of the hypothesis that a pair of systems is not
            concordant, for each pair.
        discordant: That of the hypothesis that it is not discordant.
        estimate: The tau of the rankings by the observed means.
    """

    def __init__(
        self,
        concordant: Sequence[float],
        discordant: Sequence[float],
        estimate: float,
    ) -> None:
        self.estimate = estimate
        self._concordant = sorted(holm(concordant))
        self._discordant = sorted(holm(discordant))

    def proven(self, alpha: float) -> tuple[int, int]:
        """How many pairs are proven concordant, and how many discordant."""
        return (
            sum(p <= alpha for p in self._concordant),
            sum(p <= alpha for p in self._discordant),
        )

    def lower(self, alpha: float) -> float:
        concordant, _ = self.proven(alpha)
        # A wider interval is as valid, and one without its own estimate misleads.
        return min(self.estimate, 2 * concordant / len(self._concordant) - 1)

    def upper(self, alpha: float) -> float:
        _, discordant = self.proven(alpha)
        return max(self.estimate, 1 - 2 * discordant / len(self._discordant))

    def p_at_most(self, value: float) -> float:
        """That tau is below `value`: a tau of exactly the limit reaches it, because tau
        has few possible values.
        """
        needed = math.ceil((value + 1) / 2 * len(self._concordant) - TIE)
        return self._concordant[needed - 1] if needed > 0 else 0.0

    def p_at_least(self, value: float) -> float:
        pairs = len(self._discordant)
        # The fewest discordant pairs that leave less than `value`.
        needed = math.floor((1 - value) / 2 * pairs + TIE) + 1
        return self._discordant[needed - 1] if needed <= pairs else 1.0
