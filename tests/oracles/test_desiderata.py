"""The desiderata of a metric of popularity bias, cell by cell of Table 1 of the paper.

Lichtenberg, Buchholz and Schwöbel (2024), https://arxiv.org/abs/2406.01285, section 3.1, want a
metric ``M(r, u)`` of recommended and consumed items to be well behaved, zero centred,
anti-symmetric, sensitive to the long tail, and monotone. A tick is tested as a property; for a
cross, and for a tick that does not stand, a counterexample is found (or `find` fails). Two ticks do not stand
(`CONTRADICTED`), and one stands only where the metric is defined.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

from pytest_recsys_mt.oracles import (
    gini_difference,
    herfindahl_difference,
    log_popularity_difference,
    popularity_lift,
    popularity_rank_correlation,
)
from pytest_recsys_mt.oracles.scores.gini import gini
from pytest_recsys_mt.oracles.scores.herfindahl import herfindahl

Slate = tuple[int, ...]
Metric = Callable[[Slate, Slate], float]

DESIDERATA = ("well behaved", "zero centred", "anti-symmetric", "tail sensitive", "monotone")
PAPER = {
    "lift": "✗✓✗✗✓",
    "gini": "✓✓✓✓✗",
    "rank correlation": "✓✗✗✗✗",
    "herfindahl": "✓✓✓✗✗",
    "log difference": "✓✓✓✓✓",
}
"""Table 1 as it is printed."""

CONTRADICTED = {("herfindahl", "well behaved"), ("gini", "tail sensitive")}
"""Ticks of the paper that do not stand."""

ORDINARY = settings(derandomize=True, deadline=None, max_examples=300)
SLATES = st.lists(st.integers(1, 1000), min_size=2, max_size=6).map(tuple)
SMALL = 1e-12


class UndefinedError(Exception):
    """The metric has no value for these lists, so that they show nothing."""


def rank_correlation(recommended: Slate, consumed: Slate) -> float:
    """The metric where both lists hold the same items, item for item."""
    items = [str(place) for place in range(len(recommended))]
    popularity = dict(zip(items, recommended, strict=True))
    value = popularity_rank_correlation(items, items[: len(consumed)], popularity)
    if value is None:
        raise UndefinedError
    return value


METRICS: dict[str, Metric] = {
    "lift": popularity_lift,
    "gini": gini_difference,
    "rank correlation": rank_correlation,
    "herfindahl": herfindahl_difference,
    "log difference": log_popularity_difference,
}


class Case(NamedTuple):
    """Two slates, and an item of theirs whose popularity rises.

    `higher` is `slate` with every item more popular.
    """

    slate: Slate
    higher: Slate
    place: int
    rise: int

    def raised(self, slate: Slate) -> Slate:
        return (*slate[: self.place], slate[self.place] + self.rise, *slate[self.place + 1 :])


@st.composite
def cases(draw: st.DrawFn) -> Case:
    slate = draw(SLATES)
    gaps = draw(st.lists(st.integers(1, 1000), min_size=len(slate), max_size=len(slate)))
    higher = tuple(score + gap for score, gap in zip(slate, gaps, strict=True))
    return Case(slate, higher, draw(st.integers(0, len(slate) - 1)), draw(st.integers(1, 100)))


def of_one_aggregate(name: str, case: Case) -> tuple[Slate, Slate]:
    """Two slates that differ, but whose aggregate popularity does not."""
    first, *rest = case.slate
    more = case.rise + 1
    if name == "log difference":
        return (first * more, 1, *rest), (first, more, *rest)
    if name == "lift":
        return (first + more, 1, *rest), (first, 1 + more, *rest)
    if name == "rank correlation":
        return case.slate, case.slate
    return case.slate, tuple(score * more for score in case.slate)


def zero_centred(name: str, case: Case) -> bool:
    return abs(METRICS[name](*of_one_aggregate(name, case))) < SMALL


def anti_symmetric(name: str, case: Case) -> bool:
    metric = METRICS[name]
    there, back = metric(case.higher, case.slate), metric(case.slate, case.higher)
    return math.isclose(there, -back, rel_tol=0, abs_tol=SMALL)


def tail_sensitive(name: str, case: Case) -> bool:
    """A rise among unpopular items counts for more than the same rise among popular ones."""
    metric, user = METRICS[name], case.slate
    low = abs(metric(case.raised(case.slate), user) - metric(case.slate, user))
    high = abs(metric(case.raised(case.higher), user) - metric(case.higher, user))
    return low > high


def monotone(name: str, case: Case) -> bool:
    """A rise on the side of the recommender raises the metric, on the user's side it lowers it."""
    metric, slate, raised = METRICS[name], case.slate, case.raised(case.slate)
    before = metric(slate, case.higher)
    lower = metric(case.higher, raised) < metric(case.higher, slate)
    return metric(raised, case.higher) > before and lower


HOLDS: dict[str, Callable[[str, Case], bool]] = {
    "zero centred": zero_centred,
    "anti-symmetric": anti_symmetric,
    "tail sensitive": tail_sensitive,
    "monotone": monotone,
}


def stands(metric: str, desideratum: str) -> bool:
    ticked = PAPER[metric][DESIDERATA.index(desideratum)] == "✓"
    return ticked and (metric, desideratum) not in CONTRADICTED


def broken(holds: Callable[[str, Case], bool], metric: str, case: Case) -> bool:
    try:
        return not holds(metric, case)
    except UndefinedError:
        return False


@pytest.mark.parametrize("desideratum", list(HOLDS))
@pytest.mark.parametrize("metric", list(METRICS))
def test_cells_about_the_values_of_a_metric(metric: str, desideratum: str) -> None:
    holds = HOLDS[desideratum]
    if stands(metric, desideratum):

        @ORDINARY
        @given(cases())
        def check(case: Case) -> None:
            assert holds(metric, case)

        check()
    else:
        found = find(cases(), lambda case: broken(holds, metric, case))
        print(f"{metric} is not {desideratum}: {found}")  # for `pytest -rP`


SHAPE = 0.68
"""Of the Pareto distribution that the paper fits to the popularity of films (figure 1): both mean
and variance are undefined."""

AGGREGATES: dict[str, Callable[[Sequence[float], np.random.Generator], float]] = {
    "lift": lambda scores, rng: float(np.mean(scores)),
    "gini": lambda scores, rng: gini(scores),
    "herfindahl": lambda scores, rng: herfindahl(scores),
    "log difference": lambda scores, rng: float(np.log(scores).mean()),
    "rank correlation": lambda scores, rng: _of_a_random_order(scores, rng),
}


def _of_a_random_order(scores: Sequence[float], rng: np.random.Generator) -> float:
    items = [str(place) for place in rng.permutation(len(scores))]
    popularity = {str(place): score for place, score in enumerate(scores)}
    value = popularity_rank_correlation(items, items, popularity)
    assert value is not None
    return value


def spread(metric: str, items: int, seed: int) -> float:
    """Interquartile range of the aggregate popularity of many lists of so many items."""
    rng = np.random.default_rng([seed, items])
    lists = 1 + rng.pareto(SHAPE, (120, items))
    low, high = np.quantile([AGGREGATES[metric](scores, rng) for scores in lists], [0.25, 0.75])
    return float(high - low)


@pytest.mark.parametrize("metric", list(METRICS))
@pytest.mark.parametrize("seed", range(3))
def test_cells_about_more_data_leading_to_more_stable_results(metric: str, seed: int) -> None:
    few, many = spread(metric, 50, seed), spread(metric, 3200, seed)
    assert (many < few / 2) is stands(metric, "well behaved")


def test_the_herfindahl_index_stays_as_random_as_it_was() -> None:
    # Bounded is not convergent: without a finite mean a few items hold a share of all interactions
    # that does not go to 0, and which share that is stays chance, whatever the number of items.
    spreads = [spread("herfindahl", items, 7) for items in (50, 800, 12_800)]
    assert min(spreads) > 0.2
    assert max(spreads) < 2 * min(spreads)


def test_the_gini_index_can_miss_a_rise_among_unpopular_items_altogether() -> None:
    user = (1, 1)
    # The rise makes the first item the more popular one, and the inequality is what it was.
    low = gini_difference((4, 2), user) - gini_difference((1, 2), user)
    high = gini_difference((13, 20), user) - gini_difference((10, 20), user)
    assert low == pytest.approx(0, abs=SMALL)
    assert high == pytest.approx(7 / 66 - 1 / 6)
    # Nor does it take a change of order: the third item of four may rise as it likes up to 4.
    assert gini([1, 2, 3.5, 4]) == pytest.approx(gini([1, 2, 3, 4]), abs=SMALL)
    assert abs(gini([10, 20, 30.5, 60]) - gini([10, 20, 30, 60])) > 1e-4


def test_the_log_difference_is_tail_sensitive_item_by_item_only() -> None:
    # "Overall higher popularity" is not enough: the item that rises must itself be more popular.
    user = (1, 1)
    low = log_popularity_difference((6, 5), user) - log_popularity_difference((5, 5), user)
    high = log_popularity_difference((2, 100), user) - log_popularity_difference((1, 100), user)
    assert low < high


def test_the_rank_correlation_of_a_recommender_that_repeats_nothing_never_becomes_defined() -> None:
    for n in (10, 1000):
        recommended = [f"new {place}" for place in range(n)]
        consumed = [f"seen {place}" for place in range(n)]
        popularity = {item: place + 1.0 for place, item in enumerate(recommended + consumed)}
        assert popularity_rank_correlation(recommended, consumed, popularity) is None


def test_the_lift_of_the_papers_own_example_is_not_anti_symmetric() -> None:
    assert popularity_lift([1], [0.5]) == 1
    assert popularity_lift([0.5], [1]) == -0.5
