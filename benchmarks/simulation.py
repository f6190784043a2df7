"""Effects of real lists: simulated users whose answers are
noisy, scored by the kernel that oracles use.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from benchmarks.shapes import Draw, Floats
from pytest_recsys_mt.oracles.judging.effect import agreement_between, agreement_within
from pytest_recsys_mt.oracles.similarities.rbo import rbo

Lists = NDArray[np.int32]

CANDIDATES, K, POOL = 20, 10, 20_000
TEMPERATURES = (0.0, 0.1, 0.3, 1.0)


@dataclass(frozen=True)
class World:
    """Simulated users and the noise of their answers, the same for every fault.

    Args:
        temperature: Of the Gumbel noise on utilities of variance 1; at 0 there is one
            replicate.
        seed: Of all draws.
    """

    temperature: float
    seed: int
    utility: Floats = field(init=False, repr=False)
    other: Floats = field(init=False, repr=False)
    noise: Floats = field(init=False, repr=False)

    def __post_init__(self) -> None:
        rng = np.random.default_rng(self.seed)
        shape = (POOL, CANDIDATES)
        sides = (2, POOL, 2 if self.temperature else 1, CANDIDATES)
        object.__setattr__(self, "utility", rng.standard_normal(shape))
        object.__setattr__(self, "other", rng.standard_normal(shape))
        object.__setattr__(self, "noise", self.temperature * rng.gumbel(size=sides))

    def effects(self, strength: float) -> Floats:
        """The effect of every user where the follow-up's utility is turned towards
        another one.

        Args:
            strength: From 0, the same utility, to 1, an independent one.

        Returns:
            ``(POOL,)``.
        """
        source, followup = self._sides(strength)
        floor = agreement_within(source, rbo) / 2 + agreement_within(followup, rbo) / 2
        return floor - agreement_between(source, followup, rbo)

    def disagreement(self, strength: float) -> Floats:
        """How far source and follow-up are from identity, with no regard to noise,
        ``(POOL,)``.

        Args:
            strength: As of `effects`.
        """
        return 1 - agreement_between(*self._sides(strength), rbo)

    def _sides(self, strength: float) -> tuple[Lists, Lists]:
        turned = math.sqrt(1 - strength**2) * self.utility + strength * self.other
        return _lists(self.utility, self.noise[0]), _lists(turned, self.noise[1])


def _lists(utility: Floats, noise: Floats) -> Lists:
    order = np.argsort(-(utility[:, None, :] + noise), axis=2)
    return order[:, :, :K].astype(np.int32)


def lists() -> Mapping[str, Draw]:
    """Recommenders of which some users get an unrelated
    answer and the others their own again.
    """
    return {
        f"lists at temperature {temperature:g}, some turned": some_wholly(
            World(temperature, 1),
        )
        for temperature in TEMPERATURES
    }


def some_wholly(world: World) -> Draw:
    """The distribution of effects where so many users get an
    unrelated answer that the mean is exact.
    """
    calm, upset = world.effects(0), world.effects(1)
    calm = calm - calm.mean()  # of a pool that large, 0 but for a thousandth

    def draw(rng: Generator, shape: tuple[int, ...], mean: float) -> Floats:
        turned = rng.random(shape) < mean / upset.mean()
        return np.where(turned, rng.choice(upset, shape), rng.choice(calm, shape))

    return draw
