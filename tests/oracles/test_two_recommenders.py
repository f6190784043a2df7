"""One recommender against another on the same users, with
p-values that can be counted by hand.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from pytest_recsys_mt import OracleError, Verdict
from pytest_recsys_mt.oracles import ahead_when_cold, not_behind, representative
from pytest_recsys_mt.verdict.answers import Context, Sample
from tests.oracles.support import FakeAnswers, ask
from tests.support.verdict import NOT_ASKED


def hits(pattern: str | Sequence[bool], context: Context | None = None) -> FakeAnswers:
    """A user a character, who finds what he wants where it is a 1."""
    lists = [[["a"] if str(int(each)) == "1" else ["b"]] for each in pattern]
    return FakeAnswers(ask(lists, relevant=["a"]), context or Context())


@pytest.mark.parametrize(
    ("users", "alpha", "status"),
    [(12, 0.01, "holds"), (7, 0.01, "inconclusive"), (7, 0.05, "holds")],
)
def test_who_finds_more_for_everybody_is_ahead_once_users_are_enough(
    users: int,
    alpha: float,
    status: str,
) -> None:
    ones, zeros = [hits("1" * users)], [hits("0" * users)]
    verdict = not_behind(ones, zeros, "hit@5", alpha)
    assert (verdict.status, verdict.oracle) == (status, "not_behind:hit@5")
    assert (verdict.value, verdict.threshold, verdict.users) == (1.0, None, users)
    # Of all 2^n patterns of signs, two are as extreme as the one in which nobody is
    # flipped.
    assert verdict.details["figures"]["p"] == pytest.approx(2 / 2**users, abs=0.004)
    turned = not_behind(zeros, ones, "hit@5", alpha)
    assert turned.status == {"holds": "violated"}.get(status, status)
    assert turned.details["figures"]["p"] == verdict.details["figures"]["p"]


def test_equal_recommenders_cannot_be_told_apart() -> None:
    verdict = not_behind([hits("1100" * 10)], [hits("1100" * 10)], "hit@5")
    assert verdict.status == "inconclusive"
    assert verdict.details["figures"]["p"] == 1
    assert verdict.details["figures"]["difference"] == 0


def test_of_several_initialisations_each_users_mean_counts() -> None:
    verdict = not_behind([hits("1000"), hits("1110")], [hits("0001")], "hit@5")
    assert verdict.value == 0.5
    assert verdict.threshold is None, "the other's mean is measured, not declared"
    assert "0.5000 against 0.2500 of the other recommender" in verdict.reason
    assert "no difference below 0 is allowed; means of 2 and 1 fits" in verdict.reason
    figures = verdict.details["figures"]
    # Means of 1/4 and 3/4; the users' differences are 1, 1/2, 1/2 and -1.
    assert figures["ours_mean"] == 0.5
    assert figures["ours_deviation"] == pytest.approx(math.sqrt(1 / 8))
    assert figures["other_deviation"] == 0
    assert figures["difference"] == 0.25
    # |sum| >= 1 in 12 of 16 patterns: all but those with +-1 +-1 = 0 and +-1/2 +-1/2 = 0.
    assert figures["p"] == pytest.approx(12 / 16, abs=0.02)


def test_users_are_paired_by_name_and_others_left_out() -> None:
    ours, other = hits("110011"), hits("000011")
    other.asked = [other.asked[place] for place in (5, 3, 4)]
    verdict = not_behind([ours], [other], "hit@5")
    assert (verdict.users, verdict.details["figures"]["difference"]) == (3, 0)


@pytest.mark.parametrize("pattern", ["", "1"])
def test_too_few_users_are_not_applicable(pattern: str) -> None:
    one = hits(pattern)
    assert not_behind([one], [one], "hit@5").status == "not-applicable"
    cold = ahead_when_cold({1: one, 5: one}, {1: one, 5: one}, "hit@5")
    assert (cold.status, cold.reason) == ("not-applicable", "too few users")


def test_what_cannot_be_compared_is_refused() -> None:
    side = hits("10")
    with pytest.raises(OracleError, match="each recommender needs a side, got 0, 1"):
        not_behind([], [side])
    with pytest.raises(OracleError, match="needs a side, got 1, 0"):
        not_behind([side], [])
    with pytest.raises(OracleError, match=r"alpha must lie between 0 and 1.*got 1"):
        not_behind([side], [side], "hit@5", alpha=1)
    with pytest.raises(OracleError, match="there is no score 'hits@5'"):
        not_behind([side], [side], "hits@5")
    with pytest.raises(
        OracleError,
        match=r"two lengths of histories, shared are \[5\]",
    ):
        ahead_when_cold({1: side, 5: side}, {5: side, 10: side})


@pytest.mark.parametrize(
    ("ours", "other", "status", "crossing"),
    [
        (["1" * 20, "0" * 20], ["0" * 20, "1" * 20], "holds", (5, 5, 5)),
        (["0" * 20, "1" * 20], ["1" * 20, "0" * 20], "violated", (1, 1, 1)),
        (["1" * 20, "1" * 20], ["0" * 20, "1" * 20], "holds", (None, None, None)),
        (["0100" * 5, "1" * 20], ["0011" * 5, "1" * 20], "inconclusive", (1, 1, None)),
    ],
    ids=["overtaken later", "overtaken at once", "never overtaken", "who knows"],
)
def test_being_ahead_with_the_shortest_history(
    ours: list[str],
    other: list[str],
    status: str,
    crossing: tuple[int | None, ...],
) -> None:
    lengths: list[int] = [1, 5]
    left, right = (
        dict(zip(lengths, map(hits, patterns), strict=True))
        for patterns in (ours, other)
    )
    verdict = ahead_when_cold(left, right, "hit@5")
    figures = verdict.details["figures"]
    assert (verdict.status, verdict.oracle) == (status, "ahead_when_cold:hit@5")
    assert (figures["crossing_point"], figures["low"], figures["high"]) == crossing
    told = ["never" if end is None else str(end) for end in crossing]
    assert verdict.reason.endswith(f"95 % interval {told[1]} to {told[2]}")
    curves = verdict.details["curve"]["lines"]
    assert [point[:2] for point in curves["ours"]] == [
        [length, pattern.count("1") / 20]
        for length, pattern in zip(lengths, ours, strict=True)
    ]
    assert verdict.details["curve"]["points"] == curves["ours"]


def test_only_lengths_that_both_were_asked_with_count_in_their_order() -> None:
    good, bad = hits("1" * 20), hits("0" * 20)
    # At 0 ours alone was asked, at 40 the other alone.
    verdict = ahead_when_cold(
        {5: bad, 1: good, 0: bad},
        {40: good, 5: good, 1: bad},
        "hit@5",
    )
    assert (verdict.status, verdict.details["figures"]["crossing_point"]) == (
        "holds",
        5,
    )
    assert [point[0] for point in verdict.details["curve"]["points"]] == [1, 5]


def judged_with(side: FakeAnswers) -> list[Verdict]:
    """By each oracle, as either recommender."""
    good = hits("1" * 12)
    return [
        not_behind([good], [good, side], "hit@5"),
        not_behind([side], [good], "hit@5"),
        ahead_when_cold({1: good, 5: good}, {1: good, 5: side}, "hit@5"),
        ahead_when_cold({1: side, 5: good}, {1: good, 5: good}, "hit@5"),
        representative(side, good, "hit@5"),
        representative(good, side, "hit@5"),
    ]


def test_users_whose_calls_failed_are_not_passed_over() -> None:
    side = hits("1" * 12)
    side.errors = {"timeout": 4}
    for verdict in judged_with(side):
        assert (verdict.status, verdict.errors) == ("error", 4)
        assert (
            verdict.reason
            == "timeout (4): 25.0% of the users failed, the limit is 5.0%"
        )
    nobody = FakeAnswers([], errors={"timeout": 12})
    assert {verdict.status for verdict in judged_with(nobody)} == {"error"}
    silent = FakeAnswers(ask([[["a"]]] * 12 + [[[]]] * 4, relevant=["a"]))
    assert {verdict.status for verdict in judged_with(silent)} == {"error"}


def test_a_few_failures_are_borne() -> None:
    side = hits("1" * 12, Context(error_limit=0.25))
    side.errors = {"timeout": 4}
    assert "error" not in {verdict.status for verdict in judged_with(side)}


class CutShort(FakeAnswers):
    """A side on which the limit of calls was reached."""

    def sample(self, users: int | None = None) -> Sample:
        return replace(super().sample(users), unasked={"--recsys-max-calls": 30})


def test_where_users_were_not_asked_nothing_is_claimed() -> None:
    for verdict in judged_with(CutShort(hits("1" * 12).asked)):
        assert verdict.status == "inconclusive"
        assert verdict.reason == f"{NOT_ASKED}--recsys-max-calls (30)"


def test_one_verdict_each_is_reported() -> None:
    told: list[Verdict] = []

    def report(verdict: Verdict) -> Verdict:
        told.append(verdict)
        return verdict

    side = hits("10" * 10, Context(report=report))
    assert not_behind([side], [side], "hit@5") is told[-1]
    assert ahead_when_cold({1: side, 5: side}, {1: side, 5: side}, "hit@5") is told[-1]
    assert len(told) == 2
