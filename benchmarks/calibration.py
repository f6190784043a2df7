"""How often claims are wrong, how often right, and how many users they take: the public
proof.

    python -m benchmarks.calibration [--runs 4000]

Prints Markdown, in minutes on one core. Users' effects are drawn from distributions
whose true mean is exact (`benchmarks.shapes`); the capital is the product's own
(`pytest_recsys_mt.oracles.statistics.betting`), and a claim is made as soon as it
reaches 1/alpha. Runs of fewer users are the beginnings of those of most users.
"""

import argparse
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from scipy.stats import binom

from benchmarks.shapes import GROUP, HIGH, LOW, MARGIN, SHAPES, Draw, Floats, in_groups
from benchmarks.simulation import lists
from benchmarks.tables import table
from pytest_recsys_mt.oracles.judging.power import POWER
from pytest_recsys_mt.oracles.statistics.betting import log_capital, log_capital_of_any

CLAIMS = ("violated", "holds")
USERS = (20, 60, 100, 200, 400)
ALPHAS = (0.05, 0.01)
MOST = 200
"""Users of a run where only one number is shown: the default."""

FAMILY = 26
LONGEST = 3_000
"""Users of a run that shows how many a claim takes."""

SURE = 0.01
"""Chance that any of all rates shown lies above its bound although none is above alpha."""


@dataclass(frozen=True)
class Runs:
    """Simulated runs on one distribution.

    Attributes:
        won: Largest log capital of each claim after each user, ``(runs, users)``.
    """

    won: Mapping[str, Floats]

    def share(self, claim: str, users: int, alpha: float) -> float:
        """The part of the runs in which a claim was made with so many users at most."""
        return float((self.won[claim][:, users - 1] >= -math.log(alpha)).mean())

    def asked(self, users: int, alpha: float) -> Floats:
        """Users asked until a claim was made or there were no more, ``(runs,)``."""
        clear = np.maximum(*self.won.values())[:, :users] >= -math.log(alpha)
        return np.where(clear.any(axis=1), clear.argmax(axis=1) + 1.0, users)


def simulate(
    draw: Draw,
    mean: float,
    runs: int,
    seed: int,
    users: int = max(USERS),
) -> Runs:
    """Bet on the users of many runs.

    Args:
        draw: The distribution.
        mean: Its mean.
        runs: How many.
        seed: Of the draws.
        users: Of each run.
    """
    effects = draw(np.random.default_rng(seed), (runs, users), mean)
    gains = {
        "violated": (effects - MARGIN, MARGIN - LOW),
        "holds": (MARGIN - effects, HIGH - MARGIN),
    }
    scale = HIGH - LOW
    return Runs(
        {
            claim: np.maximum.accumulate(
                log_capital(gain / scale, worst / scale),
                axis=1,
            )
            for claim, (gain, worst) in gains.items()
        },
    )


def beyond(draw: Draw, mean: float, runs: int, seed: int, users: int = MOST) -> Runs:
    """Bet in many runs that the mean is farther from 0 than the margin, on either side.

    Effects reach from -1 to 1 here. The claims are "either", of one bettor on both
    sides (`log_capital_of_any`), and "one", of a bettor who knows the side, to compare
    with.

    Args:
        draw: The distribution.
        mean: Its mean.
        runs: How many.
        seed: Of the draws.
        users: Of each run.
    """
    effects = draw(np.random.default_rng(seed), (runs, users), mean) / 2
    margin, worst = MARGIN / 2, (1 + MARGIN) / 2
    sides = np.array([[worst], [worst]])
    both = [
        log_capital_of_any(np.stack([x - margin, -x - margin]), sides) for x in effects
    ]
    alone = log_capital(effects - margin, worst)
    return Runs(
        {
            "either": np.maximum.accumulate(np.array(both), axis=1),
            "one": np.maximum.accumulate(alone, axis=1),
        },
    )


def bound(runs: int, alpha: float, rates: int) -> float:
    """A rate that one of so many exceeds with probability
    `SURE` at most if none is above alpha.
    """
    return float(binom.ppf(1 - SURE / rates, runs, alpha)) / runs


def errors(shapes: Mapping[str, Draw], runs: int) -> Iterator[str]:
    """At the margin, where either claim is wrong."""
    found = {name: simulate(draw, MARGIN, runs, 1) for name, draw in shapes.items()}
    rates = len(found) * len(USERS) * len(CLAIMS)
    for alpha in ALPHAS:
        limit = bound(runs, alpha, rates)
        yield f"## Errors at alpha {alpha:g}: the true mean is the margin, so that either claim is wrong"
        yield ""
        yield from table(
            ("effects", *(f"{users} users" for users in USERS)),
            (
                (name, *(_both(of, users, alpha) for users in USERS))
                for name, of in found.items()
            ),
        )
        worst = max(
            of.share(claim, users, alpha)
            for of in found.values() for users in USERS for claim in CLAIMS
        )  # fmt: skip
        above = "no rate is" if worst <= limit else "THERE IS A RATE"
        yield (
            f'% of runs in which "violated" / "holds" was ever claimed. The largest is {100 * worst:.2f}. If '
            f"every true rate is at most {100 * alpha:g}, any of these {rates} comes out above "
            f"{100 * limit:.2f} with probability {SURE:g} (binomial, {runs:,} runs, Bonferroni): {above} above it."
        )
        yield ""


def _both(of: Runs, users: int, alpha: float) -> str:
    return " / ".join(f"{100 * of.share(claim, users, alpha):.1f}" for claim in CLAIMS)


def power(shapes: Mapping[str, Draw], runs: int) -> Iterator[str]:
    """How often the right claim is made away from the margin, and after how many users."""
    for times, word in (
        (0.0, "0"),
        (0.5, "half the margin"),
        (2.0, "twice the margin"),
    ):
        wrong, right = CLAIMS if times < 1 else reversed(CLAIMS)
        found = {
            name: simulate(draw, times * MARGIN, runs, 2)
            for name, draw in shapes.items()
        }
        yield f'## The true mean is {word}: "{right}" is right'
        yield ""
        yield from table(
            (
                "effects",
                *(f"{users} users" for users in USERS),
                f"asked of {MOST}, mean (median)",
                "alpha .01",
                "wrong",
            ),
            (
                (
                    name,
                    *(f"{100 * of.share(right, users, 0.05):.1f}" for users in USERS),
                    f"{of.asked(MOST, 0.05).mean():.0f} ({np.median(of.asked(MOST, 0.05)):.0f})",
                    f"{100 * of.share(right, MOST, 0.01):.1f}",
                    f"{100 * of.share(wrong, max(USERS), 0.05):.2f}",
                )
                for name, of in found.items()
            ),
        )
        yield (
            f"% of runs with the right claim at alpha .05, by the most users; users asked, of {MOST} at most; "
            f"% right with {MOST} users at alpha .01; % wrong with {max(USERS)} users at alpha .05."
        )
        yield ""


def needed(shapes: Mapping[str, Draw], runs: int) -> Iterator[str]:
    """After how many users most of the runs have made the right claim."""
    means = (0.0, 0.5, 1.5, 2.0)
    rows = []
    for name, draw in shapes.items():
        cells = []
        for times in means:
            claim = "holds" if times < 1 else "violated"
            won = simulate(draw, times * MARGIN, runs, 6, LONGEST).won[claim]
            enough = won >= -math.log(ALPHAS[0])
            users = np.where(enough.any(axis=1), enough.argmax(axis=1) + 1.0, np.inf)
            most = np.quantile(users, POWER, method="higher")
            cells.append(f"{most:.0f}" if math.isfinite(most) else f"above {LONGEST}")
        rows.append((name, *cells))
    yield f"## Users until {100 * POWER:g} % of the runs have made the right claim, alpha {ALPHAS[0]:g}"
    yield ""
    yield from table(("effects", *(f"mean {times:g} margins" for times in means)), rows)
    yield f"{runs:,} runs of {LONGEST:,} users."
    yield ""


def family(runs: int) -> Iterator[str]:
    """Violations that stand among many relations."""
    draw = SHAPES["normal, sd .12"]
    of = simulate(draw, 2 * MARGIN, runs, 3, MOST)
    alone, stands = (of.share("violated", MOST, 0.05 / size) for size in (1, FAMILY))
    yield "## A family of relations"
    yield ""
    yield (
        f"A violation of .10 (sd .12) is found in {100 * alone:.1f} % of runs of {MOST} users, and stands for a "
        f"family of {FAMILY} relations (a capital of {FAMILY}/.05, the first step of Holm) in {100 * stands:.1f} %."
    )
    yield ""


def two_sided(shapes: Mapping[str, Draw], runs: int) -> Iterator[str]:
    """Claims that the mean is farther from 0 than the margin, on either side."""
    rows, worst = [], dict.fromkeys(ALPHAS, 0.0)
    for name, draw in shapes.items():
        at, twice = (beyond(draw, times * MARGIN, runs, 4) for times in (1, 2))
        wrong = {alpha: at.share("either", MOST, alpha) for alpha in ALPHAS}
        worst = {alpha: max(worst[alpha], wrong[alpha]) for alpha in ALPHAS}
        found = (
            f"{100 * twice.share(claim, MOST, 0.05):.1f}" for claim in ("either", "one")
        )
        rows.append((name, *(f"{100 * rate:.1f}" for rate in wrong.values()), *found))
    yield f"## Claims about either side: the mean is farther from 0 than the margin, {MOST} users, range [-1, 1]"
    yield ""
    yield from table(
        (
            "effects",
            "at the margin, alpha .05",
            "alpha .01",
            "twice the margin",
            "one side alone",
        ),
        rows,
    )
    told = ", ".join(
        f"{100 * worst[alpha]:.2f} at alpha {alpha:g} (bound {100 * bound(runs, alpha, len(rows)):.2f})"
        for alpha in ALPHAS
    )
    yield f"% of runs in which it was claimed. The largest error is {told}."
    yield ""


def dependent(runs: int) -> Iterator[str]:
    """What the assumption is worth that users are independent."""
    of = simulate(in_groups, MARGIN, runs, 5)
    yield f"## Users who are not independent: groups of {GROUP} share one effect (normal, sd .12)"
    yield ""
    yield from table(
        ("", *(f"{users} users" for users in USERS)),
        [("at the margin, alpha .05", *(_both(of, users, 0.05) for users in USERS))],
    )
    yield (
        'Here the proof does not apply, and the claims are wrong that often ("violated" / "holds", %). Bet on '
        "groups then, not on users."
    )
    yield ""


def everything(runs: int, shapes: Mapping[str, Draw]) -> Iterator[str]:
    """The report, as lines.

    Args:
        runs: For each distribution and mean.
        shapes: The distributions.
    """
    yield from errors(shapes, runs)
    yield from power(shapes, runs)
    normal = {name: draw for name, draw in shapes.items() if name.startswith("normal")}
    yield from needed(normal, math.ceil(runs / 4))
    yield from family(runs)
    yield from two_sided(shapes, runs)
    yield from dependent(runs)


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Error rates and power of claims by betting.",
    )
    parser.add_argument(
        "--runs",
        type=int,
        default=4_000,
        help="simulated for each distribution",
    )
    options = parser.parse_args()
    for line in everything(options.runs, {**SHAPES, **lists()}):
        print(line, flush=True)


if __name__ == "__main__":
    main()
