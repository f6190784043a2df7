"""How soon `recsys-mt monitor` sees a break, and how often it alarms without one.

    python -m benchmarks.monitor [--rows 1000]

Prints Markdown, in minutes on one core. Effects of users are drawn, the bets are the
product's own (`pytest_recsys_mt.oracles.statistics.breaks`). A break comes after 30
nights.
"""

import argparse
import math
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from numpy.random import Generator

from benchmarks.calibration import FAMILY
from benchmarks.shapes import HIGH, LOW, MARGIN, SHAPES, Draw, Floats
from benchmarks.tables import interval, table
from pytest_recsys_mt.oracles.statistics.betting import log_capital
from pytest_recsys_mt.oracles.statistics.breaks import log_evidence, log_growth

ALPHA, NIGHTS, GOOD, USERS, BATCH = 0.05, 90, 30, 200, 50
AFTER = 15
"""Nights after a break that are looked at."""

DRAWN = (
    "normal, sd .12",
    "normal, sd .2",
    "skewed to the right",
    "80 % at 0",
    "1 in 20 by .9 more",
)

Effects = Callable[[Generator, Sequence[float], int, int], Floats]
"""Of the users of some rows, whose mean on each night
is given, ``(rows, nights, users)``.
"""


def fresh(draw: Draw) -> Effects:
    """Other users every night."""

    def effects(
        rng: Generator,
        means: Sequence[float],
        users: int,
        rows: int,
    ) -> Floats:
        return np.stack([draw(rng, (rows, users), mean) for mean in means], axis=1)

    return effects


def same(rng: Generator, means: Sequence[float], users: int, rows: int) -> Floats:
    """The same users every night, each with a level of
    its own (sd .08) and noise (sd .09).
    """
    level = 0.08 * rng.standard_normal((rows, 1, users))
    noise = 0.09 * rng.standard_normal((rows, len(means), users))
    return np.clip(np.array(means)[:, None] + level + noise, LOW, HIGH)


def on_values(effects: Floats) -> Floats:
    """What bets on the values win each night: ``(stakes, nights, rows)``."""
    return log_growth(effects - MARGIN, MARGIN - LOW).swapaxes(1, 2)


def until_clear(effects: Floats, family: int = 1) -> Floats:
    """The same, where each night ends with the user at whom its own verdict is clear.

    Args:
        effects: Of users.
        family: Relations among which a violation has to stand before it is clear.
    """
    scale, gains = HIGH - LOW, effects - MARGIN
    above = log_capital(gains / scale, (MARGIN - LOW) / scale) - math.log(family)
    below = log_capital(-gains / scale, (HIGH - MARGIN) / scale)
    clear = np.maximum.accumulate(np.maximum(above, below), axis=-1) >= -math.log(ALPHA)
    asked = np.roll(~clear, 1, axis=-1)
    asked[..., 0] = True
    return log_growth(np.where(asked, gains, 0.0), MARGIN - LOW).swapaxes(1, 2)


def on_changes(effects: Floats) -> Floats:
    """What bets on the changes of the same users win each
    night: ``(stakes, nights, rows)``.
    """
    before = (
        np.cumsum(effects, axis=1)[:, :-1] / np.arange(1, effects.shape[1])[:, None]
    )
    limits = before + MARGIN
    won = log_growth(effects[:, 1:] - limits, limits.max(axis=-1) - LOW)
    first = np.zeros_like(
        won[:, :, :1],
    )  # there is nothing to compare the first night with
    return np.concatenate([first, won], axis=2).swapaxes(1, 2)


def evidence(
    effects: Effects,
    bets: Callable[[Floats], Floats],
    means: Sequence[float],
    users: int,
    rows: int,
    seed: int = 1,
) -> Floats:
    """Logarithm of the capital after each night, ``(nights, rows)``.

    Args:
        effects: Of users.
        bets: On them.
        means: Of each night.
        users: A night.
        rows: Of nights.
        seed: Of the draws.
    """
    rng = np.random.default_rng(seed)
    parts = [
        log_evidence(bets(effects(rng, means, users, min(BATCH, rows - begun))))
        for begun in range(0, rows, BATCH)
    ]
    return np.concatenate(parts, axis=1)


def alarms(found: Floats, family: int = 1) -> Floats:
    """The night of each row's alarm, from 1; infinite where there is none."""
    over = found >= math.log(family / ALPHA)
    return np.where(over.any(axis=0), over.argmax(axis=0) + 1.0, np.inf)


def delays(found: Floats, family: int = 1) -> tuple[str, ...]:
    """Nights from a break to the alarm, both counted:
    median, nine tenths; alarms before it in %.
    """
    nights = alarms(found, family)
    late = np.where(nights > GOOD, nights - GOOD, 1.0)
    middle, most = (np.quantile(late, share, method="higher") for share in (0.5, 0.9))
    told = (
        f"{each:.0f}" if np.isfinite(each) else f"over {AFTER}"
        for each in (middle, most)
    )
    return (*told, f"{100 * (nights <= GOOD).mean():.1f}")


def without_a_break(rows: int) -> Iterator[str]:
    """Rows of nights whose mean is exactly the margin."""
    yield f"## No break: {NIGHTS} nights of {USERS} fresh users, the mean exactly at the margin"
    yield ""
    flat = [MARGIN] * NIGHTS
    ever = {
        name: np.isfinite(alarms(evidence(fresh(draw), on_values, flat, USERS, rows)))
        for name, draw in SHAPES.items()
    }
    yield from table(
        ("effects", "rows with any alarm, % [95 % interval]"),
        ((name, interval(int(of.sum()), rows)) for name, of in ever.items()),
    )


def with_a_break(rows: int) -> Iterator[str]:
    """Rows whose mean goes from 0 to twice the margin."""
    yield f"## A break to twice the margin after {GOOD} nights with a mean of 0: nights until the alarm"
    yield ""
    means = [0.0] * GOOD + [2 * MARGIN] * AFTER
    lines = []
    for name in DRAWN:
        draw, most = fresh(SHAPES[name]), f"at most {USERS}"
        designs: list[tuple[str, Callable[[Floats], Floats], int]] = [
            *((str(users), on_values, users) for users in (25, 50, 100, USERS)),
            (f"{most}, until clear", until_clear, USERS),
            (
                f"{most}, until clear among {FAMILY}",
                partial(until_clear, family=FAMILY),
                USERS,
            ),
        ]
        for told, bets, users in designs:
            found = evidence(draw, bets, means, users, rows)
            lines.append((name, told, *delays(found), *delays(found, FAMILY)[:2]))
    head = (
        "median",
        "9 of 10",
        "alarm before, %",
        f"median of {FAMILY}",
        f"9 of 10 of {FAMILY}",
    )
    yield from table(("effects", "users a night", *head), lines)
    yield (
        f"1 is the first night of the break. Until clear: a night asks no more users once its own verdict is. The last two columns are for a verdict among {FAMILY}, whose "
        f"capital has to be {FAMILY} times as large (the first step of Holm)."
    )
    yield ""


def of_the_same(rows: int) -> Iterator[str]:
    """Rows of nights over the same users."""
    yield f"## The same {USERS} users every night (levels sd .08, noise sd .09)"
    yield ""
    flat, small, large = [MARGIN] * NIGHTS, [0.0] * GOOD + [MARGIN] * AFTER, [0.0] * GOOD + [2 * MARGIN] * AFTER  # fmt: skip
    naive, calm, at = (
        interval(
            int(np.isfinite(alarms(evidence(same, bets, means, USERS, rows))).sum()),
            rows,
        )
        for bets, means in ((on_values, flat), (on_changes, flat), (on_changes, small))
    )
    median, most, _ = delays(evidence(same, on_changes, large, USERS, rows))
    yield from table(
        (
            "nights",
            "bets on",
            "rows with any alarm, %",
            "nights to the alarm, median (9 of 10)",
        ),
        [
            (
                "no break, mean at the margin",
                "values, as if users were fresh",
                naive,
                "–",
            ),
            ("no break, mean at the margin", "changes (`--change`)", calm, "–"),
            ("a change of exactly the margin", "changes (`--change`)", at, "–"),
            (
                "a change of twice the margin",
                "changes (`--change`)",
                "",
                f"{median} ({most})",
            ),
        ],
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description="False alarms and delays of the monitor.",
    )
    parser.add_argument(
        "--rows",
        type=int,
        default=1_000,
        help="of nights, for each line",
    )
    options = parser.parse_args()
    for part in (without_a_break, with_a_break, of_the_same):
        for line in part(options.rows):
            print(line, flush=True)


if __name__ == "__main__":
    main()
