"""The margins that a comparison of two noisy recommenders can show,
from the differences of one that is compared with itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.judging.effect import Effects
from pytest_recsys_mt.oracles.judging.power import MOST, reached_by
from pytest_recsys_mt.oracles.statistics.bounds import first_of

CHANCE = 0.9
"""Probability with which the named margins are shown."""

_RUNS = 200
"""Samples of as many users as were asked."""

_LARGE_RUNS = 60
"""Samples of many users."""

_LARGE = (1_000, MOST)
"""How many users these samples have; the fewer are
tried first, because they are faster.
"""

_SEED = 20_052
"""Fixed, so that the result depends only on the answers."""

_HALVINGS = 12


@dataclass(frozen=True)
class Sensitivity:
    """The margins shown with a probability of `CHANCE` about two recommenders that are
    as noisy as this one.

    Attributes:
        margin: The smallest margin within which two equal ones are shown to be; None if
            these users show none.
        loss: The smallest true loss of agreement that is shown to be above `limit`;
            None if these users show none.
        limit: The margin that `loss` is above.
        users: How many users show two equal ones to be within each margin; None for
            more than `power.MOST`.
    """

    margin: float | None
    loss: float | None
    limit: float
    users: dict[float, int | None]


def sensitivity_of(
    values: Sequence[float],
    reach: tuple[float, float],
    limit: float,
    alpha: float,
    margins: Sequence[float],
) -> Sensitivity:
    """Judge samples of measured values by the bets of real verdicts.

    Args:
        values: The loss of each user's agreement between two draws of one recommender,
            so that their true mean is 0.
        reach: The smallest and the largest possible value.
        limit: The margin of a comparison.
        alpha: The error rate of a claim.
        margins: Those of which the numbers of users are wanted.
    """
    low, high = reach
    measured = np.asarray(values, np.float64)
    null = np.clip(measured - measured.mean(), low, high).astype(np.float64)
    effects = Effects(np.arange(len(null)), null, reach)
    rng = np.random.default_rng(_SEED)
    drawn = null[rng.integers(len(null), size=(_RUNS, len(null)))]

    def is_within(margin: float) -> bool:
        return _share(reached_by(drawn, effects, margin, alpha, above=False)) >= CHANCE

    def is_seen(loss: float) -> bool:
        lost = np.clip(drawn + loss, low, high).astype(np.float64)
        return _share(reached_by(lost, effects, limit, alpha, above=True)) >= CHANCE

    # A margin of 1 allows everything, so the largest that is tried lies below.
    largest = 1 - 2.0**-_HALVINGS
    return Sensitivity(
        first_of(is_within, _HALVINGS) if is_within(largest) else None,
        first_of(is_seen, _HALVINGS) if is_seen(1.0) else None,
        limit,
        {margin: _users_for(margin, null, effects, alpha, rng) for margin in margins},
    )


def _users_for(
    margin: float,
    null: Floats,
    effects: Effects,
    alpha: float,
    rng: np.random.Generator,
) -> int | None:
    """How many users show a mean of 0 to be within a margin."""
    for most in _LARGE:
        drawn = rng.choice(null, size=(_LARGE_RUNS, most))
        reached = reached_by(drawn, effects, margin, alpha, above=False)
        needed = float(np.quantile(reached, CHANCE, method="higher"))
        if np.isfinite(needed):
            return int(needed)
    return None


def _share(reached: Floats) -> float:
    """In what share of the runs a claim was reached."""
    return float(np.isfinite(reached).mean())
