"""Claims about numbers of one's own, at their limit, are wrong as rarely as they say:
each run draws from the next of several laws.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from pytest_recsys_mt.oracles import agreement_with, judged, spread_of
from pytest_recsys_mt.verdict.answers import Context

CONTEXT = Context(alone=True)
RUNS = 300
MOST = int(binom.ppf(0.999, RUNS, CONTEXT.alpha))
USERS = 20

Rng = np.random.Generator
Values = np.ndarray[Any, Any]


def keyed(values: Values, name: str = "u") -> dict[str, float]:
    return {f"{name}{at}": float(value) for at, value in enumerate(values)}


MEANS: Mapping[str, tuple[float, Callable[[Rng], Values]]] = {
    "shares": (0.3, lambda rng: rng.random(USERS) < 0.3),
    "skewed": (0.1, lambda rng: rng.beta(0.5, 4.5, USERS)),
    "rare": (0.045, lambda rng: 0.9 * (rng.random(USERS) < 0.05)),
    "marks": (0.5, lambda rng: rng.choice(5, USERS, p=[0.1, 0.2, 0.4, 0.2, 0.1]) / 4),
}


def of_means(rng: Rng, run: int) -> str:
    limit, draw = list(MEANS.values())[run % len(MEANS)]
    values = keyed(draw(rng))
    sorted_by_value = dict(sorted(values.items(), key=lambda each: each[1]))
    return judged(sorted_by_value, CONTEXT, at_most=limit, span=(0, 1)).status


def of_spreads(rng: Rng, run: int) -> str:
    """Sides that share users and their luck, or have users of their own."""
    shares = [(0.5, 0.5, 0.7), (0.1, 0.15, 0.3), (0.02, 0.05, 0.22)][run % 3]
    luck = rng.random(USERS)
    sides = {
        f"{place}": keyed(luck < share)
        if run % 2
        else keyed(rng.random(USERS) < share, f"{place}-")
        for place, share in enumerate(shares)
    }
    of: Any = "deviation" if run % 5 == 0 else "range"
    limit = np.ptp(shares) if of == "range" else np.std(shares)
    found = spread_of(sides, at_most=float(limit), of=of, context=CONTEXT, span=(0, 1))
    return found.status


TABLES = [
    ([[40, 10], [10, 40]], 0.8, 0.6, 0.6),
    ([[90, 3], [4, 3]], 0.93, 0.42434, 0.39631),
]
"""How often each label gets each value, with the accuracy, kappa and tau of that."""


def of_agreements(rng: Rng, run: int) -> str:
    table, *limits = TABLES[run % 2]
    by: Any = ("accuracy", "kappa", "tau")[run % 3]
    drawn = rng.choice(4, USERS, p=np.ravel(table) / np.sum(table))
    labels, values = keyed(drawn // 2), keyed(drawn % 2)
    if len(set(labels.values())) == 1 or not set(labels.values()) & set(
        values.values()
    ):
        return "inconclusive"
    limit = limits[run % 3]
    return agreement_with(labels, values, CONTEXT, at_least=limit, by=by).status


def of_systems(rng: Rng, run: int) -> str:
    """Labels that tie two of three systems: a tau above 2/3 holds wrongly."""

    def systems(*shares: float) -> dict[str, dict[str, float]]:
        return {
            f"{place}": keyed(rng.random(USERS) < share)
            for place, share in enumerate(shares)
        }

    labels, values = systems(0.1, 0.1, 0.9), systems(0.05, 0.5, 0.95)
    given: Any = {"by": "systems", "span": (0, 1), "at_least": 0.9}
    status = agreement_with(labels, values, CONTEXT, **given).status
    return "holds" if status == "holds" else "inconclusive"


@pytest.mark.parametrize("law", [of_means, of_spreads, of_agreements, of_systems])
def test_at_the_limit_either_claim_is_rare(law: Callable[[Rng, int], str]) -> None:
    rng = np.random.default_rng(11)
    found = Counter(law(rng, run) for run in range(RUNS))
    assert max(found["holds"], found["violated"]) <= MOST, found
