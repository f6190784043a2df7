"""Series of history lengths: monotonicity, the crossing point, and paired differences."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_rel

from pytest_recsys_mt import OracleError, Verdict
from pytest_recsys_mt.oracles import crossing_point, monotone, paired_difference
from pytest_recsys_mt.verdict.answers import Answers, Context, Pairs
from tests.oracles.support import FakeAnswers, ask
from tests.support.oracles import _p_of_some


def series(hits: Sequence[Sequence[bool]]) -> list[FakeAnswers]:
    """One side a step; users are the same in all of them."""
    return [
        FakeAnswers(
            ask([[["a"] if hit else ["b"]] for hit in of_step], relevant=["a"]),
            Context(),
            f"history({step})",
        )
        for step, of_step in enumerate(hits)
    ]


def growing(shares: Sequence[float], users: int = 200) -> list[list[bool]]:
    """Where shares rise, a user found with a shorter
    history is found with the longer one too.
    """
    ranks = np.random.default_rng(9).permutation(users)
    return [[bool(rank < share * users) for rank in ranks] for share in shares]


class Failing(FakeAnswers):
    """A side that shares no user with one whose calls failed."""

    def pair(self, followup: Answers, /, users: int | None = None) -> Pairs:
        failed = followup.sample(users).lost
        return Pairs((), (), {}, failed) if failed else super().pair(followup, users)


def test_a_series_that_never_falls_holds_and_tells_its_steps() -> None:
    verdict = monotone(series(growing([0.2, 0.4, 0.4, 0.6])), "hit@5", margin=0.05)
    assert verdict.status == "holds"
    assert verdict.estimate == 0  # of the worst step, in which nothing moves
    assert verdict.reason.count("holds, gains 0.") == 3
    assert "history(1) to history(2): holds, gains 0.0000" in verdict.reason


def test_one_step_down_is_enough_and_it_is_the_one_shown() -> None:
    verdict = monotone(series(growing([0.2, 0.6, 0.3, 0.4])), "hit@5", margin=0.05)
    assert (verdict.status, verdict.relation) == ("violated", "history(2)")
    assert verdict.estimate == pytest.approx(
        0.3,
        abs=0.1,
    )  # of the users asked until it was clear
    assert verdict.p_value is not None
    assert verdict.p_value <= 0.05


def test_users_whom_some_steps_cannot_serve_are_in_no_shared_bet() -> None:
    # The first step serves every second user; in the next one these lose, and the
    # others gain as much.
    users = [f"u{at}" for at in range(200)]
    step = partial(
        Verdict,
        "inconclusive",
        "monotone:ndcg@10",
        reach=(-1.0, 1.0),
        margin=0.05,
    )
    first = step("r", p_value=0.4, per_user=dict.fromkeys(users[::2], 0.0))
    losses = {user: -0.2 if at % 2 else 0.3 for at, user in enumerate(users)}
    second = step("s", p_value=0.4, per_user=losses)
    assert _p_of_some([first, second]) == pytest.approx(0.8)
    early = step("r", p_value=0.4, per_user=dict.fromkeys(users[:50], 0.0))
    assert _p_of_some([early, second]) != pytest.approx(0.8), (
        "the first ones of the same order"
    )


def test_the_p_values_of_the_steps_are_corrected() -> None:
    rng = np.random.default_rng(0)
    found = 0
    for _ in range(30):
        # Six steps of pure noise: without correction some step would often seem to
        # fall.
        sides = series([(rng.random(40) < 0.5).tolist() for _ in range(7)])
        found += monotone(sides, "hit@5", margin=0.0).status == "violated"
    assert found <= 5  # 1.5 in expectation; 8 without correction


def test_steps_that_nobody_can_serve_are_left_out_and_told() -> None:
    first, second, third = series(growing([0.2, 0.4, 0.5]))
    first = FakeAnswers([], Context(), "history(0)", not_applicable={"no history": 200})
    verdict = monotone([first, second, third], "hit@5", margin=0.05)
    assert verdict.status == "holds"
    assert "history(0) to history(1): not-applicable" in verdict.reason
    nothing = monotone([first, FakeAnswers([], Context(), "history(1)")], "hit@5")
    assert nothing.status == "not-applicable"


def test_a_step_that_fails_is_an_error() -> None:
    first, second = series(growing([0.2, 0.4]))
    second = Failing(second.asked, second.context, second.label)
    broken = FakeAnswers([], Context(), "history(2)", errors={"timeout": 200})
    assert monotone([first, second, broken], "hit@5").status == "error"


def test_one_verdict_is_reported() -> None:
    reported = []

    def report(verdict: object) -> object:
        reported.append(verdict)
        return verdict

    sides = series(growing([0.2, 0.4, 0.5]))
    context = Context(report=report)  # type: ignore[arg-type]
    for side in sides:
        side.context = context
    assert reported == [] or monotone(sides, "hit@5")
    assert [monotone(sides, "hit@5")] == reported[-1:]
    assert len(reported) == 1


def test_the_crossing_point_and_its_interval() -> None:
    rng = np.random.default_rng(1)
    lengths = [0, 1, 2, 5, 10]
    flat = rng.random((300, 5)) < 0.4
    rising = rng.random((300, 5)) < np.array([0.05, 0.1, 0.15, 0.6, 0.8])
    found = crossing_point(lengths, flat, rising)
    assert (found.length, found.low, found.high, found.never) == (5, 5, 5, 0)
    close = crossing_point(
        lengths,
        flat,
        rng.random((300, 5)) < [0.05, 0.1, 0.4, 0.42, 0.8],
    )
    assert close.low == 2
    assert close.high in (5, 10)
    never = crossing_point(lengths, flat, np.zeros((300, 5)))
    assert (never.length, never.low, never.high, never.never) == (None, None, None, 1)
    always = crossing_point(lengths, np.zeros((3, 5)), np.ones((3, 5)))
    assert (always.length, always.low, always.high) == (0, 0, 0)


def test_equal_means_are_no_crossing() -> None:
    same = np.random.default_rng(2).random((20, 3))
    assert crossing_point([1, 2, 3], same, same).length is None


@given(st.integers(0, 100))
def test_the_order_of_users_does_not_move_the_crossing_point(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ours, other = rng.random((8, 3)), rng.random((8, 3))
    order = rng.permutation(8)
    shuffled = crossing_point([1, 2, 3], ours[order], other[order], draws=50)
    assert shuffled.length == crossing_point([1, 2, 3], ours, other, draws=50).length


def test_paired_differences_by_both_tests() -> None:
    rng = np.random.default_rng(3)
    ours = rng.random(60)
    other = ours - 0.05 + 0.1 * rng.standard_normal(60)
    flips, t = paired_difference(ours, other), paired_difference(ours, other, test="t")
    assert t.p_value == pytest.approx(ttest_rel(ours, other).pvalue)
    assert flips.p_value == pytest.approx(t.p_value, abs=0.003)
    assert flips.significant
    assert t.significant
    assert flips.mean == pytest.approx((ours - other).mean())
    assert not paired_difference(
        ours,
        other,
        1e-5,
    ).significant  # 9,999 draws cannot show that


def test_a_test_without_an_answer_says_so() -> None:
    ones = np.ones(12)
    assert paired_difference(ones, ones).p_value == 1
    assert paired_difference(ones, ones, test="t").p_value == 1
    constant = paired_difference(ones, 0 * ones, test="t")
    assert (constant.p_value, constant.significant) == (None, False)
    assert paired_difference(ones, 0 * ones).p_value == pytest.approx(
        2 / 2**12,
        abs=5e-4,
    )


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: monotone(series([[True]])), "at least two sides, got 1"),
        (lambda: monotone(series([[True]] * 2), margin=-1), "at least 0"),
        (lambda: monotone([1, 2]), "must be answers"),  # type: ignore[list-item]
        (lambda: monotone(series([[True]] * 2), "hits"), "did you mean 'hit'"),
        (lambda: crossing_point([1, 2], [[1, 2]], [[1, 2]]), "at least two users"),
        (lambda: crossing_point([1], [[1, 2]], [[1, 2]]), "for 1 lengths"),
        (
            lambda: crossing_point([2, 1], np.ones((2, 2)), np.ones((2, 2))),
            "lengths must rise",
        ),
        (lambda: paired_difference([1], [1]), "at least two"),
        (lambda: paired_difference([1, 2], [1, 2, 3]), r"\(2,\) and \(3,\)"),
        (lambda: paired_difference([1, 2], [1, 2], 1), "alpha must lie"),
        (lambda: paired_difference([1, 2], [1, 2], test="w"), "'sign-flips' or 't'"),  # type: ignore[arg-type]
    ],
)
def test_impossible_arguments_are_named(call: object, said: str) -> None:
    assert callable(call)
    with pytest.raises(OracleError, match=said):
        call()
