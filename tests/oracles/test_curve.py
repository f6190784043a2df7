"""Points of a curve: means and bounds that are known in closed form."""

import math

import pytest

from pytest_recsys_mt import OracleError
from pytest_recsys_mt.oracles import at_least, curve, means_of_users
from pytest_recsys_mt.verdict.answers import Context
from tests.oracles.support import FakeAnswers, ask


def side(*lists: str, relevant: str = "a", alpha: float = 0.05) -> FakeAnswers:
    return FakeAnswers(
        ask([[list(answer)] for answer in lists], relevant=list(relevant)),
        Context(alpha=alpha),
    )


def test_a_point_is_a_place_a_mean_and_its_exact_bounds() -> None:
    ((place, mean, low, high),) = curve({5: side("ab", "ba", "ac", "bc")}, "hit@5")
    assert (place, mean) == (5, 0.75)
    # Clopper and Pearson, 3 of 4: P(X >= 3) = 4 p^3 - 3 p^4, and P(X <= 3) = 1 - p^4.
    assert 4 * low**3 - 3 * low**4 == pytest.approx(0.05)
    assert high == pytest.approx(0.95**0.25)


def test_bounds_go_by_the_error_rate_of_each_side() -> None:
    wide, narrow = curve({1: side("a", "a"), 2: side("a", "a", alpha=0.25)}, "hit@5")
    # Of 2 users both: P(X >= 2) = p^2.
    assert wide[2:] == pytest.approx((0.05**0.5, 1))
    assert narrow[2:] == pytest.approx((0.5, 1))


def test_means_are_those_of_graded_scores() -> None:
    ((_, mean, low, high),) = curve({1: side("ab", "ba", "cba", "cb")}, "mrr@5")
    assert mean == pytest.approx((1 + 1 / 2 + 1 / 3 + 0) / 4)
    assert 0 <= low < mean < high <= 1


def test_points_stand_in_the_order_given() -> None:
    found = curve({40: side("a", "a"), 1: side("b", "b"), 5: side("a", "b")}, "hit@5")
    assert [(place, mean) for place, mean, *_ in found] == [
        (40, 1.0),
        (1, 0.0),
        (5, 0.5),
    ]


@pytest.mark.parametrize(
    "nobody",
    [FakeAnswers([]), side("ab", relevant=""), side("")],
    ids=["nobody asked", "nothing held out", "no answer"],
)
def test_places_without_a_mean_are_left_out(nobody: FakeAnswers) -> None:
    assert [place for place, *_ in curve({0: nobody, 1: side("a", "b")}, "hit@5")] == [
        1,
    ]
    assert curve({0: nobody}, "hit@5") == []


def test_there_may_be_no_side_but_there_must_be_such_a_score() -> None:
    assert curve({}) == []
    with pytest.raises(OracleError, match=r"there is no score 'hits@5'.*hit"):
        curve({1: side("a")}, "hits@5")


def test_a_point_may_be_an_aggregate_with_the_value_of_its_verdict() -> None:
    answers = side("ab", "ba", "ac", "bc")
    ((_, value, _, _),) = curve({0: answers}, "jain@5")
    first, second = 1.0, 1 / math.log2(3)
    sums = (2 * first + second) ** 2
    assert value == pytest.approx(sums / (4 * (2 * first**2 + second**2)))
    assert value == at_least(answers, "jain@5", 0.1).value
    assert curve({0: side("b", "c")}, "jain@5") == []  # undefined: nothing is found


def test_scores_of_users_are_means_over_sides_and_of_users_on_all_of_them() -> None:
    both = means_of_users([side("ab", "ba"), side("b", "a")], "mrr@5")
    assert list(both.values()) == pytest.approx([(1 + 0) / 2, (1 / 2 + 1) / 2])
    assert len(means_of_users([side("ab", "ba"), side("a")], "mrr@5")) == 1
    assert means_of_users([], "hit@5") == {}
