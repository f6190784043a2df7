"""Distributions of users' effects whose true mean is known exactly, in [-1/2, 1]."""

import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LOW, HIGH, MARGIN = -0.5, 1.0, 0.05

Draw = Callable[[Generator, tuple[int, ...], float], Floats]
"""Effects of an array of users whose true mean is the
number, from 0 to twice the margin.
"""


def _normal(deviation: float, farthest: float) -> Draw:
    """Cut on both sides alike, so that the mean stays."""

    def draw(rng: Generator, shape: tuple[int, ...], mean: float) -> Floats:
        noise: Floats = deviation * rng.standard_normal(shape)
        return mean + noise.clip(-farthest, farthest)

    return draw


def _rare(share: float, jump: float) -> Draw:
    """Everybody moves by the same, and a share of users by
    `jump` more: the mean is exact together.
    """

    def draw(rng: Generator, shape: tuple[int, ...], mean: float) -> Floats:
        jumps: Floats = (rng.random(shape) < share).astype(np.float64)
        return mean + jump * (jumps - share)

    return draw


def _right(rng: Generator, shape: tuple[int, ...], mean: float) -> Floats:
    return mean - 0.1 + rng.beta(0.5, 4.5, shape)


def _left(rng: Generator, shape: tuple[int, ...], mean: float) -> Floats:
    return mean + (0.1 - rng.beta(0.5, 4.5, shape)) / 2


def _all_or_nothing(rng: Generator, shape: tuple[int, ...], mean: float) -> Floats:
    return (rng.random(shape) < mean).astype(np.float64)


def _u(rng: Generator, shape: tuple[int, ...], mean: float) -> Floats:
    return mean + 0.9 * (rng.beta(0.3, 0.3, shape) - 0.5)


def _lattice(rng: Generator, shape: tuple[int, ...], mean: float) -> Floats:
    return mean + 0.1 * (rng.binomial(4, 0.5, shape).astype(np.float64) - 2)


def _ties(rng: Generator, shape: tuple[int, ...], mean: float) -> Floats:
    moved = 5 * mean + np.clip(0.2 * rng.standard_normal(shape), -0.45, 0.45)
    return np.where(rng.random(shape) < 0.8, 0.0, moved)


CAUCHY = 0.03
"""Half the distance between its quartiles."""


def _cauchy(rng: Generator, shape: tuple[int, ...], mean: float) -> Floats:
    middle = _middle(mean)
    return np.clip(middle + CAUCHY * rng.standard_cauchy(shape), LOW, HIGH)


def _middle(mean: float) -> float:
    """Where a Cauchy distribution lies that has a mean once it is cut at the range."""
    from scipy.optimize import brentq

    def below(
        end: float,
    ) -> float:  # the integral of its distribution function up to there
        z = end / CAUCHY
        return end / 2 + CAUCHY / math.pi * (z * math.atan(z) - math.log1p(z * z) / 2)

    def off(middle: float) -> float:
        return HIGH - (below(HIGH - middle) - below(LOW - middle)) - mean

    return float(brentq(off, LOW, HIGH, xtol=1e-14))


SHAPES: Mapping[str, Draw] = {
    "normal, sd .06": _normal(0.06, 0.4),
    "normal, sd .12": _normal(0.12, 0.4),
    "normal, sd .2": _normal(0.2, 0.5),
    "skewed to the right": _right,
    "skewed to the left": _left,
    "all or nothing": _all_or_nothing,
    "1 in 20 by .9 more": _rare(1 / 20, 0.9),
    "1 in 50 by .9 more": _rare(1 / 50, 0.9),
    "1 in 100 by .9 more": _rare(1 / 100, 0.9),
    "1 in 500 by .9 more": _rare(1 / 500, 0.9),
    "1 in 20 by .5 less": _rare(1 / 20, -0.5),
    "1 in 50 by .5 less": _rare(1 / 50, -0.5),
    "1 in 100 by .5 less": _rare(1 / 100, -0.5),
    "1 in 500 by .5 less": _rare(1 / 500, -0.5),
    "either of two": _rare(1 / 2, 0.8),
    "U": _u,
    "lattice of .1": _lattice,
    "80 % at 0": _ties,
    "Cauchy, cut at the range": _cauchy,
}
"""Of independent users."""

GROUP = 20


def in_groups(rng: Generator, shape: tuple[int, ...], mean: float) -> Floats:
    """Users who are not independent: groups of `GROUP`, one
    after the other, share one effect.
    """
    *runs, users = shape
    groups = SHAPES["normal, sd .12"](rng, (*runs, -(-users // GROUP)), mean)
    return np.repeat(groups, GROUP, axis=-1)[..., :users]
