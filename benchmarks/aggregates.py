"""How often bounds that are called approximate miss: of aggregates, CandDif and effects
of places.

    python benchmarks/aggregates.py [RUNS]

Users are drawn with a history, twenty candidates of 120 items and one of them held out;
a ranker recommends five. Each world is a ranker: how much it likes popular items, how
well it knows the held-out one, and how much better or worse for users with a long
history. The truth is the mean number of as many users over all runs. Each of the two
bounds may miss in alpha of the runs; runs in which there is no number or no bound count
as none missed. Last, effects of places of which the largest is exactly the margin:
there every "holds" is an error.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType

import numpy as np

from pytest_recsys_mt.oracles import AGGREGATES, Aggregate
from pytest_recsys_mt.oracles.cand_dif import cand_dif_effects
from pytest_recsys_mt.oracles.judging.aggregate_effects import aggregate_value
from pytest_recsys_mt.oracles.judging.effect import Effects
from pytest_recsys_mt.oracles.no_position_bias import GroupEffects
from pytest_recsys_mt.oracles.scores.metrics import Metric, metric_named
from pytest_recsys_mt.requests import Item, Rating, Recommendation, Request, Scale
from pytest_recsys_mt.verdict.answers import Asked, Context, Pairs, Sample

ALPHAS = (0.05, 0.01)
USERS = (20, 40, 100, 300)
ITEMS = tuple(Item(f"i{number:03}") for number in range(120))
POPULARITY = {item.id: 2000 // (rank + 1) for rank, item in enumerate(ITEMS)}
CONTEXT = Context(
    items={item.id: item for item in ITEMS},
    popularity=POPULARITY,
    users=2000,
)
SEEN = tuple(Rating(Item(f"h{number}"), 5) for number in range(60))
LONG = 10
MARGIN = 0.1

WORLDS: Mapping[str, tuple[float, float, float]] = MappingProxyType(
    {
        "even": (0.5, 1, 0),
        "long is better": (0.5, 1, 2),
        "long is worse": (0.5, 1, -3),
        "popular items": (3, 0, 0),
        "by chance": (0, 0, 0),
        "nearly always right": (0.5, 5, 0),
        "nearly always wrong": (0.5, -1.5, 0),
    },
)
"""Of the ranker, in standard deviations or so: weight of popularity, utility of the
held-out item, and how much more of it where the history is long.
"""

Measure = Callable[[Sequence[Asked], Sequence[Asked]], Effects]


def draw(
    users: int,
    rng: np.random.Generator,
    world: tuple[float, float, float],
) -> tuple[Asked, ...]:
    """The answers to so many users."""
    popular, known, long_history_helps = world
    appeal = np.log(np.array(list(POPULARITY.values()), np.float64))
    wanted = np.exp(appeal / 2) / np.exp(appeal / 2).sum()
    asked = []
    for user in range(users):
        target = int(rng.choice(len(ITEMS), p=wanted))
        others = rng.permutation(len(ITEMS))
        offered = np.array([target, *others[others != target][:19]])
        history = min(1 + int(rng.exponential(15)), len(SEEN))
        utility = appeal[offered] * popular + rng.gumbel(size=len(offered))
        utility[0] += known + long_history_helps * (history > LONG)
        best = [ITEMS[place].id for place in offered[np.argsort(-utility)[:5]]]
        candidates = tuple(ITEMS[place] for place in offered)
        request = Request(f"u{user}", SEEN[:history], Scale(), candidates, 5)
        asked.append(
            Asked(
                request,
                (Recommendation(tuple(best)),),
                frozenset({ITEMS[target].id}),
            ),
        )
    return tuple(asked)


def measures() -> Iterator[tuple[str, Measure]]:
    """What is bounded: of the answers to some users, and of those of others."""
    for kind, make in AGGREGATES.items():
        yield kind, partial(_of_one, make(kind))
    metric = metric_named("hit@3")
    yield "cand_dif", partial(_of_both, metric)


def _of_one(
    aggregate: Aggregate,
    one: Sequence[Asked],
    other: Sequence[Asked],
) -> Effects:
    return aggregate_value(Sample(tuple(one)), CONTEXT, aggregate)


def _of_both(metric: Metric, one: Sequence[Asked], other: Sequence[Asked]) -> Effects:
    return cand_dif_effects(Pairs(tuple(one), tuple(other)), CONTEXT, metric=metric)


def misses(found: Sequence[Effects]) -> tuple[float, list[float]]:
    """The number of as many users, and the share of runs in which each bound misses it."""
    means = [effects.mean for effects in found if effects.mean is not None]
    bounded = [e.mean for e in found if e.mean is not None and not e.obstacle]
    truth = float(np.mean([mean.estimate for mean in means])) if means else np.nan
    missed = [
        sum(miss) / len(found)
        for alpha in ALPHAS
        for miss in (
            [mean.lower(alpha) > truth + 1e-9 for mean in bounded],
            [mean.upper(alpha) < truth - 1e-9 for mean in bounded],
        )
    ]
    return truth, missed


def held(runs: int, users: int, groups: int, accuracy: float) -> list[float]:
    """How often all effects of places are called smaller
    than what the first group's is.
    """
    rng = np.random.default_rng([users, groups])
    found = []
    for _ in range(runs):
        places = rng.integers(0, groups, users)
        values = (rng.random(users) < accuracy + MARGIN * (places == 0)).astype(
            np.float64,
        )
        effects = GroupEffects(values, places, groups)
        found.append(
            [effects.upper(a) < MARGIN and effects.lower(a) > -MARGIN for a in ALPHAS],
        )
    return [float(share) for share in np.mean(found, axis=0)]


def main(runs: int) -> None:
    """Print the share of runs in which each bound misses."""
    print(
        f"{runs} runs each; the number of as many users, and the bounds that miss it\n",
    )
    heads = "".join(
        f"{f'{side} {alpha}':>12}" for alpha in ALPHAS for side in ("lower", "upper")
    )
    print(f"{'world':<20}{'users':>6}  {'number of all':<16}{'mean':>8}{heads}")
    worst: dict[str, list[float]] = {}
    for world, ranker in WORLDS.items():
        for users in USERS:
            rng = np.random.default_rng(users)
            populations = [draw(users, rng, ranker) for _ in range(runs)]
            for kind, measure in measures():
                # The sides of CandDif are paired by user; where the truth is 0, so are
                # its parts.
                others = [*populations[1:], populations[0]]
                found = [
                    measure(*pair) for pair in zip(populations, others, strict=True)
                ]
                truth, missed = misses(found)
                worst[kind] = [
                    max(pair)
                    for pair in zip(worst.get(kind, missed), missed, strict=True)
                ]
                shares = "".join(f"{share:>12.3f}" for share in missed)
                print(
                    f"{world:<20}{users:>6}  {kind:<16}{truth:>8.3f}{shares}",
                    flush=True,
                )
    for kind, missed in worst.items():
        print(
            f"{'the worst of all':<28}{kind:<24}{''.join(f'{m:>12.3f}' for m in missed)}",
        )
    print(
        f"\n{'groups':>8}{'users':>6}{'accuracy':>10}{'holds .05':>12}{'holds .01':>12}",
    )
    for groups in (2, 4):
        for users in (100, 300, 1000):
            for accuracy in (0.05, 0.3, 0.85):
                shares = "".join(
                    f"{s:>12.3f}" for s in held(runs, users, groups, accuracy)
                )
                print(f"{groups:>8}{users:>6}{accuracy:>10}{shares}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
