"""Claims about a mean by betting: error rates that hold for every distribution of bounded effects.

If the mean is at most m, every bet on ``x - m`` is fair or unfavourable. So we bet on each user in turn. The
capital starts at 1 and is multiplied by ``1 + b (x - m)``. It is a nonnegative supermartingale if each stake
b depends only on earlier users and cannot lose more than the capital. By Ville's inequality, the probability
that it ever reaches 1/alpha is at most alpha, for every number of users and every rule for stopping. If it does, we
claim that the mean is above m. The opposite claim bets on ``m - x``. The assumption is that users are drawn
independently from a population and used in the order of the draw.

Waudby-Smith and Ramdas 2024, "Estimating means of bounded random variables by betting", J. R. Stat. Soc. B
86(1). The stakes are those of its section B.3 (aGRAPA) with one more term, and start from a prior. They are never below
the stake that needs the least total gain to win in a fixed number of users: the first stake of Voracek and Orabona
2025, "STaR-Bets: Sequential Target-Recalculating Bets for Tighter Confidence Intervals". Theirs is recalculated from the
capital, which wins more often up to that number, but can leave too little capital to go on.
"""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from pytest_recsys_mt.errors import OracleError
from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.statistics.bounds import TIE, Mean

PRIOR = 5
"""Imagined users before the first real user: their mean gain is `HOPED`, their deviation `SPREAD`."""

HOPED, SPREAD = 1 / 30, 0.08
"""As shares of the range of effects: 0.05 and 0.12 if effects reach from -1/2 to 1."""

WIDE_PRIOR, WIDE_HOPED = 40, 0.3
"""The same for values that are expected in the whole range, such as hits. The deviation is the largest
possible, and the mean gain is this part of it."""

BOLDEST = 0.95
"""Largest share of the capital that one user can cost."""

HORIZON = 200
"""Number of users in which the least stake is to win. It doubles each time it is reached. It never depends on how many
users a run may ask, so that going on with more users keeps all earlier stakes."""

_TARGET = math.log(20)  # log of the capital that the least stake is to reach: a claim at alpha 0.05
_GRID = np.arange(1, 17) / 16
_NOTHING = 1e-12
_ZOOMS = 6  # each by `_GRID`: bounds to a 10**7th of their distance from the mean


def log_capital(gains: Floats, worst: float | Floats, *, wide: bool = False) -> Floats:
    """Logarithm of the capital after each user, of the shape of `gains`.

    `gains` are those of a unit stake on each user, in the order drawn, as shares of the range of effects, ``(..., n)``, and
    `worst` the most that it can lose, above 0. If effects are expected in the whole range, which must be known beforehand,
    `wide` changes the number of users needed, not the error rate.
    """
    stakes, _, _ = _stakes(gains, worst, wide)
    return np.cumsum(np.log1p(stakes * gains), axis=-1)


def log_capital_of_any(gains: Floats, worst: Floats, *, wide: bool = False) -> Floats:
    """Logarithm of the capital, ``(n,)``, of one bettor who can bet on one of several gains, ``(ways, n)``, at a time.

    This tests the hypothesis that all means are 0 or less. For each user, the bettor uses the gain that
    promised the most growth so far. So a claim that can be true in several ways needs hardly more users
    than each way alone, and alpha is not divided.
    """
    stakes, mean, square = _stakes(gains, worst, wide)
    growth = stakes * (mean - stakes * square / 2)
    users = np.arange(gains.shape[-1])
    way = np.argmax(growth, axis=0)
    return np.cumsum(np.log1p(stakes[way, users] * gains[way, users]))


def _stakes(gains: Floats, worst: float | Floats, wide: bool) -> tuple[Floats, Floats, Floats]:
    """The stake on each user, and the mean gain and its mean square as they were expected before that user."""
    worst = np.asarray(worst, np.float64)
    prior, hoped, spread = PRIOR, np.asarray(HOPED), np.asarray(SPREAD)
    if wide:
        spread = np.asarray(np.sqrt(np.clip(worst * (1 - worst), 1e-4, None)))
        prior, hoped = WIDE_PRIOR, np.asarray(WIDE_HOPED * spread)
    users = prior + np.arange(gains.shape[-1])

    def before(powers: Floats, imagined: Floats) -> Floats:
        # The sum never includes the current user. Subtracting that user later would leave a rounding error
        # that depends on the user, and a bettor who chooses between ways could use it.
        sums = np.zeros(gains.shape)
        powers[..., :-1].cumsum(axis=-1, out=sums[..., 1:])
        return (prior * imagined + sums) / users

    squares = gains * gains
    mean, square = before(gains, hoped), before(squares, hoped**2 + spread**2)
    # If few users lose much, a stake from the variance alone is too bold for any growth. The third term of
    # log(1 + b g) lowers it. The term is not used if few users gain much, because the series may diverge.
    cubes = squares * gains  # a power of 3 takes a hundred times as long
    cube = np.minimum(before(cubes, hoped**3 + 3 * hoped * spread**2), 0.0)
    best = 2 * mean / (square + np.sqrt(square**2 - 4 * cube * np.maximum(mean, 0.0)))
    # A stake b turns a total gain G of h users into a log capital of about b G - b^2 h square / 2. This b needs the
    # least G to reach the target.
    least = np.sqrt(2 * _TARGET / (_horizons(gains.shape[-1]) * square))
    stakes: Floats = np.minimum(np.maximum(best, least), BOLDEST / worst)
    return stakes, mean, square


@lru_cache(maxsize=64)
def _horizons(users: int) -> Floats:
    """For each user, ``(users,)``, the smallest of `HORIZON`, twice, four times it and so on that is above the users before."""
    doublings = np.ceil(np.log2((np.arange(users) + 1) / HORIZON))
    horizons: Floats = HORIZON * 2.0 ** np.maximum(doublings, 0)
    horizons.flags.writeable = False
    return horizons


def p_of_any(gains: Floats, worst: Floats, *, wide: bool = False) -> float:
    """P-value of the hypothesis that all means are 0 or less; see `log_capital_of_any`."""
    if (gains[worst[:, 0] <= TIE] > TIE).any():  # bets that cannot lose
        return 0.0
    capital = log_capital_of_any(gains, np.maximum(worst, _NOTHING), wide=wide)
    return math.exp(-max(0.0, float(capital.max())))


def p_of_some(gains: Floats, worst: Floats) -> float:
    """P-value of the hypothesis that all means are 0 or less, if all ways, ``(ways, n)``, share the capital.

    Each way starts with an equal share and keeps its gains. So the p-value is never above that of any way
    times their number (Bonferroni), and it is lower if several ways gain. A gain is 0 if a way does not bet on a user.
    """
    if (gains[worst[:, 0] <= TIE] > TIE).any():  # bets that cannot lose
        return 0.0
    capital = np.exp(log_capital(gains, np.maximum(worst, _NOTHING))).mean(axis=0)
    return 1.0 / max(1.0, float(capital.max()))


class Bets(Mean):
    """The estimate of all users' mean effect from the users asked so far; a `bounds.Mean`.

    Bounds and p-values are valid at all numbers of users at once. The set of means that are not rejected
    may have gaps. The bounds are those of its hull, so only p-values decide.

    The effects, ``(n,)``, n at least 1, are in the order drawn, and from `low` to `high`. Users with an `unknown` effect
    stand before these indices. Each counts as the smallest possible for the claim that the mean is above a value, and as
    the largest possible for the opposite claim. `wide` is as in `log_capital`.
    """

    def __init__(
        self,
        effects: Floats,
        low: float,
        high: float,
        unknown: Sequence[int] = (),
        *,
        wide: bool = False,
    ) -> None:
        if not math.isfinite(high - low):
            raise OracleError(
                f"effects from {low:g} to {high:g} cannot be bet on: a bet needs a finite range; "
                f"give the score a finite span"
            )
        slack = 1e-9 * max(1.0, high - low)  # rounding
        outside = ~((effects >= low - slack) & (effects <= high + slack))
        if outside.any():
            raise OracleError(
                f"an effect of {float(effects[outside][0]):g} lies outside the range from {low:g} to "
                f"{high:g} that was declared for it, so no bet on it is safe; make sure that the span "
                f"of the score is valid for every answer to both requests"
            )
        effects = np.clip(effects, low, high)
        self.estimate = float(effects.mean())
        self.low, self.high = low, high
        self._scale, self._wide = (high - low) or 1.0, wide
        self._least = np.insert(effects, list(unknown), low)
        self._most = np.insert(effects, list(unknown), high)

    def lower(self, alpha: float) -> float:
        return self._hull(self._above, self.low, alpha)

    def upper(self, alpha: float) -> float:
        return self._hull(self._below, self.high, alpha)

    def p_at_most(self, value: float) -> float:
        """1 over the largest capital so far."""
        return math.exp(-float(self._above(np.array([value]))[0]))

    def p_at_least(self, value: float) -> float:
        return math.exp(-float(self._below(np.array([value]))[0]))

    def p_within(self, value: float) -> float:
        """One bettor bets on the side of 0 that promises more growth."""
        gains = np.stack([self._least - value, -value - self._most])
        worst = np.array([[value - self.low], [self.high + value]])
        return p_of_any(gains / self._scale, worst / self._scale, wide=self._wide)

    def _above(self, values: Floats) -> Floats:
        """The largest log capital of bets that the mean is above each of `values`."""
        return self._won(self._least - values[:, None], values - self.low)

    def _below(self, values: Floats) -> Floats:
        return self._won(values[:, None] - self._most, self.high - values)

    def _won(self, gains: Floats, worst: Floats) -> Floats:
        gains, worst = gains / self._scale, worst / self._scale
        worst_of_each = np.maximum(worst, _NOTHING)[:, None]
        won = log_capital(gains, worst_of_each, wide=self._wide).max(axis=-1)
        # A bet that cannot lose is won after one gain; without any gain it is not won.
        sure = np.where((worst < -TIE) | (gains > TIE).any(axis=-1), np.inf, 0.0)
        return np.where(worst <= TIE, sure, np.maximum(won, 0.0))

    def _hull(self, won: Callable[[Floats], Floats], end: float, alpha: float) -> float:
        """The end of the rejected interval that starts at `end`, between `end` and the sample mean."""
        enough = -math.log(alpha)
        if won(np.array([end]))[0] < enough:
            return end
        inside = self.estimate
        for _ in range(_ZOOMS):
            values = end + (inside - end) * _GRID
            open_ = np.flatnonzero(won(values) < enough)
            first = int(open_[0]) if len(open_) else len(values) - 1
            end, inside = values[first - 1] if first else end, values[first]
        return float(end)
