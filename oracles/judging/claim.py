"""The claim of an oracle about a mean, and on which side of the margin it is."""

import math
from dataclasses import dataclass

import numpy as np

from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.judging.slices import Slices
from pytest_recsys_mt.oracles.statistics.bounds import Mean
from pytest_recsys_mt.verdict.verdict import Allowed

Promise = Allowed
"""The promise about the mean effect."""


@dataclass(frozen=True)
class Claim:
    """The claim that an oracle has to judge.

    Attributes:
        oracle: The name of the oracle, with its similarity or score.
        promise: The promise about the mean effect.
        margin: Its limit, in the unit of the effects.
        ask_everybody: Whether everybody is asked even if the verdict is clear earlier,
            because the mean itself is wanted: after an early stop it is too far from
            the margin.
        ways: In how many ways the whole promise can break; this claim is one of them.
        measures: The meaning of the mean, in words.
        slices: Groups of users that are judged too; None: as the run says.
        changes: Whether the promise is that answers change.
        cap: Up to which an effect counts for ``holds``; not below the margin.
    """

    oracle: str
    promise: Promise
    margin: float
    ask_everybody: bool = False
    ways: int = 1
    measures: str = ""
    slices: Slices | None = None
    changes: bool = False
    cap: float | None = None

    def __post_init__(self) -> None:
        if self.slices is not None:
            # Claims are keys, so a list will not do.
            object.__setattr__(self, "slices", tuple(self.slices))

    @property
    def wants_change(self) -> bool:
        """Whether a promise about two sides is that their answers differ."""
        return self.changes or self.promise == "at least"

    @property
    def allowed(self) -> tuple[float, float]:
        """The smallest and the largest mean that keep the promise."""
        if self.promise == "at most":
            return -math.inf, self.margin
        if self.promise == "at least":
            return self.margin, math.inf
        return -self.margin, self.margin


def p_value(mean: Mean, claim: Claim) -> float:
    """P-value of the hypothesis that the promise holds."""
    if claim.promise == "at most":
        return mean.p_at_most(claim.margin)
    if claim.promise == "at least":
        return mean.p_at_least(claim.margin)
    return mean.p_within(claim.margin)


def p_value_of_opposite(mean: Mean, claim: Claim) -> float:
    """P-value of the hypothesis that the promise does not hold; for "within" by two
    one-sided tests (Schuirmann 1987).
    """
    if claim.promise == "within":
        return max(mean.p_at_least(claim.margin), mean.p_at_most(-claim.margin))
    if claim.promise == "at most":
        return mean.p_at_least(claim.margin)
    return mean.p_at_most(claim.margin)


def excess(claim: Claim, effect: Floats) -> Floats:
    """By how much each user's effect exceeds the allowed range, ``(n,)``."""
    least, most = claim.allowed
    return np.maximum(effect - most, least - effect)


def nearest_limit(mean: Mean, claim: Claim) -> tuple[float, bool]:
    """The limit nearest to the mean, and whether means above it break the promise."""
    if claim.promise == "within" and mean.estimate < 0:
        return -claim.margin, False
    return claim.margin, claim.promise != "at least"
