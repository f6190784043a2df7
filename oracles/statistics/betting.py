"""Claims about a mean by betting: error rates that hold for every distribution of
bounded effects.

If the mean is at most m, every bet on ``x - m`` is fair or unfavourable. So we bet on
each user in turn. The capital starts at 1 and is multiplied by ``1 + b (x - m)``. It is
a nonnegative supermartingale if each stake b depends only on earlier users and cannot
lose more than the capital. By Ville's inequality, the probability that it ever reaches
1/alpha is at most alpha, for every number of users and every rule for stopping. If it
does, we claim that the mean is above m. The opposite claim bets on ``m - x``. The
assumption is that users are drawn independently from a population and used in the order
of the draw.

Waudby-Smith and Ramdas 2024, "Estimating means of bounded random variables by betting",
J. R. Stat. Soc. B 86(1). The stakes are those of its section B.3 (aGRAPA) with one more
term, and start from a prior. They are never below the stake that needs the least total
gain to win in a fixed number of users: the first stake of Voracek and Orabona 2025,
"STaR-Bets: Sequential Target-Recalculating Bets for Tighter Confidence Intervals".
Theirs is recalculated from the capital, which wins more often up to that number, but
can leave too little capital to go on.
"""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.statistics.bounds import TIE, Mean
from pytest_recsys_mt.safety.errors import OracleError

PRIOR = 5
"""Imagined users before the first real user: their mean
gain is `HOPED`, their deviation `SPREAD`.
"""

HOPED = 1 / 30
"""As a share of the range of effects: 0.05 if effects reach from -1/2 to 1."""

SPREAD = 0.08
"""Likewise: 0.12 if effects reach from -1/2 to 1."""

WIDE_PRIOR = 40
"""Imagined users for values that are expected in the whole range, such as hits."""

WIDE_HOPED = 0.3
"""Their mean gain, as a part of their deviation, which is the largest possible."""

BOLDEST = 0.95
"""Largest share of the capital that one user can cost."""

HORIZON = 200
"""Number of users in which the least stake is to win. It doubles each time it is
reached. It never depends on how many users a run may ask, so that going on with more
users keeps all earlier stakes.
"""

_TARGET = math.log(
    20,
)  # log of the capital that the least stake is to reach: a claim at alpha 0.05
_GRID = np.arange(1, 17) / 16
_NOTHING = 1e-12
_OFFSETS = np.concatenate([-(4.0 ** -np.arange(1, 8)), 4.0 ** -np.arange(7, 0, -1)])
_CLOSE = 1e-6  # how near a bound is found, as a part of its distance from the mean
_ZOOMS = 6  # at most; four usually suffice
_FIT_A_CACHE = 4_000  # gains: with 10,000 users, 16 bets at once take 2.5 times as long as one after another


def log_capital(gains: Floats, worst: float | Floats, *, wide: bool = False) -> Floats:
    """Logarithm of the capital after each user.

    Args:
        gains: Those of a unit stake on each user, in the order drawn, as shares of the
            range of effects, ``(..., n)``.
        worst: The most that a unit stake can lose, above 0.
        wide: Whether effects are expected in the whole range, which must be known
            beforehand. This changes the number of users needed, not the error rate.

    Returns:
        The logarithms, of the shape of `gains`.
    """
    stakes, _, _ = _stakes(gains, worst, wide)
    return np.cumsum(np.log1p(stakes * gains), axis=-1)


def log_capital_of_any(gains: Floats, worst: Floats, *, wide: bool = False) -> Floats:
    """Logarithm of the capital of one bettor who can bet on one of several gains at a
    time.

    This tests the hypothesis that all means are 0 or less. For each user, the bettor
    uses the gain that promised the most growth so far. So a claim that can be true in
    several ways needs hardly more users than each way alone, and alpha is not divided.

    Args:
        gains: Those of a unit stake on each user in each way, ``(ways, n)``; as in
            `log_capital`.
        worst: The most that a unit stake can lose in each way, ``(ways, 1)``.
        wide: As in `log_capital`.

    Returns:
        The logarithms after each user, ``(n,)``.
    """
    stakes, mean, square = _stakes(gains, worst, wide)
    growth = stakes * (mean - stakes * square / 2)
    users = np.arange(gains.shape[-1])
    best_way = np.argmax(growth, axis=0)
    won = stakes[best_way, users] * gains[best_way, users]
    return np.cumsum(np.log1p(won))


def _stakes(
    gains: Floats,
    worst: float | Floats,
    wide: bool,
) -> tuple[Floats, Floats, Floats]:
    """The stake on each user, and the mean gain and its mean square as they were
    expected before that user.
    """
    worst = np.asarray(worst, np.float64)
    if wide:
        prior = WIDE_PRIOR
        spread = np.asarray(np.sqrt(np.clip(worst * (1 - worst), 1e-4, None)))
        imagined = _moments(np.asarray(WIDE_HOPED * spread), spread)
    else:
        prior = PRIOR
        imagined = _IMAGINED
    users = _users(prior, gains.shape[-1])

    def before(powers: Floats, imagined: Floats) -> Floats:
        """The mean of powers of the gains of all earlier
        users, those imagined included.
        """
        # The sum never includes the current user. Subtracting that user later would
        # leave a rounding error that depends on the user, and a bettor who chooses
        # between ways could use it.
        sums = np.empty(gains.shape)
        sums[..., :1] = 0.0
        powers[..., :-1].cumsum(axis=-1, out=sums[..., 1:])
        sums += prior * imagined
        sums /= users
        return sums

    squares = gains * gains
    mean = before(gains, imagined[0])
    square = before(squares, imagined[1])
    # If few users lose much, a stake from the variance alone is too bold for any
    # growth. The third term of log(1 + b g) lowers it. The term is not used if few
    # users gain much, because the series may diverge.
    cubes = squares * gains  # a power of 3 takes a hundred times as long
    cube = np.minimum(before(cubes, imagined[2]), 0.0)
    root = np.sqrt(square**2 - 4 * cube * np.maximum(mean, 0.0))
    best = 2 * mean / (square + root)
    # A stake b turns a total gain G of h users into a log capital of about b G - b^2 h
    # square / 2. This b needs the least G to reach the target.
    horizons = _horizons(gains.shape[-1])
    least = np.sqrt(2 * _TARGET / (horizons * square))
    stakes: Floats = np.minimum(np.maximum(best, least), BOLDEST / worst)
    return stakes, mean, square


def _moments(mean: Floats, spread: Floats) -> tuple[Floats, Floats, Floats]:
    """The mean of the first three powers of gains of this
    mean and deviation, without skew.
    """
    return mean, mean**2 + spread**2, mean**3 + 3 * mean * spread**2


_IMAGINED = _moments(np.asarray(HOPED), np.asarray(SPREAD))


@lru_cache(maxsize=64)
def _users(prior: int, users: int) -> Floats:
    """How many users are known before each user, ``(users,)``, those imagined included."""
    known: Floats = prior + np.arange(users, dtype=np.float64)
    known.flags.writeable = False
    return known


@lru_cache(maxsize=64)
def _horizons(users: int) -> Floats:
    """For each user, ``(users,)``, the smallest of `HORIZON`, twice, four times it and
    so on that is above the users before.
    """
    doublings = np.ceil(np.log2((np.arange(users) + 1) / HORIZON))
    horizons: Floats = HORIZON * 2.0 ** np.maximum(doublings, 0)
    horizons.flags.writeable = False
    return horizons


def p_of_any(gains: Floats, worst: Floats, *, wide: bool = False) -> float:
    """P-value of the hypothesis that all means are 0 or less; see `log_capital_of_any`."""
    if _is_surely_won(gains, worst):
        return 0.0
    capital = log_capital_of_any(gains, np.maximum(worst, _NOTHING), wide=wide)
    return math.exp(-max(0.0, float(capital.max())))


def p_of_some(gains: Floats, worst: Floats) -> float:
    """P-value of the hypothesis that all means are 0 or less, if all ways, ``(ways,
    n)``, share the capital.

    Each way starts with an equal share and keeps its gains. So the p-value is never
    above that of any way times their number (Bonferroni), and it is lower if several
    ways gain. A gain is 0 if a way does not bet on a user.
    """
    if _is_surely_won(gains, worst):
        return 0.0
    capital_of_each = np.exp(log_capital(gains, np.maximum(worst, _NOTHING)))
    capital = capital_of_each.mean(axis=0)
    return 1.0 / max(1.0, float(capital.max()))


def _is_surely_won(gains: Floats, worst: Floats) -> bool:
    """Whether a bet that cannot lose gained, so that no stake on it is too high."""
    cannot_lose = worst[:, 0] <= TIE
    return bool((gains[cannot_lose] > TIE).any())


class Bets(Mean):
    """The estimate of all users' mean effect from the users asked so far; a
    `bounds.Mean`.

    Bounds and p-values are valid at all numbers of users at once. The set of means that
    are not rejected may have gaps. The bounds are those of its hull, so only p-values
    decide.

    Args:
        effects: In the order drawn, from `low` to `high`, ``(n,)``, n at least 1.
        low: The smallest possible effect.
        high: The largest possible one.
        unknown: Before which effect each user stands whose effect is unknown. Each
            counts as the smallest possible for the claim that the mean is above a
            value, and as the largest possible for the opposite claim.
        wide: As in `log_capital`.

    Raises:
        OracleError: If the range is infinite, or an effect lies outside it.
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
                f"give the score a finite span",
            )
        slack = 1e-9 * max(1.0, high - low)  # rounding
        outside = ~((effects >= low - slack) & (effects <= high + slack))
        if outside.any():
            raise OracleError(
                f"an effect of {float(effects[outside][0]):g} lies outside the range from {low:g} to "
                f"{high:g} that was declared for it, so no bet on it is safe; make sure that the span "
                f"of the score is valid for every answer to both requests",
            )
        effects = np.clip(effects, low, high)
        self.estimate = float(effects.mean())
        self.low = low
        self.high = high
        self._scale = (high - low) or 1.0
        self._wide = wide
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
        """The largest log capital of bets that the mean is below each of `values`."""
        return self._won(values[:, None] - self._most, self.high - values)

    def _won(self, gains: Floats, worst: Floats) -> Floats:
        """The largest log capital of several bets, ``(values,)``.

        Args:
            gains: Those of a unit stake, ``(values, n)``.
            worst: The most that it can lose, ``(values,)``.
        """
        gains = gains / self._scale
        worst = worst / self._scale
        cannot_lose = worst <= TIE
        won = np.zeros(len(worst))
        if not cannot_lose.all():
            worst_of_each = np.maximum(worst, _NOTHING)[:, None]
            bets_at_once = max(1, _FIT_A_CACHE // gains.shape[-1])
            for first in range(0, len(worst), bets_at_once):
                some = slice(first, first + bets_at_once)
                capital = log_capital(gains[some], worst_of_each[some], wide=self._wide)
                won[some] = np.maximum(capital.max(axis=-1), 0.0)
        if cannot_lose.any():
            # A bet that cannot lose is won after one gain; without any gain it is not
            # won.
            is_surely_won = (worst < -TIE) | (gains > TIE).any(axis=-1)
            won[cannot_lose] = np.where(is_surely_won, np.inf, 0.0)[cannot_lose]
        return won

    def _hull(self, won: Callable[[Floats], Floats], end: float, alpha: float) -> float:
        """The end of the rejected interval that starts at
        `end`, between `end` and the sample mean.
        """
        enough = -math.log(alpha)
        won_at_end = float(won(np.array([end]))[0])
        if won_at_end < enough:
            return end
        inside = self.estimate
        won_inside = 0.0
        near = _CLOSE * abs(inside - end)
        parts = _GRID
        for _ in range(_ZOOMS):
            values = end + (inside - end) * parts
            won_at = won(values)
            not_rejected = np.flatnonzero(won_at < enough)
            first = int(not_rejected[0]) if len(not_rejected) else len(values) - 1
            if first > 0:
                end = float(values[first - 1])
                won_at_end = float(won_at[first - 1])
            inside = float(values[first])
            won_inside = float(won_at[first])
            if abs(inside - end) <= near:
                break
            parts = _parts_around(enough, won_at_end, won_inside)
        return end


def _parts_around(enough: float, won_at_end: float, won_inside: float) -> Floats:
    """Where to look for the end of a rejected interval, as parts of the distance from a
    rejected value to one that is not.

    The log capital grows about as the square of the distance from the sample mean, so
    its root is about linear.

    Args:
        enough: The log capital that rejects.
        won_at_end: The log capital at the rejected value, at least `enough`.
        won_inside: The log capital at the other value, below `enough`.

    Returns:
        Rising parts up to 1, most of them near the place where a line through both
        roots has the root of `enough`.
    """
    if not math.isfinite(won_at_end) or won_inside >= enough:
        return _GRID
    root_at_end, root_inside = math.sqrt(won_at_end), math.sqrt(won_inside)
    expected = (root_at_end - math.sqrt(enough)) / (root_at_end - root_inside)
    parts = expected + _OFFSETS
    return np.append(parts[(parts > 0) & (parts < 1)], 1.0)
