"""The desiderata of a metric of popularity bias, cell by cell of Table 1 of the paper.

Lichtenberg, Buchholz and Schwöbel (2024), https://arxiv.org/abs/2406.01285, section
3.1, want a metric ``M(r, u)`` of recommended and consumed items to be well behaved,
zero centred, anti-symmetric, sensitive to the long tail, and monotone. For a cross, and
for a tick that does not stand, a counterexample is found. Two ticks do not stand
(`CONTRADICTED`), and one stands only where the metric is defined.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_recsys_mt import OracleError
from pytest_recsys_mt.oracles import (
    check_popularity_metric,
    gini_difference,
    herfindahl_difference,
    log_popularity_difference,
    popularity_lift,
    popularity_rank_correlation,
)
from tests.support.oracles import DESIDERATA, SHAPE, Metric, counterexamples
from tests.support.oracles_scores import gini, herfindahl

Slate = tuple[int, ...]

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

SLATES = st.lists(st.integers(1, 1000), min_size=2, max_size=6).map(tuple)
SMALL = 1e-12


def rank_correlation(recommended: Sequence[float], consumed: Sequence[float]) -> float:
    """The metric where both lists hold the same items, item for item."""
    items = [str(place) for place in range(len(recommended))]
    popularity = dict(zip(items, recommended, strict=True))
    value = popularity_rank_correlation(items, items[: len(consumed)], popularity)
    return math.nan if value is None else value


METRICS: dict[str, Metric] = {
    "lift": popularity_lift,
    "gini": gini_difference,
    "rank correlation": rank_correlation,
    "herfindahl": herfindahl_difference,
    "log difference": log_popularity_difference,
}


@pytest.mark.parametrize("metric", list(METRICS))
def test_every_cell_of_table_1(metric: str) -> None:
    found = counterexamples(METRICS[metric])
    assert {name: found[name] is None for name in DESIDERATA} == {
        name: stands(metric, name) for name in DESIDERATA
    }


@settings(derandomize=True, deadline=None, max_examples=150)
@given(slate=SLATES, more=st.integers(2, 100))
@pytest.mark.parametrize("metric", list(METRICS))
def test_lists_of_one_aggregate_popularity_have_no_bias(
    metric: str,
    slate: Slate,
    more: int,
) -> None:
    """Lists may differ and yet be equally popular; which
    ones those are depends on the metric.
    """
    first, *rest = slate
    pairs = {
        "log difference": ((first * more, 1, *rest), (first, more, *rest)),
        "lift": ((first + more, 1, *rest), (first, 1 + more, *rest)),
        "gini": (slate, tuple(score * more for score in slate)),
        "herfindahl": (slate, tuple(score * more for score in slate)),
    }
    if stands(metric, "zero centred"):
        assert abs(METRICS[metric](*pairs[metric])) < SMALL


def stands(metric: str, desideratum: str) -> bool:
    ticked = PAPER[metric][list(DESIDERATA).index(desideratum)] == "✓"
    return ticked and (metric, desideratum) not in CONTRADICTED


def test_the_herfindahl_index_stays_as_random_as_it_was() -> None:
    # Bounded is not convergent: without a finite mean a few items hold a share of all
    # interactions that does not go to 0, and which share that is stays chance, whatever
    # the number of items.
    rng = np.random.default_rng(7)
    spreads = []
    for items in (50, 800, 12_800):
        values = [herfindahl(scores) for scores in 1 + rng.pareto(SHAPE, (120, items))]
        low, high = np.quantile(values, [0.25, 0.75])
        spreads.append(high - low)
    assert min(spreads) > 0.2
    assert max(spreads) < 2 * min(spreads)


def test_a_metric_of_ones_own_is_checked_with_counterexamples() -> None:
    def median_gap(recommended: Sequence[float], consumed: Sequence[float]) -> float:
        return float(np.median(recommended) - np.median(consumed))

    with pytest.raises(AssertionError) as failed:
        check_popularity_metric(median_gap)
    said = str(failed.value)
    assert said.startswith("median_gap is\n  not ")
    assert "not monotone (a more popular" in said
    assert "not tail sensitive" in said
    assert "anti-symmetric" not in said
    check_popularity_metric(median_gap, desiderata=["zero centred", "anti-symmetric"])
    check_popularity_metric(log_popularity_difference)


def test_what_is_no_metric_and_no_desideratum_is_named() -> None:
    with pytest.raises(OracleError, match=r"must return a number.*it returned None"):
        check_popularity_metric(lambda recommended, consumed: None)  # type: ignore[arg-type,return-value]
    with pytest.raises(
        OracleError,
        match=r"desideratum must be 'well behaved', 'zero centred'.*got 'monoton'",
    ):
        check_popularity_metric(log_popularity_difference, desiderata=["monoton"])


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (math.nan, r"is undefined \(NaN\) for 980 of 980 lists"),
        (2.0, "is 2 for all 980 lists"),
    ],
)
def test_a_metric_that_tells_no_lists_apart_fails(value: float, told: str) -> None:
    with pytest.raises(AssertionError, match=told):
        check_popularity_metric(
            lambda recommended, consumed: value,
            desiderata=["anti-symmetric"],
        )


def test_the_gini_index_can_miss_a_rise_among_unpopular_items_altogether() -> None:
    user = (1, 1)
    # The rise makes the first item the more popular one, and the inequality is what it
    # was.
    low = gini_difference((4, 2), user) - gini_difference((1, 2), user)
    high = gini_difference((13, 20), user) - gini_difference((10, 20), user)
    assert low == pytest.approx(0, abs=SMALL)
    assert high == pytest.approx(7 / 66 - 1 / 6)
    # Nor does it take a change of order: the third item of four may rise as it likes up
    # to 4.
    assert gini([1, 2, 3.5, 4]) == pytest.approx(gini([1, 2, 3, 4]), abs=SMALL)
    assert abs(gini([10, 20, 30.5, 60]) - gini([10, 20, 30, 60])) > 1e-4


def test_the_log_difference_is_tail_sensitive_item_by_item_only() -> None:
    # "Overall higher popularity" is not enough: the item that rises must itself be more
    # popular.
    user = (1, 1)
    low = log_popularity_difference((6, 5), user) - log_popularity_difference(
        (5, 5),
        user,
    )
    high = log_popularity_difference((2, 100), user) - log_popularity_difference(
        (1, 100),
        user,
    )
    assert low < high


def test_the_rank_correlation_of_a_recommender_that_repeats_nothing_never_becomes_defined() -> (
    None
):
    for n in (10, 1000):
        recommended = [f"new {place}" for place in range(n)]
        consumed = [f"seen {place}" for place in range(n)]
        popularity = {
            item: place + 1.0 for place, item in enumerate(recommended + consumed)
        }
        assert popularity_rank_correlation(recommended, consumed, popularity) is None


def test_the_lift_of_the_papers_own_example_is_not_anti_symmetric() -> None:
    assert popularity_lift([1], [0.5]) == 1
    assert popularity_lift([0.5], [1]) == -0.5
