"""What an inconclusive verdict lacks: how many more users, and which effect it could have seen."""

from __future__ import annotations

import math

import numpy as np

from pytest_recsys_mt.oracles.bounds import Mean, Rate
from pytest_recsys_mt.oracles.drawn import Gaffke, unseen_share
from pytest_recsys_mt.oracles.kernel import Floats

POWER = 0.8
"""Probability with which the effect or the number of users named leads to a clear verdict."""

_MOST = 20_000
_PLANNING_DRAWS = 1_999


def outlook(
    mean: Mean, effect: Floats, reach: tuple[float, float], value: float, alpha: float
) -> str:
    """How far a sample is from settling on which side of `value` its mean lies, in words.

    Args:
        mean: The bounds used.
        effect: One a user, ``(n,)``.
        reach: The smallest and the largest effect there can be.
        value: The margin that neither bound is clear of.
        alpha: Error rate of each bound.
    """
    more = further_users(mean, effect, reach, value, alpha)
    smallest = smallest_visible(mean, effect, reach, value, alpha)
    users = len(effect)
    need = (
        f"the mean is so near {value:g} that {_MOST:,} users like these would not settle it"
        if more is None
        else f"about {more} more {'user' if more == 1 else 'users'} like these would settle it"
    )
    seen = (
        f"{users} users are too few to show any mean above {value:g}"
        if smallest is None
        else f"with {users} users a mean of {smallest:.3g} or more could be told from {value:g}"
    )
    return f"{need}; {seen}"


def further_users(
    mean: Mean, effect: Floats, reach: tuple[float, float], value: float, alpha: float
) -> int | None:
    """How many users beyond these would clear `value` with probability `POWER`.

    The mean and the spread are taken as they are in the sample. A distribution-free bound needs room
    for effects that no user has shown yet too: their share is at most ``1 - alpha**(1/n)``.

    Args:
        mean: The bounds used.
        effect: One a user, ``(n,)``.
        reach: The smallest and the largest effect there can be.
        value: The margin to be clear of.
        alpha: Error rate of each bound.

    Returns:
        At least 1, or None where 20,000 users would not do.
    """
    distance = abs(mean.estimate - value)
    spread = float(effect.std()) * (_z(alpha) + _z(1 - POWER))
    unseen = 0.0
    if isinstance(mean, Gaffke | Rate):
        unseen = reach[1] - mean.estimate if mean.estimate < value else mean.estimate - reach[0]

    def short(users: int) -> bool:
        return spread / math.sqrt(users) + unseen * unseen_share(users, alpha) >= distance

    if short(_MOST):
        return None
    few, many = 1, _MOST
    while few < many:
        middle = (few + many) // 2
        few, many = (middle + 1, many) if short(middle) else (few, middle)
    return max(1, many - len(effect))


def smallest_visible(
    mean: Mean, effect: Floats, reach: tuple[float, float], value: float, alpha: float
) -> float | None:
    """The smallest mean effect that this many users show to be above `value`.

    Args:
        mean: The bounds used.
        effect: One a user, ``(n,)``.
        reach: The smallest and the largest effect there can be.
        value: The margin to be above.
        alpha: Error rate of each bound.

    Returns:
        Where effects vary, the one seen with probability `POWER` at the spread of the sample. For
        a distribution-free bound, where the spread under another effect is unknown, the effect of the
        fewest users changing as far as can be. None where no effect would do.
    """
    users = len(effect)
    if not isinstance(mean, Gaffke | Rate):
        error = float(effect.std(ddof=1)) / math.sqrt(users)
        smallest = value + (_z(alpha) + _z(1 - POWER)) * error
        return smallest if smallest <= reach[1] else None

    def seen(changed: int) -> bool:
        effects = np.zeros(users)
        effects[:changed] = reach[1]
        return Gaffke(effects, reach[0], reach[1], _PLANNING_DRAWS).lower(alpha) > value

    if not seen(users):
        return None
    few, many = 0, users
    while few < many:
        middle = (few + many) // 2
        few, many = (few, middle) if seen(middle) else (middle + 1, many)
    return many / users * reach[1]


def _z(tail: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(1 - tail))
