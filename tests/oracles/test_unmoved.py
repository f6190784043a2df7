"""What says nothing must move nothing: the share of changed lists where nothing varies,
the mean loss elsewhere.
"""

import dataclasses

import numpy as np
import pytest

from pytest_recsys_mt import OracleError
from pytest_recsys_mt.oracles import same_ranking, unmoved
from tests.oracles.support import DETERMINISTIC, FakeAnswers, plackett_luce, sides

LIST = [["a", "b", "c", "d", "e"]]
LAST_TWO_SWAPPED = [["a", "b", "c", "e", "d"]]


def some_changed(changed: int, users: int = 200) -> tuple[FakeAnswers, FakeAnswers]:
    """Answers that always come alike, of which the last two
    places change for the first users.
    """
    followup = [LAST_TWO_SWAPPED] * changed + [LIST] * (users - changed)
    order = np.random.default_rng(0).permutation(users)
    return sides([LIST] * users, [followup[at] for at in order], DETERMINISTIC)


def test_small_changes_of_many_lists_are_a_fault_of_a_recommender_that_never_varies() -> (
    None
):
    both = some_changed(40)
    mean = same_ranking(*both, margin=0.05)
    assert mean.status == "holds"
    assert "lists changed, the most that of user" in mean.summary
    verdict = unmoved(*both, margin=0.05)
    assert verdict.status == "violated"
    assert verdict.measures == "share of users whose list changed"
    assert verdict.estimate == pytest.approx(0.2, abs=0.08)
    assert verdict.details["changed"]["changed"] == round(
        (verdict.estimate or 0) * verdict.users,
    )


def test_of_users_who_break_it_equally_the_one_whose_lists_agree_least_is_shown_first() -> (
    None
):
    turned = [["e", "d", "c", "b", "a"]]
    changed = [*[LAST_TWO_SWAPPED] * 10, turned, *[LAST_TWO_SWAPPED] * 49]
    verdict = unmoved(*sides([LIST] * 60, changed, DETERMINISTIC), margin=0.05)
    assert verdict.examples[0].user == "u10"


def test_nobody_computes_how_many_users_it_takes_where_one_is_judged_for_an_example() -> (
    None
):
    few = sides([LIST] * 3, [LAST_TWO_SWAPPED, LIST, LIST], DETERMINISTIC)
    alone = dataclasses.replace(DETERMINISTIC, alone=True)
    shown = unmoved(*few, margin=0.05)
    example = unmoved(
        *sides([LIST] * 3, [LAST_TWO_SWAPPED, LIST, LIST], alone),
        margin=0.05,
    )
    assert shown.status == example.status == "inconclusive"
    assert shown.reason
    assert not example.reason
    assert (example.estimate, example.examples) == (shown.estimate, shown.examples)


def test_ties_may_change_a_few_lists() -> None:
    assert unmoved(*some_changed(2)).status != "violated"
    assert unmoved(*some_changed(0))
    assert unmoved(*some_changed(0)).users < 80


def test_a_new_order_of_the_same_items_is_no_other_set() -> None:
    assert unmoved(*some_changed(40), similarity="overlap")


def test_a_noisy_recommender_is_judged_by_its_mean_beyond_noise() -> None:
    rng = np.random.default_rng(3)
    utilities = np.tile(np.arange(20.0), (200, 1))
    source, followup = (plackett_luce(utilities, 2, 1.0, rng, 5) for _ in range(2))
    both = sides(source, followup)
    verdict = unmoved(*both, margin=0.1)
    assert verdict.measures == "loss of agreement beyond noise"
    assert verdict.estimate == same_ranking(*both, margin=0.1).estimate
    assert verdict.status == "holds"
    assert "changed" not in verdict.details


def test_changed_lists_may_not_exceed_the_margin() -> None:
    with pytest.raises(
        OracleError,
        match=r"changed must be at most the margin 0\.05, got 0\.1",
    ):
        unmoved(*some_changed(0), changed=0.1)
