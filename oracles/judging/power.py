"""What an inconclusive verdict needs: how many more users, and which effect it could have shown."""

import math

import numpy as np

from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.judging.effect import Effects
from pytest_recsys_mt.oracles.statistics.betting import log_capital
from pytest_recsys_mt.oracles.statistics.bounds import first_of

POWER = 0.8
"""Probability of a clear verdict with the reported effect or number of users."""

MOST = 10_000
"""Largest number of further users that is searched and reported."""

_RUNS = 40  # Samples of users drawn from those seen.
_SURE = 400  # Samples of which all must show it.
_SURE_BOUNDS = 2.8  # Bounds are 1.645 standard errors wide; three more make sure.
_NEAR = 1_000
_SEED = 20_051  # Fixed, so that a verdict depends only on the answers.
_HALVINGS = 12


def outlook(effects: Effects, value: float, above: bool, alpha: float, most: int = 0) -> str:
    """How many more users a sample needs to show on which side of `value` its mean lies, in words.

    `above` says whether means above it break the promise, and `most` how many users the data has, 0 if unknown.
    """
    more = further_users(effects, value, alpha)
    users = len(effects.rows)
    need = (
        f"if the mean is really {effects.effect.mean():.3g}, {MOST:,} users would not settle on which side of "
        f"{value:g} it is"
        if more is None
        else f"about {more} more {'user' if more == 1 else 'users'} like these would settle it"
    )
    if more is not None and 0 < most < users + more:
        need += f", but the data has only {most}; use larger data or a wider margin"
    extreme = extreme_visible(effects, value, alpha, above=above)
    side = "above" if above else "below"
    seen = (
        f"{users} {'user is' if users == 1 else 'users are'} too few to show any mean {side} {value:g}"
        if extreme is None
        else f"{users} users can distinguish a mean of {extreme:.3g} or {'more' if above else 'less'} "
        f"from {value:g}"
    )
    return f"{need}; {seen}"


def users_needed(
    effects: Effects, value: float, above: bool, alpha: float, room: float
) -> int | None:
    """Of how many users, at most `MOST`, a share `POWER` of samples shows a promise that is kept; None if few enough do.

    The effects keep their spread around a mean that keeps the promise by `room`; shares that cannot, by half of it.
    """
    low, high = effects.reach
    centre = max(low, value - room) if above else min(high, value + room)
    if abs(centre - value) < 1e-12:
        return None
    rng = np.random.default_rng(_SEED)
    for most in (len(effects.effect), _NEAR, MOST):
        runs = _SURE if most == len(effects.effect) else _RUNS
        drawn = rng.choice(effects.effect, size=(runs, most))
        if centre in (low, high):
            # Effects have no room beyond their end, so some of them are moved there.
            mean = (value + centre) / 2
            part = (mean - centre) / (effects.effect.mean() - centre or math.inf)
            drawn = np.where(rng.random(drawn.shape) < part, drawn, centre)
        else:
            drawn = drawn - effects.effect.mean() + centre
        reached = _reached(np.clip(drawn, low, high), effects, value, alpha, not above)
        if most == len(effects.effect):
            if np.isfinite(reached).mean() > 1 - 1 / _SURE:
                return None
            continue
        needed = float(np.quantile(reached, POWER, method="higher"))
        if math.isfinite(needed):
            return max(int(needed), len(effects.effect) + 1)
    return MOST


def least_change(users: int, alpha: float) -> float:
    """The smallest limit on a loss of agreement that so many users show to be kept, if nobody's answer moves."""
    still = Effects(np.empty(0, np.intp), np.empty(0), reach=(-0.5, 1.0))
    drawn = np.zeros((1, users))
    return first_of(
        lambda limit: bool(np.isfinite(_reached(drawn, still, limit, alpha, False)).all()),
        _HALVINGS,
    )


def joint_users_needed(users: int, bounds: tuple[float, float], room: float) -> int | None:
    """As `users_needed`, for a number of all users together with approximate bounds."""
    wide = _SURE_BOUNDS * (bounds[1] - bounds[0]) / 2
    return math.ceil(users * (wide / room) ** 2) if wide > room > 0 else None


def further_users(effects: Effects, value: float, alpha: float) -> int | None:
    """How many further users like these would show the side of `value` with probability `POWER`; None above `MOST`."""
    effect, rng = effects.effect, np.random.default_rng(_SEED)
    if abs(float(effect.mean()) - value) < 1e-12:
        return None
    above = bool(effect.mean() > value)
    runs = 1 if np.ptp(effect) == 0 else _RUNS
    for most in (_NEAR, MOST):
        later = rng.choice(effect, size=(runs, most))
        drawn = np.concatenate([np.tile(effect, (runs, 1)), later], 1)
        reached = _reached(drawn, effects, value, alpha, above)
        needed = float(np.quantile(reached, POWER, method="higher"))
        if math.isfinite(needed):
            return max(1, int(needed) - len(effect))
    return None


def extreme_visible(effects: Effects, value: float, alpha: float, *, above: bool) -> float | None:
    """The mean nearest to `value` that this many users show to be `above` or below it with probability `POWER`, if any."""
    effect, rng = effects.effect, np.random.default_rng(_SEED)
    low, high = effects.reach
    far = high if above else low
    drawn = rng.choice(effect, size=(_RUNS, len(effect)))
    chance = rng.random(drawn.shape)
    varied = float(effect.std()) > 1e-9

    def moved(part: float) -> Floats:
        """The sample with its mean moved by a part of the way to the far end."""
        if varied:  # at the far end all are equal
            return np.clip(drawn + part * (2 * far - low - high), low, high)
        return np.where(chance < part, far, drawn)

    def seen(part: float) -> bool:
        sample = moved(part)
        shown = np.isfinite(_reached(sample, effects, value, alpha, above)).mean() >= POWER
        return bool(shown) and bool(sample.mean() > value) is above

    return float(moved(first_of(seen, _HALVINGS)).mean()) if seen(1.0) else None


def _reached(drawn: Floats, effects: Effects, value: float, alpha: float, above: bool) -> Floats:
    low, high = effects.reach
    scale = (high - low) or 1.0
    gains, worst = (drawn - value, value - low) if above else (value - drawn, high - value)
    capital = log_capital(gains / scale, max(worst / scale, 1e-12), wide=effects.wide)
    enough = capital >= -math.log(alpha)
    return np.where(enough.any(axis=1), enough.argmax(axis=1) + 1.0, np.inf)
