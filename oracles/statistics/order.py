"""Whether values depend on the order in which users were asked.

The bets of `betting` need users whose values do not depend on each other. Sending can
break that: answers of one batch share its numerics, and a server may answer the first
users differently while it warms up. Users are asked in the order in which they were
drawn, in blocks, and that order says nothing about them. So if values are independent,
each order of them is as likely as any other, and a permutation test needs no further
assumption. These statistics are compared with their values in random orders: the
variance between blocks of users, and the difference between the first and the last
quarter.

The number of users is fixed beforehand in such a test, but a run stops as soon as a
claim is made. With that rule of stopping, and no dependence, at most 0.3 % of the runs
of each law reached a p-value of `SUSPICIOUS` (``python -m benchmarks.order``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from pytest_recsys_mt.oracles.arrays import Floats

BLOCKS_OF = (20, 5)
"""Users of a block. Calls of 20 users are sent in a random order
(`engine.questions.BLOCK`), and the smallest step of a verdict asks 5
(`judging.steps.LEAST_STEP`), which are one batch of 30 calls if both sides have three
replicates.
"""

FEWEST = 2 * max(BLOCKS_OF)
"""Users that show a dependence at the least."""

SUSPICIOUS = 0.001
"""The order counts as a cause of the values if a p-value is at most this."""

_FIRST = 99
"""Random orders that are tried at first."""

_DOUBTFUL = 2
"""So many of them, at most, give a value as large if they leave a doubt."""

_ORDERS = 5999
"""Random orders that are tried then."""

_SEED = 0

BLOCKS = "users asked together are alike"
QUARTERS = "the first quarter of the users differs from the last"

UNPROVEN = (
    "the error rate, which assumes that users do not depend on each other, is not proven; warm the server up, or let it "
    "answer each request alone (a model of this machine with -o recsys_exact=true)"
)
"""The meaning of a dependence for a claim, and the advice on it."""


@dataclass(frozen=True)
class Dependence:
    """A dependence of values on the order of asking.

    Attributes:
        what: `BLOCKS` or `QUARTERS`, or both: a drift makes blocks alike too, and so
            may a batch a quarter.
        p_value: How likely a dependence as strong is in a random order; all statistics
            together.
    """

    what: str
    p_value: float

    @property
    def words(self) -> str:
        """The dependence in words."""
        return f"the values depend on the order of asking: {self.what} (p = {self.p_value:.2g})"


def dependence(series: Sequence[Mapping[str, float]]) -> Dependence | None:
    """Whether values depend on the order in which users were asked; None if this was
    not seen.

    Series of fewer than `FEWEST` users, and constant ones, say nothing. All are
    permuted alike, so they need not be independent of each other.

    Args:
        series: The values of one recommender, one series for each verdict, by user in
            the order of asking.
    """
    informative = [
        values_by_user for values_by_user in series if _is_informative(values_by_user)
    ]
    if not informative:
        return None
    users = dict.fromkeys(chain.from_iterable(informative))
    place = {user: at for at, user in enumerate(users)}
    values = [
        np.fromiter(values_by_user.values(), np.float64)
        for values_by_user in informative
    ]
    places = [
        np.array([place[user] for user in values_by_user])
        for values_by_user in informative
    ]
    seen = np.sum([_statistics(own[None])[0] for own in values], axis=0)
    rng = np.random.default_rng(_SEED)

    def as_large(orders: int) -> Floats:
        """How many of so many random orders give a value as
        large, for each statistic, ``(3,)``.
        """
        keys = rng.random((orders, len(users)))
        total = np.zeros((orders, len(seen)))
        for own_values, own_places in zip(values, places, strict=True):
            permutations = np.argsort(keys[:, own_places], axis=1)
            total += _statistics(own_values[permutations])
        counts: Floats = np.sum(total >= seen - 1e-9, axis=0, dtype=np.float64)
        return counts

    if as_large(_FIRST).min() > _DOUBTFUL:
        return None
    p_values = (1 + as_large(_ORDERS)) / (1 + _ORDERS)
    p_value = min(1.0, len(p_values) * float(p_values.min()))  # Bonferroni's correction
    if p_value > SUSPICIOUS:
        return None
    suspicious = len(p_values) * p_values <= SUSPICIOUS
    what = []
    if suspicious[:-1].any():
        what.append(BLOCKS)
    if suspicious[-1]:
        what.append(QUARTERS)
    return Dependence(" and ".join(what), p_value)


def _is_informative(values_by_user: Mapping[str, float]) -> bool:
    return len(values_by_user) >= FEWEST and len(set(values_by_user.values())) > 1


def _statistics(values: Floats) -> Floats:
    """The statistics of values in several orders: ``(orders, 3)`` from ``(orders, n)``."""
    centred = values - values.mean(axis=-1, keepdims=True)
    quarter = values.shape[-1] // 4
    first = centred[..., :quarter].mean(axis=-1)
    last = centred[..., -quarter:].mean(axis=-1)
    step = first - last
    between = [_between_blocks(centred, size) for size in BLOCKS_OF]
    spread = (centred**2).mean(axis=-1, keepdims=True)
    found: Floats = np.stack([*between, step**2 * quarter], axis=-1) / spread
    return found


def _between_blocks(centred: Floats, size: int) -> Floats:
    """The sum of squares between blocks of so many users, ``(orders,)``."""
    starts = np.arange(0, centred.shape[-1], size)
    sizes = np.diff(np.append(starts, centred.shape[-1]))
    sums = np.add.reduceat(centred, starts, axis=-1)
    between: Floats = (sums**2 / sizes).sum(axis=-1)
    return between
