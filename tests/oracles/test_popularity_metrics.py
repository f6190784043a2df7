"""The five metrics of popularity bias have the values of their definitions."""

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from pytest_recsys_mt import OracleError
from pytest_recsys_mt.oracles import (
    gini_difference,
    gini_ratio,
    gini_relative_difference,
    herfindahl_difference,
    herfindahl_ratio,
    herfindahl_relative_difference,
    log_popularity_difference,
    popularity_lift,
    popularity_rank_correlation,
)
from tests.support.oracles_scores import gini, herfindahl

SCORES = st.lists(st.integers(1, 10_000), min_size=1, max_size=12)
ON_SCORES = (
    log_popularity_difference,
    popularity_lift,
    gini_difference,
    herfindahl_difference,
)


def test_hand_computed_values() -> None:
    # ln 10 - ln 24 / 4, for any unit of popularity.
    expected = math.log(10) - math.log(24) / 4
    assert log_popularity_difference([10, 10, 10], [1, 2, 3, 4]) == pytest.approx(
        expected,
    )
    assert expected == pytest.approx(1.508072, abs=1e-6)
    assert log_popularity_difference([70, 70], [7, 14, 21, 28]) == pytest.approx(
        expected,
    )
    assert popularity_lift([1], [0.5]) == 1
    assert popularity_lift([0.5], [1]) == -0.5
    assert gini([1, 2, 3, 4]) == pytest.approx(0.25)
    assert gini([5, 1, 1, 1, 1]) == pytest.approx(0.355556, abs=1e-6)
    assert gini([7, 7, 7]) == 0
    assert herfindahl([1, 2, 3, 4]) == pytest.approx(0.30)
    assert herfindahl([10, 10, 10]) == pytest.approx(1 / 3)
    popularity = {"a": 9, "b": 5, "c": 1}
    assert popularity_rank_correlation([*"abc"], [*"cba"], popularity) == -1
    assert popularity_rank_correlation([*"cxba"], [*"abc"], popularity) == 1


@given(SCORES)
def test_gini_is_half_the_relative_mean_difference(scores: list[int]) -> None:
    n = len(scores)
    gaps = sum(abs(one - two) for one in scores for two in scores)
    assert gini(scores) == pytest.approx(gaps / (2 * n * sum(scores)), abs=1e-12)
    assert gini(scores * 3) == pytest.approx(gini(scores), abs=1e-12)


@given(
    st.lists(st.integers(1, 6), min_size=2, max_size=12).filter(
        lambda s: len(set(s)) > 1,
    ),
)
def test_rank_correlation_is_spearmans(scores: list[int]) -> None:
    items = [str(place) for place in range(len(scores))]
    ours = popularity_rank_correlation(
        items,
        items,
        dict(zip(items, scores, strict=True)),
    )
    assert ours == pytest.approx(
        spearmanr(scores, range(len(scores))).statistic,
        abs=1e-12,
    )


@pytest.mark.parametrize("metric", ON_SCORES)
@pytest.mark.parametrize(
    "wrong",
    [[], [0.0], [-1.0], [math.nan], [math.inf], [[1.0]]],
    ids=str,
)
def test_what_has_no_popularity_is_an_error_on_either_side(
    metric: Callable[..., float],
    wrong: list[float],
) -> None:
    for sides in ((wrong, [1.0]), ([1.0], wrong)):
        with pytest.raises(
            OracleError,
            match=metric.__name__.partition("_difference")[0],
        ):
            metric(*sides)


@pytest.mark.parametrize(
    ("recommended", "consumed"),
    [("", ""), ("ab", "cd"), ("ab", "bc"), ("ad", "da")],
)
def test_a_correlation_of_nothing_or_of_equals_is_undefined(
    recommended: str,
    consumed: str,
) -> None:
    assert (
        popularity_rank_correlation(
            [*recommended],
            [*consumed],
            {"a": 2, "b": 3, "d": 2},
        )
        is None
    )


def test_rank_correlation_wants_one_rank_and_one_popularity_an_item() -> None:
    with pytest.raises(OracleError, match="repeats"):
        popularity_rank_correlation([*"aba"], [*"ab"], {"a": 1, "b": 2})
    with pytest.raises(OracleError, match="'b' has no popularity"):
        popularity_rank_correlation([*"ab"], [*"ab"], {"a": 1})


@pytest.mark.parametrize("metric", ON_SCORES)
def test_items_without_interactions_need_a_policy(metric: Callable[..., float]) -> None:
    with pytest.raises(OracleError, match=r"zero='drop'.*zero='plus-one'"):
        metric([3, 0], [2, 1])
    assert metric([3, 0, 5], [2, 1], zero="drop") == metric([3, 5], [2, 1])
    assert metric([3, 0, 5], [2, 1], zero="plus-one") == metric([4, 1, 6], [3, 2])
    with pytest.raises(OracleError, match="at least one item"):
        metric([0], [1], zero="drop")
    with pytest.raises(OracleError, match="got 'ignore'"):
        metric([1], [1], zero="ignore")


def test_one_more_interaction_for_all_makes_the_unit_matter() -> None:
    plus_one = [
        log_popularity_difference(
            [10 * c] * 3,
            [c, 2 * c, 3 * c, 4 * c],
            zero="plus-one",
        )
        for c in (1, 7)
    ]
    assert plus_one == pytest.approx([1.201022, 1.451222], abs=1e-6)


def test_relative_variants_are_those_of_the_differences() -> None:
    ours, theirs = [5, 1, 1, 1, 1], [1, 2, 3, 4]
    assert gini_relative_difference(ours, theirs) == pytest.approx(
        (16 / 45 - 0.25) / 0.25,
    )
    assert gini_ratio(ours, theirs) == pytest.approx(16 / 45 / 0.25)
    assert herfindahl_relative_difference([10] * 3, theirs) == pytest.approx(1 / 9)
    assert herfindahl_ratio([10] * 3, theirs) == pytest.approx(10 / 9)
    assert gini_ratio(ours, [2, 2]) is None
    assert gini_relative_difference(ours, [2, 2]) is None
