"""Error rates of a verdict: thousands of simulated runs whose true effect is known exactly.

The effects of a large pool of simulated users are computed once, by the kernels that oracles use.
A run draws users from the pool with replacement, so the mean of the pool *is* the true effect, and
a margin can be put exactly there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from pytest_recsys_mt.answers import Answers, Asked, Context, Pairs, Sample
from pytest_recsys_mt.oracles.bounds import mean_of
from pytest_recsys_mt.oracles.effect import Effects, agreement_between, agreement_within
from pytest_recsys_mt.oracles.judge import Claim, judge_pair
from pytest_recsys_mt.oracles.looks import Looks
from pytest_recsys_mt.oracles.rbo import rbo
from pytest_recsys_mt.requests import Recommendation, Request, Scale
from pytest_recsys_mt.verdict import Status

Floats = NDArray[np.float64]
Lists = NDArray[np.int32]

ALPHA, MARGIN = 0.05, 0.05
CANDIDATES, K, POOL = 20, 10, 20_000
POWER = 0.95
"""Share of runs that must reach the right verdict at no effect and at twice the margin."""

CALM = 0.13
"""Standard deviation of effects up to which 100 users must do."""


@dataclass(frozen=True)
class World:
    """Simulated users and the noise of their answers, the same for every fault.

    Args:
        temperature: Of the Gumbel noise on utilities of variance 1; at 0 there is one replicate.
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

    @property
    def deterministic(self) -> bool:
        """Whether answers hold no noise."""
        return self.temperature == 0

    def effects(self, strength: float) -> Floats:
        """The effect of every user where the follow-up's utility is turned towards another one.

        Args:
            strength: From 0, the same utility, to 1, an independent one.

        Returns:
            ``(POOL,)``.
        """
        source, followup = self._sides(strength)
        floor = agreement_within(source, rbo) / 2 + agreement_within(followup, rbo) / 2
        return floor - agreement_between(source, followup, rbo)

    def disagreement(self, strength: float) -> Floats:
        """How far source and follow-up are from identity, with no regard to noise, ``(POOL,)``.

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


def everyone_a_little(world: World, effect: float) -> Floats:
    """A pool of which every user reacts, so much that the mean is about `effect`."""
    if effect == 0:
        return world.effects(0)
    low, high = 0.0, 1.0
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (middle, high) if world.effects(middle).mean() < effect else (low, middle)
    return world.effects(high)


def some_wholly(world: World, effect: float) -> Floats:
    """A pool of which some users get an unrelated answer and the others their own again."""
    calm, upset = world.effects(0), world.effects(1)
    share = effect / upset.mean()
    return np.where(np.arange(POOL) < share * POOL, upset, calm)


REACTIONS: Mapping[str, Callable[[World, float], Floats]] = {
    "every user a little": everyone_a_little,
    "some users wholly": some_wholly,
}


@dataclass(frozen=True)
class Given:
    """A side of answers that stand for effects drawn beforehand: users have numbers for names."""

    asked: tuple[Asked, ...]
    context: Context
    label: str = ""
    same_seed: bool = False

    def applicable(self, followup: Answers | None = None, /) -> int:
        """See `pytest_recsys_mt.answers.Answers`."""
        return len(self.asked)

    def sample(self, users: int | None = None) -> Sample:
        """See `pytest_recsys_mt.answers.Answers`."""
        return Sample(self.asked[:users])

    def pair(self, followup: Answers, /, users: int | None = None) -> Pairs:
        """See `pytest_recsys_mt.answers.Answers`."""
        return Pairs(self.asked[:users], self.asked[:users])

    def pair_anew(self, followup: Answers, /, users: int) -> None:
        """Nothing changes here."""
        return


@dataclass(frozen=True)
class Shares:
    """What became of simulated runs.

    Attributes:
        runs: How many.
        statuses: How many ended so.
        median_users: Users that the median run scored.
    """

    runs: int
    statuses: Mapping[Status, int]
    median_users: float

    def share(self, status: Status) -> float:
        """The part of the runs that ended so."""
        return self.statuses.get(status, 0) / self.runs


def simulate(
    pool: Floats, users: int, margin: float, runs: int, rng: Generator, *, exact: bool
) -> Shares:
    """Judge many runs of users drawn from a pool.

    Args:
        pool: Effects, ``(n,)``.
        users: Of each run.
        margin: Of the claim that the mean effect is at most that.
        runs: How many.
        rng: Draws the users.
        exact: Whether the recommender is deterministic.
    """
    claim = Claim("calibration", "at most", margin)
    context = Context(alpha=ALPHA, deterministic=exact)
    requests = [Request(str(user), (), Scale(), None, K) for user in range(users)]
    asked = tuple(Asked(request, (Recommendation(()),)) for request in requests)
    source, followup = Given(asked, context), Given(asked, context, "simulated")
    reach = (0.0 if exact else -1.0, 1.0)
    statuses: dict[Status, int] = {}
    scored = []
    for _ in range(runs):
        drawn = pool[rng.integers(len(pool), size=users)]

        def measure(pairs: Pairs, context: Context, drawn: Floats = drawn) -> Effects:
            effect = drawn[[int(one.user) for one in pairs.source]]
            rows = np.arange(len(effect))
            return Effects(rows, effect, mean_of(effect, *reach, exact), reach)

        verdict = judge_pair(source, followup, claim, measure)
        statuses[verdict.status] = statuses.get(verdict.status, 0) + 1
        scored.append(verdict.users)
    return Shares(runs, statuses, float(np.median(scored)))


def users_needed(deviation: float, distance: float, *, exact: bool) -> int:
    """Users with which a bound clears the margin with probability `POWER`.

    ``n = ((z_alpha + z_power) sd / distance)**2``, the normal approximation, with the alpha of the
    last look.

    Args:
        deviation: Standard deviation of the effects.
        distance: From the true mean effect to the margin.
        exact: Whether the recommender is deterministic, and looked at once.
    """
    from scipy.special import ndtri

    users = 2
    while True:
        last = list(Looks(users, single=exact))[-1]
        factor = ndtri(1 - last.level(ALPHA)) + ndtri(POWER)
        needed = math.ceil((factor * deviation / distance) ** 2)
        if needed <= users:
            return users
        users = needed


@dataclass(frozen=True)
class Row:
    """One line of the table of error rates.

    Attributes:
        temperature: Of the recommender.
        reaction: A key of `REACTIONS`.
        effect: True mean effect in margins: 0, 1 or 2.
        deviation: Standard deviation of the effects, ``sd(D)``.
        users: Of each run.
        shares: What became of the runs.
    """

    temperature: float
    reaction: str
    effect: int
    deviation: float
    users: int
    shares: Shares

    @property
    def wrong_way(self) -> float:
        """Share of runs that claim what is not so; at the margin either claim is an error."""
        holds, violated = self.shares.share("holds"), self.shares.share("violated")
        return {0: violated, 1: max(holds, violated), 2: holds}[self.effect]

    @property
    def right(self) -> float | None:
        """Share of runs with the right verdict; None at the margin, where neither claim is."""
        if self.effect == 1:
            return None
        return self.shares.share("holds" if self.effect == 0 else "violated")


def rows(
    temperature: float, reaction: str, runs: int, seed: int, effects: Sequence[int] = (0, 1, 2)
) -> list[Row]:
    """The error rates of one recommender and one kind of reaction.

    Args:
        temperature: Of the recommender; 0 is deterministic.
        reaction: A key of `REACTIONS`.
        runs: Simulated for each effect.
        seed: Of the world and the runs.
        effects: True mean effects, in margins.
    """
    world, rng = World(temperature, seed), np.random.default_rng([seed, 1])
    found = []
    for effect in effects:
        pool = REACTIONS[reaction](world, effect * MARGIN)
        # The pool's mean is only about the effect asked for; the margin follows it exactly.
        margin = float(pool.mean()) / effect if effect else MARGIN
        deviation = float(pool.std())
        users = 100
        if deviation > CALM and effect != 1:
            users = max(users, users_needed(deviation, margin, exact=world.deterministic))
        shares = simulate(pool, users, margin, runs, rng, exact=world.deterministic)
        found.append(Row(temperature, reaction, effect, deviation, users, shares))
    return found
