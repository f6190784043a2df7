"""Bounds for numbers of all users together: approximate, and said to be."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_recsys_mt import Verdict
from pytest_recsys_mt.oracles import (
    at_most,
    cand_dif_within,
    no_position_bias,
    same_ranking,
)
from pytest_recsys_mt.verdict.answers import Context
from tests.oracles.support import DETERMINISTIC, FakeAnswers, ask, sides
from tests.oracles.test_position_bias import found_at
from tests.report.records import task
from tests.support.oracles import GroupEffects
from tests.support.oracles_statistics import Jackknife
from tests.support.report import _row, sentence
from tests.support.report_html import _facts
from tests.support.report_html import verdict as said

VALUES = st.lists(st.floats(-1.5, 1.5), min_size=1, max_size=30).map(np.array)


@settings(deadline=None)
@given(VALUES, st.floats(-2, 2), st.floats(0.001, 0.3))
def test_bounds_and_p_values_agree(
    values: np.ndarray,
    value: float,
    alpha: float,
) -> None:
    mean = Jackknife(values, -1.5, 1.5, 1.0)
    if abs(mean.lower(alpha) - value) > 1e-9:
        assert (mean.lower(alpha) > value) == (mean.p_at_most(value) <= alpha)
    if abs(mean.upper(alpha) - value) > 1e-9:
        assert (mean.upper(alpha) < value) == (mean.p_at_least(value) <= alpha)
    assert mean.p_within(abs(value)) <= 2 * mean.p_at_most(abs(value)) + 1e-12


def test_a_sample_in_which_nobody_differs_is_not_certain() -> None:
    few, many = (Jackknife(np.full(n, 0.5), 0, 1, 1) for n in (40, 400))
    assert few.upper(0.05) > many.upper(0.05) > 0.5 > many.lower(0.05) > few.lower(0.05)
    assert Jackknife(np.full(40, 1.0), 0, 1, 1).upper(0.05) == 1


@pytest.mark.parametrize("share", [0.5, 0.05, 0.02])
@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_bounds_of_a_share_keep_their_error_rate(share: float, alpha: float) -> None:
    """A mean over users is a number of all users too, whose truth is known."""
    rng = np.random.default_rng(0)
    means = [
        Jackknife((rng.random(40) < share).astype(float), -math.inf, math.inf, 1)
        for _ in range(1500)
    ]
    allowed = alpha + 3 * math.sqrt(alpha / len(means))
    assert np.mean([mean.lower(alpha) > share for mean in means]) <= allowed
    assert np.mean([mean.upper(alpha) < share for mean in means]) <= allowed


def test_effects_of_places_are_bounded_by_the_group_that_is_furthest_out() -> None:
    rng = np.random.default_rng(0)
    places = rng.integers(0, 4, 2000)
    values = (rng.random(2000) < 0.5 + 0.1 * (places == 0)).astype(float)
    effects = GroupEffects(values, places, 4)
    for value in (-0.15, -0.05, 0.05, 0.2):
        assert (effects.lower(0.05) > value) == (effects.p_at_most(value) <= 0.05)
        assert (effects.upper(0.05) < value) == (effects.p_at_least(value) <= 0.05)


def approximate() -> list[Verdict]:
    coverage = FakeAnswers(
        ask([[["a", "b"]]] * 60, candidates=list("abcde")),
        Context(),
    )
    places, hits = (
        [user % 20 for user in range(200)],
        [user % 3 > 0 for user in range(200)],
    )
    source = found_at(places, hits)
    return [
        at_most(coverage, "item_coverage", 0.9),
        cand_dif_within(source, found_at([0] * 200, hits, "first(1)")),
        no_position_bias(source),
    ]


def test_verdicts_without_a_proof_say_so() -> None:
    for verdict in approximate():
        assert verdict.interval is not None
        assert verdict.approximate
        assert "(approximately " in verdict.summary
        assert "; approximate bounds [" in verdict.numbers
    proven = same_ranking(*sides([[["a"]]] * 60, [[["a"]]] * 60, DETERMINISTIC))
    assert not proven.approximate
    assert "approximate" not in proven.summary + proven.numbers


def test_whatever_shows_the_bounds_calls_them_approximate() -> None:
    row = task("item_coverage@5", 0.4, approximate=True, attempts=1)
    assert "Approximately, with 95% confidence, " in " ".join(said(row, 0.05, 1))
    assert ("interval", "0.380 to 0.420 (approximate)") in _facts(row)
    assert "is 0.400 (approximately 0.380 to 0.420; 60 users)" in sentence(row)
    assert "0.380 to 0.420 (approximate)" in _row(row, "hits")
