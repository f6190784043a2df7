"""A verdict in words says what was found, how sure that is, and what would settle it."""

from typing import Any

from tests.report.records import holds, row, task
from tests.support.gate import Row
from tests.support.report import limit_of
from tests.support.report_html import agreement, number, state_of, verdict


def said(found: Row, judged: int = 10) -> str:
    return " ".join(verdict(found, 0.05, judged))


def test_a_violation_says_how_sure_it_is() -> None:
    assert said(row()) == (
        "Over 60 users, the loss of agreement beyond noise is 0.210; the promise allows at most 0.05. "
        "With 95% confidence, the mean over all users like these is at least 0.150. "
        "Were the promise kept, numbers as bad as these would turn up with a probability of "
        "0.0004. "
        "Corrected for all 10 claims of this run (Holm), the probability is 0.004: "
        "the violation stands."
    )


def test_a_violation_that_the_correction_takes_back_says_so() -> None:
    assert "this one may be chance; ask more users" in said(row(p_holm=0.3))
    assert "Holm" not in said(row(p_holm=0.0004), judged=1), "nothing to correct for"


def test_the_bound_that_carries_the_verdict_is_the_one_that_is_said() -> None:
    assert "like these is at most 0.030." in said(holds())
    assert "like these is at least -0.010." in said(
        holds(allowed="at least", margin=-0.1),
    )
    assert "like these is at most 0.270." in said(row(allowed="at least", margin=0.5))
    assert (
        "With 95% confidence each, the mean over all users like these is above -0.010"
        in said(holds(allowed="within"))
    )


def test_an_inconclusive_verdict_says_what_would_settle_it() -> None:
    text = said(
        holds(
            status="inconclusive",
            interval=[-0.02, 0.12],
            reason="about 140 more users would",
        ),
    )
    assert "is above -0.020 and below 0.120. The limit is between the two." in text
    assert "neither a broken nor a kept promise is shown" in text
    assert "What would settle it: about 140 more users would." in text


def test_a_row_without_numbers_says_why() -> None:
    nothing: dict[str, Any] = {"estimate": None, "interval": None, "p_value": None}
    assert (
        said(row(status="error", reason="429", **nothing))
        == "No verdict could be made: 429."
    )
    assert "could not be tested on the recommender: no text." in said(
        row(status="not-applicable", reason="no text", **nothing),
    )


def test_a_share_of_users_is_said_in_percent() -> None:
    text = said(
        row(
            oracle="only_candidates",
            measures="share of users with an item that was not offered",
            estimate=0.24,
            interval=[0.08, 0.48],
        ),
    )
    assert "the share of users with an item that was not offered is 24.0%" in text
    assert "the promise allows at most 5%" in text
    assert "the share among all users like these is at least 8.0%." in text


def test_a_promise_of_at_least_something_asks_for_it() -> None:
    assert "; the promise asks for at least 0.1." in said(
        row(allowed="at least", margin=0.1),
    )


def test_a_benchmark_value_is_said_against_its_threshold() -> None:
    assert said(task("hit@10", 0.2)) == (
        "Over 60 users, the mean hit@10 is 0.200; the test asks for at least 0.1. "
        "With 95% confidence, the mean over all users like these is at least 0.180."
    )


def test_expected_violations_are_neither_broken_nor_kept() -> None:
    assert state_of(row(expected="violated")).label == "known violation"
    assert state_of(holds(expected="violated")).label == "fixed"
    assert not state_of(row(expected="violated")).bad
    assert state_of(holds(expected="violated")).bad
    assert "remove the expectation" in said(holds(expected="violated"))


def test_the_noise_floor_is_said_beside_the_agreement() -> None:
    assert "agree by 0.69" in agreement(row())
    assert "agrees with itself by 0.90 (the noise floor)" in agreement(row())
    assert "repeats itself exactly" in agreement(row(floor=1.0))
    assert agreement(row(floor=None)) == ""


def test_records_of_before_say_no_side_and_no_error_rate() -> None:
    old = row()
    del old["allowed"]
    assert limit_of(old) == "0.05"
    assert "At the declared error rate each, the mean" in " ".join(
        verdict(old, None, 2),
    )


def test_numbers_are_short_and_never_lose_themselves() -> None:
    assert [number(x) for x in (None, 0.0, 0.00004, 0.1234, 12.3456, 1234.5)] == [
        "–", "0.000", "4e-05", "0.123", "12.346", "1,234",
    ]  # fmt: skip
