"""Samples of users against all users: p-values of the
Kolmogorov-Smirnov test that are known.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import ks_2samp

from pytest_recsys_mt import OracleError, Verdict
from pytest_recsys_mt.oracles import representative, same_distribution
from pytest_recsys_mt.verdict.answers import Context
from tests.oracles.support import FakeAnswers, ask


def users(
    pattern: str,
    context: Context | None = None,
    relevant: str = "a",
) -> FakeAnswers:
    """A user a character, who finds what he wants where it is a 1."""
    lists = [[["a"] if each == "1" else ["b"]] for each in pattern]
    return FakeAnswers(ask(lists, relevant=list(relevant)), context or Context())


@pytest.mark.parametrize(
    ("sample", "everybody", "distance", "p"),
    [
        # Of the C(2n, n) orders of two samples of n, two keep them wholly apart.
        ([1, 2, 3], [4, 5, 6], 1, 2 / 20),
        ([1, 2, 3, 4, 5], [9, 8, 7, 6, 10], 1, 2 / 252),
        # Tables of the two-sample test, n = m = 4: 16 and 54 of 70 orders.
        ([1, 2, 3, 5], [4, 6, 7, 8], 3 / 4, 16 / 70),
        ([1, 2, 3, 4], [3.5, 4.5, 2.5, 5], 1 / 2, 54 / 70),
        ([3, 1, 2], [2, 3, 1], 0, 1),
    ],
)
def test_distances_and_p_values_are_those_that_can_be_counted(
    sample: list[float],
    everybody: list[float],
    distance: float,
    p: float,
) -> None:
    assert same_distribution(sample, everybody) == pytest.approx((distance, p))
    assert same_distribution(everybody, sample) == pytest.approx((distance, p))


def test_large_samples_are_judged_as_scipy_does() -> None:
    rng = np.random.default_rng(4)
    sample, everybody = rng.normal(0.2, 1, 150).tolist(), rng.normal(0, 1, 900).tolist()
    found = ks_2samp(sample, everybody)
    assert same_distribution(sample, everybody) == pytest.approx(
        (found.statistic, found.pvalue),
    )


@pytest.mark.parametrize(
    ("sample", "everybody", "said"),
    [
        ([], [1.0], "at least one number, got 0 and 1"),
        ([1.0, 2.0], [], "at least one number, got 2 and 0"),
        ([1.0, math.nan], [1.0], "finite"),
        ([1.0], [math.inf], "finite"),
    ],
)
def test_what_has_no_distribution_is_refused(
    sample: list[float],
    everybody: list[float],
    said: str,
) -> None:
    with pytest.raises(OracleError, match=f"same_distribution: .*{said}"):
        same_distribution(sample, everybody)


def test_a_sample_like_everybody_is_accepted() -> None:
    verdict = representative(users("1100"), users("1100" * 5), "hit@5")
    assert verdict.status == "holds"
    assert (verdict.oracle, verdict.users) == ("representative:hit@5", 4)
    assert verdict.details["figures"] == {
        "distance": 0,
        "p": 1,
        "alpha": 0.05,
        "users": 4,
    }


def test_a_sample_unlike_everybody_is_refused_at_the_stated_level() -> None:
    sample, everybody = users("11111"), users("00000")
    verdict = representative(sample, everybody, "hit@5")
    assert verdict.status == "violated"
    assert verdict.details["figures"]["p"] == pytest.approx(2 / 252)
    assert verdict.reason == (
        "Kolmogorov-Smirnov distance 1.0000 of 5 from 5 users, p=0.00794, rejected below 0.05"
    )
    assert representative(sample, everybody, "hit@5", alpha=0.005).status == "holds"
    assert (
        representative(users("111"), users("000"), "hit@5").status == "holds"
    )  # p = .1


def test_users_without_a_score_do_not_count() -> None:
    mixed = users("111")
    mixed.asked = [*mixed.asked, *users("00", relevant="").asked]
    assert representative(mixed, users("111"), "hit@5").details["figures"]["users"] == 3


def test_the_verdict_is_reported() -> None:
    told: list[Verdict] = []

    def report(verdict: Verdict) -> Verdict:
        told.append(verdict)
        return verdict

    assert (
        representative(users("10", Context(report=report)), users("10"), "hit@5")
        is told[0]
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"sample": ""}, "representative:hit@5: .*no scored user.*got 0 of .*and 4"),
        ({"everybody": ""}, "representative:hit@5: .*no scored user.*got 4 of .*and 0"),
        ({"alpha": 0}, "representative:hit@5: alpha must lie between 0 and 1.*got 0"),
        ({"alpha": "much"}, "alpha must be a number, got 'much'"),
        ({"score": "hits@5"}, "there is no score 'hits@5'"),
    ],
)
def test_what_cannot_be_judged_is_refused(
    arguments: dict[str, object],
    said: str,
) -> None:
    given = {"sample": "1010", "everybody": "1010", "score": "hit@5", **arguments}
    sides = [users(str(given.pop(name))) for name in ("sample", "everybody")]
    with pytest.raises(OracleError, match=said):
        representative(*sides, **given)  # type: ignore[arg-type]
