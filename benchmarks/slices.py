"""Verdicts with groups of users: how often a claim is wrong, what they find, and how
many users they take.

    python -m benchmarks.slices [--runs 2000]

Prints Markdown, in minutes on one core. Errors are those of runs that never stop: a
claim counts that was ever made of any group for which it is wrong. What is found and
asked is that of the product's own steps.
"""

import argparse
import os
import tempfile
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from benchmarks.calibration import bound
from benchmarks.promises import recsys_of
from benchmarks.shapes import HIGH, LOW, MARGIN, SHAPES, Draw, Floats
from benchmarks.tables import table
from benchmarks.zoo.taste import Sound
from pytest_recsys_mt import relations
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.oracles.judging.claim import Claim, weights
from pytest_recsys_mt.oracles.judging.effect import Effects
from pytest_recsys_mt.oracles.judging.seen import Seen
from pytest_recsys_mt.oracles.judging.slices import Group
from pytest_recsys_mt.oracles.judging.steps import step_by_step
from pytest_recsys_mt.oracles.statistics.betting import log_capital
from pytest_recsys_mt.oracles.statistics.corrections import holm
from pytest_recsys_mt.requests import Recommendation, Request, Scale
from pytest_recsys_mt.verdict.answers import Asked, Context, Sample
from pytest_recsys_mt.verdict.verdict import Verdict

USERS = 200
ALPHA = 0.05
GROUPS = (3, 6, 12)
NAMES = (
    "normal, sd .12", "skewed to the right", "skewed to the left", "80 % at 0", "all or nothing",
    "1 in 20 by .9 more", "1 in 20 by .5 less", "either of two",
)  # fmt: skip
CALM = SHAPES["normal, sd .12"]


def members(groups: int, seed: int) -> list[np.ndarray]:
    """All users and each group, as places of users; the largest
    group has thrice the users of the smallest.
    """
    sizes = np.linspace(3, 1, groups)
    bounds = np.round(np.cumsum(sizes) / sizes.sum() * USERS).astype(int)
    order = np.random.default_rng(seed).permutation(USERS)
    parts = np.split(order, bounds[:-1])
    return [np.arange(USERS), *(np.sort(part) for part in parts)]


def p_values(effects: Floats) -> tuple[Floats, Floats]:
    """Of the claims "violated" and "holds" in runs that
    go on to the end, ``(runs,)`` each.
    """
    scale = HIGH - LOW

    def p_value(gains: Floats, worst: float) -> Floats:
        won: Floats = log_capital(gains / scale, worst / scale).max(axis=1)
        return np.exp(-np.maximum(won, 0.0))

    return p_value(effects - MARGIN, MARGIN - LOW), p_value(
        MARGIN - effects,
        HIGH - MARGIN,
    )


def wrong(
    draw: Draw,
    groups: int,
    at_margin: Sequence[int],
    runs: int,
    seed: int,
) -> tuple[float, float]:
    """In what part of the runs any wrong "violated", and any wrong "holds", was ever
    claimed.

    Args:
        draw: The shape of the effects.
        groups: How many groups.
        at_margin: The groups whose mean is the margin, so that either claim is wrong;
            that of the others is 0.
        runs: How many.
        seed: Of the draws.
    """
    rng, places = np.random.default_rng(seed), members(groups, seed)
    effects = draw(rng, (runs, USERS), 0.0)
    for group in at_margin:
        own = places[1 + group]
        effects[:, own] = draw(rng, (runs, len(own)), MARGIN)
    found = [p_values(effects[:, own]) for own in places]
    broken, kept = (
        np.stack([each[claim] for each in found], axis=1) for claim in (0, 1)
    )
    # "Violated" is wrong of everybody, "holds" of the groups at the margin, and of all
    # users if all groups are.
    touched = [1 + group for group in at_margin]
    whole = [0] if len(touched) == groups else []
    errors = [0, 0]
    for run in range(runs):
        errors[0] += min(holm(broken[run].tolist(), weights(groups))) <= ALPHA
        if kept[run, 0] <= ALPHA:
            adjusted = [kept[run, 0], *holm(kept[run, 1:].tolist())]
            errors[1] += any(adjusted[place] <= ALPHA for place in [*whole, *touched])
    return errors[0] / runs, errors[1] / runs


def errors(runs: int) -> Iterator[str]:
    """Wrong claims of families."""
    rows, worst = [], 0.0
    for name in NAMES:
        cells = []
        for groups in GROUPS:
            everywhere = wrong(SHAPES[name], groups, range(groups), runs, 1)
            half = wrong(SHAPES[name], groups, range(groups // 2), runs, 2)
            worst = max(worst, *everywhere, *half)
            cells += [
                " / ".join(f"{100 * rate:.1f}" for rate in rates)
                for rates in (everywhere, half)
            ]
        rows.append((name, *cells))
    rates = len(NAMES) * len(GROUPS) * 4
    limit = bound(runs, ALPHA, rates)
    above = "no rate is" if worst <= limit else "THERE IS A RATE"
    yield "## Groups of users: wrong claims of all users and any group, at alpha 0.05"
    yield ""
    heads = [
        f"{groups} groups, {which}" for groups in GROUPS for which in ("all", "half")
    ]
    yield from table(("effects", *heads), rows)
    yield (
        f'% of runs in which "violated" / "holds" was ever wrongly claimed of anybody, with {USERS} users, where the '
        f"true mean is the margin in all groups, or in half of them and 0 in the others. The largest is "
        f"{100 * worst:.2f}. If every true rate is at most 5, any of these {rates} comes out above "
        f"{100 * limit:.2f} with probability 0.01 (binomial, {runs:,} runs, Bonferroni): {above} above it."
    )
    yield ""


ASKED = tuple(
    Asked(Request(f"u{place}", (), Scale(), None, 10), (Recommendation(()),))
    for place in range(USERS)
)


def verdict(effects: Floats, groups: Sequence[np.ndarray]) -> Verdict:
    """The verdict of the product's own steps."""
    divided = [
        Group("group", str(number), frozenset(f"u{place}" for place in own))
        for number, own in enumerate(groups)
    ]

    def see(users: int) -> Seen:
        sample = Sample(ASKED[:users])
        return Seen.of(
            Effects(np.arange(users), effects[:users], (LOW, HIGH)),
            sample,
            sample.asked,
            (),
            divided,
        )

    return step_by_step(Claim("", "at most", MARGIN), "", Context(), USERS, see)


def found(runs: int) -> Iterator[str]:
    """What verdicts with groups find, and how many users they ask."""
    rows = []
    worlds = [("nothing moves, sd .12", 0.0, 0.0), ("all users, mean .10", 0.1, 0.0)]
    worlds += [
        (f"{share:.0%} of the users wholly", 0.0, share) for share in (0.05, 0.1, 0.2)
    ]
    for name, mean, share in worlds:
        rng = np.random.default_rng(5)
        told: dict[bool, list[Verdict]] = {True: [], False: []}
        named = 0
        for _ in range(runs):
            order = rng.permutation(USERS)
            hit = round(share * USERS) or 20
            own = [order[:hit], *np.array_split(order[hit:], 7)]
            effects = CALM(rng, (USERS,), mean)
            if share:
                effects[own[0]] = np.clip(rng.normal(0.6, 0.2, hit), LOW, HIGH)
            for divided, verdicts in told.items():
                verdicts.append(verdict(effects, own if divided else []))
            named += any(
                each.value == "0" and each.status == "violated"
                for each in told[True][-1].slices
            )
        cells = []
        for divided in (False, True):
            statuses = [each.status for each in told[divided]]
            cells += [
                " / ".join(
                    f"{100 * statuses.count(word) / runs:.0f}"
                    for word in ("holds", "violated")
                ),
                f"{np.mean([each.users for each in told[divided]]):.0f}",
            ]
        rows.append((name, *cells, f"{100 * named / runs:.0f}" if share else "–"))
    yield "## Groups of users: what is found, and how many users are asked"
    yield ""
    yield from table(
        (
            "effects",
            "all users alone",
            "asked",
            "with 8 groups",
            "asked",
            "names the group",
        ),
        rows,
    )
    yield (
        f'% of {runs} runs that end with "holds" / "violated", the users asked of {USERS}, and % that name the group '
        f"that is hit. A user who is hit wholly has an effect of 0.6 (sd .2), as of lists in random order; the others "
        f"one of 0 (sd .12)."
    )
    yield ""


SUITE = (
    relations.scale_ratings(2),
    relations.shift_ratings(1),
    relations.reorder_history,
    relations.shuffle_candidates,
)


def suite(seeds: int) -> Iterator[str]:
    """Promises of the metamorphic suite on a sound recommender that
    answers with noise, by activity and genre.
    """
    rows = []
    for relation in SUITE:
        told: dict[bool, list[Verdict]] = {True: [], False: []}
        for seed in range(seeds):
            with tempfile.TemporaryDirectory() as folder:
                recsys = recsys_of(Sound(0.3), "sound", seed, USERS, Path(folder))
                both = recsys.run(), recsys.run(relation)
                for divided, verdicts in told.items():
                    slices = ("activity", "genre") if divided else ()
                    verdicts.append(same_ranking(*both, margin=MARGIN, slices=slices))
        judged = [each for made in told[True] for each in made.slices[1:]]
        cells = []
        for verdicts in (told[False], told[True]):
            statuses = [each.status for each in verdicts]
            cells += [
                " / ".join(str(statuses.count(word)) for word in ("holds", "violated")),
                f"{np.mean([each.users for each in verdicts]):.0f}",
            ]
        broken = sum(each.status == "violated" for each in judged)
        rows.append((f"`{relation.name}`", *cells, f"{broken} of {len(judged)}"))
    yield "## The metamorphic suite by activity and genre, on a sound recommender"
    yield ""
    yield from table(
        (
            "relation",
            "all users alone",
            "asked",
            "with groups",
            "asked",
            "violated groups",
        ),
        rows,
    )
    yield (
        f'Verdicts that are "holds" / "violated" in {seeds} runs of other seeds, and the users asked of {USERS}; the '
        f"zoo's sound recommender at temperature 0.3, on the embedded data."
    )
    yield ""


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Error rates, power and cost of verdicts with groups.",
    )
    parser.add_argument(
        "--runs",
        type=int,
        default=2_000,
        help="simulated for each cell",
    )
    parser.add_argument(
        "--seeds",
        type=int,
        default=100,
        help="runs of the suite's promises",
    )
    options = parser.parse_args()
    parts = (
        errors(options.runs),
        found(max(1, options.runs // 10)),
        suite(options.seeds),
    )
    for line in chain(*parts):
        print(line, flush=True)


if __name__ == "__main__":
    main()
