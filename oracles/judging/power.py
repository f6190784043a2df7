"""The needs of an inconclusive verdict: how many more users,
and which effect it could have shown.
"""

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

_RUNS = 40
"""Samples of users drawn from those seen."""

_SURE_RUNS = 400
"""Samples of which all must show it."""

_SURE_BOUNDS = 2.8
"""Bounds are 1.645 standard errors wide; three more make sure."""

_NEAR = 1_000
"""Users that are tried before `MOST`, because it is faster."""

_SEED = 20_051
"""Fixed, so that a verdict depends only on the answers."""

_HALVINGS = 12
_EQUAL = 1e-12


def outlook(
    effects: Effects,
    value: float,
    above: bool,
    alpha: float,
    most: int = 0,
) -> str:
    """How many more users a sample needs to show on which side of a limit its mean
    lies, in words.

    Args:
        effects: The effects of the users asked so far.
        value: The limit.
        above: Whether means above it break the promise.
        alpha: The error rate of a claim.
        most: How many users the data has; 0 if unknown.
    """
    low, high = effects.reach
    end_of_range = low if above else high
    if value == end_of_range:
        side = "above" if above else "below"
        need = (
            f"no sample shows that the mean is exactly {value:g}, the end of its range: give a limit {side} "
            f"{value:g}"
        )
    else:
        need = _need_in_words(effects, value, alpha, most)
    visible = _visible_in_words(effects, value, above, alpha)
    return f"{need}; {visible}"


def _need_in_words(effects: Effects, value: float, alpha: float, most: int) -> str:
    more = further_users(effects, value, alpha)
    if more is None:
        mean = effects.effect.mean()
        return (
            f"if the mean is really {mean:.3g}, {MOST:,} users would not settle on which side of "
            f"{value:g} it is"
        )
    noun = "user" if more == 1 else "users"
    need = f"about {more} more {noun} like these would settle it"
    if 0 < most < len(effects.rows) + more:
        return (
            f"{need}, but the data has only {most}; use larger data or a wider margin"
        )
    return need


def _visible_in_words(effects: Effects, value: float, above: bool, alpha: float) -> str:
    users = len(effects.rows)
    extreme = extreme_visible(effects, value, alpha, above=above)
    if extreme is None:
        too_few = "user is" if users == 1 else "users are"
        side = "above" if above else "below"
        return f"{users} {too_few} too few to show any mean {side} {value:g}"
    direction = "more" if above else "less"
    return f"{users} users can distinguish a mean of {extreme:.3g} or {direction} from {value:g}"


def users_needed(
    effects: Effects,
    value: float,
    above: bool,
    alpha: float,
    room: float,
) -> int | None:
    """Of how many users, at most `MOST`, a share `POWER` of samples shows a promise
    that is kept.

    The effects keep their spread around a mean that keeps the promise by `room`; shares
    that cannot, by half of it.

    Args:
        effects: The effects of the users asked so far.
        value: The limit of the promise.
        above: Whether means above it break the promise.
        alpha: The error rate of a claim.
        room: The distance of the assumed mean from the limit.

    Returns:
        The number of users, more than were asked; None if so many as were asked are
        enough.
    """
    low, high = effects.reach
    centre = max(low, value - room) if above else min(high, value + room)
    if abs(centre - value) < _EQUAL:
        return None
    users = len(effects.effect)
    rng = np.random.default_rng(_SEED)
    for most in (users, _NEAR, MOST):
        runs = _SURE_RUNS if most == users else _RUNS
        drawn = rng.choice(effects.effect, size=(runs, most))
        moved = _moved_to(centre, drawn, effects, value, rng)
        reached = reached_by(
            np.clip(moved, low, high),
            effects,
            value,
            alpha,
            above=not above,
        )
        if most == users:
            if np.isfinite(reached).mean() > 1 - 1 / _SURE_RUNS:
                return None
            continue
        needed = _with_power(reached)
        if needed is not None:
            return max(needed, users + 1)
    return MOST


def _moved_to(
    centre: float,
    drawn: Floats,
    effects: Effects,
    value: float,
    rng: np.random.Generator,
) -> Floats:
    """Samples of effects, moved so that their mean keeps the promise."""
    mean = float(effects.effect.mean())
    if centre not in effects.reach:
        shifted: Floats = drawn - mean + centre
        return shifted
    # Effects have no room beyond their end, so some of them are moved there.
    halfway = (value + centre) / 2
    distance = (mean - centre) or math.inf
    share_kept = (halfway - centre) / distance
    moved: Floats = np.where(rng.random(drawn.shape) < share_kept, drawn, centre)
    return moved


def least_change(users: int, alpha: float) -> float:
    """The smallest limit on a loss of agreement that so many users
    show to be kept, if nobody's answer moves.
    """
    no_effects = Effects(np.empty(0, np.intp), np.empty(0), reach=(-0.5, 1.0))
    unmoved = np.zeros((1, users))

    def is_shown(limit: float) -> bool:
        reached = reached_by(unmoved, no_effects, limit, alpha, above=False)
        return bool(np.isfinite(reached).all())

    return first_of(is_shown, _HALVINGS)


def joint_users_needed(
    users: int,
    bounds: tuple[float, float],
    room: float,
) -> int | None:
    """As `users_needed`, for a number of all users together with approximate bounds.

    Args:
        users: How many users were asked.
        bounds: The bounds of the number.
        room: The distance of the assumed number from the limit.
    """
    low, high = bounds
    sure_width = _SURE_BOUNDS * (high - low) / 2
    if sure_width > room > 0:
        return math.ceil(users * (sure_width / room) ** 2)
    return None


def further_users(effects: Effects, value: float, alpha: float) -> int | None:
    """How many further users like these would show on which side of a limit the mean
    lies.

    Args:
        effects: The effects of the users asked so far.
        value: The limit.
        alpha: The error rate of a claim.

    Returns:
        The number with which a share `POWER` of samples shows it; None if that is more
        than `MOST`.
    """
    effect = effects.effect
    mean = float(effect.mean())
    if abs(mean - value) < _EQUAL:
        return None
    rng = np.random.default_rng(_SEED)
    runs = 1 if np.ptp(effect) == 0 else _RUNS
    for most in (_NEAR, MOST):
        later = rng.choice(effect, size=(runs, most))
        drawn = np.concatenate([np.tile(effect, (runs, 1)), later], axis=1)
        reached = reached_by(drawn, effects, value, alpha, above=mean > value)
        needed = _with_power(reached)
        if needed is not None:
            return max(1, needed - len(effect))
    return None


def extreme_visible(
    effects: Effects,
    value: float,
    alpha: float,
    *,
    above: bool,
) -> float | None:
    """The mean nearest to a limit that so many users can distinguish from it.

    Args:
        effects: The effects of the users asked so far.
        value: The limit.
        alpha: The error rate of a claim.
        above: Whether means above the limit are meant, or those below.

    Returns:
        The mean that a share `POWER` of samples shows to be on that side; None if no
        mean is shown so often.
    """
    effect = effects.effect
    low, high = effects.reach
    far = high if above else low
    rng = np.random.default_rng(_SEED)
    drawn = rng.choice(effect, size=(_RUNS, len(effect)))
    chance = rng.random(drawn.shape)
    varied = float(effect.std()) > 1e-9

    def moved(part: float) -> Floats:
        """The sample with its mean moved by a part of the way to the far end."""
        if varied:  # at the far end all are equal
            return np.clip(drawn + part * (2 * far - low - high), low, high)
        return np.where(chance < part, far, drawn)

    def is_seen(part: float) -> bool:
        sample = moved(part)
        is_shown = np.isfinite(reached_by(sample, effects, value, alpha, above=above))
        on_that_side = bool(sample.mean() > value) is above
        return on_that_side and bool(is_shown.mean() >= POWER)

    if not is_seen(1.0):
        return None
    nearest = first_of(is_seen, _HALVINGS)
    return float(moved(nearest).mean())


def _with_power(reached: Floats) -> int | None:
    """The number of users after which a share `POWER` of the
    samples shows it; None if fewer samples ever do.
    """
    needed = float(np.quantile(reached, POWER, method="higher"))
    return int(needed) if math.isfinite(needed) else None


def reached_by(
    drawn: Floats,
    effects: Effects,
    value: float,
    alpha: float,
    *,
    above: bool,
) -> Floats:
    """After how many of its users each sample shows its mean to be above `value`, or
    below it.

    Args:
        drawn: Effects, ``(samples, users)``.
        effects: Holds the facts on effects.
        value: The limit.
        alpha: The error rate.
        above: Whether it is the side above that is to be shown.

    Returns:
        Numbers of users, ``(samples,)``; infinity where all together do not show it.
    """
    low, high = effects.reach
    scale = (high - low) or 1.0
    gains = drawn - value if above else value - drawn
    worst = value - low if above else high - value
    log_capitals = log_capital(
        gains / scale,
        max(worst / scale, _EQUAL),
        wide=effects.wide,
    )
    is_enough = log_capitals >= -math.log(alpha)
    first = is_enough.argmax(axis=1) + 1.0
    return np.where(is_enough.any(axis=1), first, np.inf)
