"""Bounds of a quantile by order statistics, and the verdict on the time of calls."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from pytest_recsys_mt import NotApplicable, OracleError
from pytest_recsys_mt.oracles import latency_within
from pytest_recsys_mt.verdict.answers import Context
from tests.support.oracles_statistics import Quantile, Times, fewest


@dataclass
class Timed:
    """Answers of one side, as far as the oracle reads them."""

    found: Times
    context: Context = field(default_factory=Context)
    label = ""

    def sample(self) -> None: ...

    def pair(self) -> None: ...

    def times(self) -> Times:
        return self.found


def judged(found: Times, **limits: float):  # type: ignore[no-untyped-def]
    return latency_within(Timed(found), **limits)  # type: ignore[arg-type]


@pytest.mark.parametrize("share", [0.5, 0.95])
def test_a_limit_at_the_quantile_is_claimed_wrongly_at_most_at_the_error_rate(
    share: float,
) -> None:
    """Of times with an exponential law, whose quantiles are known."""
    rng, runs, alpha = np.random.default_rng(0), 4_000, 0.05
    quantile = -np.log(1 - share)
    too_low = too_high = violated = holds = 0
    for times in rng.exponential(size=(runs, 100)):
        found = Quantile(share, times.tolist())
        too_high += found.lower(alpha) > quantile
        too_low += found.upper(alpha) < quantile
        violated += found.p_at_most(quantile) <= alpha
        holds += found.p_at_least(quantile * (1 - 1e-9)) <= alpha
    # Three standard errors of a rate of 0.05 above it, and not far below: of a fixed
    # sample the rates are the largest that are possible.
    for rate in (too_low, too_high, violated, holds):
        assert 0.01 < rate / runs < alpha + 3 * np.sqrt(alpha * (1 - alpha) / runs)


def test_a_bound_and_the_verdict_say_the_same() -> None:
    rng = np.random.default_rng(1)
    for times in rng.exponential(size=(50, 80)):
        found = Quantile(0.95, times.tolist(), unknown=1)
        for limit in rng.exponential(2, size=20):
            assert (found.upper(0.05) <= limit) == (found.p_at_least(limit) <= 0.05)
            assert (found.lower(0.05) > limit) == (found.p_at_most(limit) <= 0.05)


def test_fifty_nine_calls_can_show_the_95th_percentile_and_one_fewer_cannot() -> None:
    assert fewest(0.95, 0.05) == 59
    assert judged(Times((0.1,) * 59), p95=0.2).status == "holds"
    few = judged(Times((0.1,) * 58), p95=0.2)
    assert few.status == "inconclusive"
    assert "58 calls are too few" in few.reason
    assert "59 or more" in few.reason


def test_a_call_that_failed_or_was_tried_again_counts_against_every_claim() -> None:
    quick = (0.1,) * 59
    assert judged(Times(quick, retried=1), p95=0.2).status == "inconclusive"
    assert (
        judged(Times(quick, failed={"timed out": 1}), p95=0.2).status == "inconclusive"
    )
    # Of 7 slow calls among 40 the 95th percentile is above the limit, whatever one
    # more took.
    slow = (0.1,) * 33 + (0.9,) * 7
    found = judged(Times(slow, retried=1), p95=0.2)
    assert found.status == "violated"
    assert "answered after an attempt that failed (1)" in found.reason


def test_late_calls_are_the_reason_where_there_are_enough_calls() -> None:
    found = judged(Times((0.1,) * 92, retried=28, refused=20), p95=0.3)
    assert found.status == "inconclusive"
    said = "28 of 120 calls were answered only after a failed attempt and count as late"
    assert said in found.reason
    assert "the endpoint refused 20 of them first" in found.reason
    assert "too few" not in found.reason
    failed = judged(Times((0.1,) * 99, failed={"timed out": 3}), p95=0.3)
    assert "3 of 102 calls failed and count as late" in failed.reason
    one = judged(Times((0.1,) * 59, retried=1), p95=0.3)
    assert (
        "1 of 60 calls was answered only after a failed attempt and counts"
        in one.reason
    )


def test_of_two_limits_the_broken_one_decides_and_both_are_told() -> None:
    found = judged(Times((0.3,) * 100), p95=0.5, p50=0.2)
    assert found.status == "violated"
    assert found.metric == "latency p50"
    assert (found.value, found.threshold) == (0.3, 0.2)
    assert found.details["figures"]["limit of p95"] == 0.5
    # Two hypotheses were tested.
    assert found.p_value == pytest.approx(2 * 0.5**100)


def test_calls_of_an_earlier_run_are_no_evidence() -> None:
    found = judged(Times(uncounted={"answered by an earlier run": 100}), p95=1.0)
    assert found.status == "inconclusive"
    assert "answered by an earlier run (100)" in found.reason
    with pytest.raises(NotApplicable, match="replay"):
        judged(Times(obstacle="replay sends no calls"), p95=1.0)


@pytest.mark.parametrize(
    ("limits", "words"),
    [({}, "no limit is given"), ({"p95": 0.0}, "above 0, got 0.0")],
)
def test_what_is_no_limit_is_refused(limits: dict[str, float], words: str) -> None:
    with pytest.raises(OracleError, match=words):
        judged(Times((0.1,)), **limits)
