"""How often a run says that values depend on the order of asking: where they do not,
and where they do.

    python -m benchmarks.order [--runs 1500]

Users' values are drawn from the laws of `benchmarks.shapes`. A run asks users step by
step and stops at a claim, as a verdict does. The dependent runs ask all users: answers
of a batch share a part of their noise, or the first users of a server that warms up get
worse answers. Prints Markdown, in some minutes on one core.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.random import Generator

from benchmarks.shapes import HIGH, LOW, MARGIN, SHAPES, Floats
from benchmarks.tables import table
from pytest_recsys_mt.oracles.judging.steps import next_step
from pytest_recsys_mt.oracles.statistics.betting import log_capital
from pytest_recsys_mt.oracles.statistics.order import dependence

ENOUGH = float(np.log(20))
"""The log capital of a claim at alpha .05."""

LIMITS = (200, 400)
"""Users that a run may ask."""

INDEPENDENT = (
    "normal, sd .12",
    "normal, sd .2",
    "1 in 20 by .9 more",
    "80 % at 0",
    "U",
)
DEVIATION, BATCH, WORSE = 0.2, 32, 0.2


def _series(values: Floats) -> dict[str, float]:
    return {str(user): float(value) for user, value in enumerate(values)}


def _asked(values: Floats) -> int:
    """How many of these users a verdict asks, as it stops at a claim."""
    width = HIGH - LOW
    violated = log_capital((values - MARGIN) / width, (MARGIN - LOW) / width)
    holds = log_capital((MARGIN - values) / width, (HIGH - MARGIN) / width)
    capital = np.maximum.accumulate(np.maximum(violated, holds))
    asked = 0
    while asked < len(values):
        asked = next_step(asked, len(values))
        if capital[asked - 1] >= ENOUGH:
            break
    return asked


def false_alarms(runs: int, rng: Generator) -> Iterator[Sequence[object]]:
    """Lines of independent users: the law, its mean, and the share of runs that say
    that they depend on the order.
    """
    for name in INDEPENDENT:
        for mean in (0.0, MARGIN, 2 * MARGIN):
            shares = []
            for limit in LIMITS:
                drawn = SHAPES[name](rng, (runs, limit), mean).clip(LOW, HIGH)
                alarms = sum(
                    dependence([_series(values[: _asked(values)])]) is not None
                    for values in drawn
                )
                shares.append(f"{100 * alarms / runs:.2f}")
            yield name, f"{mean:g}", *shares


def batches(
    rng: Generator,
    users: int,
    verdicts: int,
    correlation: float,
) -> list[Floats]:
    """Values of several verdicts. Those of a batch share a part of their noise, and
    verdicts share half of that part.
    """
    count = -(-users // BATCH)
    common = rng.standard_normal(count)
    found = []
    for _ in range(verdicts):
        shared = np.sqrt(0.5) * (common + rng.standard_normal(count))
        noise = np.sqrt(1 - correlation) * rng.standard_normal(users)
        noise += np.sqrt(correlation) * np.repeat(shared, BATCH)[:users]
        found.append(MARGIN + DEVIATION * noise)
    return found


def warming_up(rng: Generator, users: int, verdicts: int, first: int) -> list[Floats]:
    """Values of several verdicts, where the first users' are larger."""
    values = MARGIN + DEVIATION * rng.standard_normal((verdicts, users))
    values[:, :first] += WORSE
    return list(values)


Drawn = Callable[[Generator, int, int], list[Floats]]

DEPENDENT: dict[str, Drawn] = {
    f"batches of {BATCH}, correlation .05": lambda rng, users, verdicts: batches(rng, users, verdicts, 0.05),
    f"batches of {BATCH}, correlation .2": lambda rng, users, verdicts: batches(rng, users, verdicts, 0.2),
    f"the first 20 users by {WORSE:g} more": lambda rng, users, verdicts: warming_up(rng, users, verdicts, 20),
    f"the first eighth by {WORSE:g} more": lambda rng, users, verdicts: warming_up(rng, users, verdicts, users // 8),
}  # fmt: skip


def found(runs: int, rng: Generator) -> Iterator[Sequence[object]]:
    """Lines of dependent users: the law, the verdicts seen
    together, and the share of runs that say so.
    """
    for name, draw in DEPENDENT.items():
        for verdicts in (1, 5, 20):
            shares = []
            for users in LIMITS:
                alarms = sum(
                    dependence(
                        [_series(values) for values in draw(rng, users, verdicts)],
                    )
                    is not None
                    for _ in range(runs)
                )
                shares.append(f"{100 * alarms / runs:.0f}")
            yield name, verdicts, *shares


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1500)
    runs = parser.parse_args().runs
    rng = np.random.default_rng(0)
    users = [f"{limit} users, % of runs" for limit in LIMITS]
    print(
        *table(("independent users", "mean", *users), false_alarms(runs, rng)),
        sep="\n",
    )
    print(
        *table(("dependent users", "verdicts", *users), found(runs // 10, rng)),
        sep="\n",
    )


if __name__ == "__main__":
    main()
