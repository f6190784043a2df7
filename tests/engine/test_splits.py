"""Who is asked and what is held out: leave-one-out, and a share of the users of a fold."""

import pytest

from pytest_recsys_mt.datasets import load
from pytest_recsys_mt.design import Design
from pytest_recsys_mt.engine.cases import ShareSplit, Split
from pytest_recsys_mt.errors import DataError

MINI = load("mini")


def test_the_latest_item_of_every_user_is_held_out() -> None:
    split = Split(MINI, 0)
    for user, history in MINI.histories.items():
        assert split.held_out[user] == {history[-1].item.id}
    assert len(split.training.interactions) == len(MINI.interactions) - len(MINI.histories)


def test_folds_share_no_user_and_leave_none_out() -> None:
    folds = [ShareSplit(MINI, 3, fold=fold) for fold in range(5)]
    users = [user for fold in folds for user in fold.held_out]
    assert sorted(users) == sorted(MINI.histories)
    assert {len(fold.held_out) for fold in folds} == {80}
    assert len(ShareSplit(MINI, 3, most=30).held_out) == 30
    assert set(ShareSplit(MINI, 3, most=30).held_out) <= set(folds[0].held_out)


def test_a_share_of_each_user_of_the_fold_is_held_out_and_nothing_else() -> None:
    split = ShareSplit(MINI, 3, fold=2, share=0.25)
    rest = split.training.histories
    for user, history in MINI.histories.items():
        items = {rating.item.id for rating in history}
        kept = {rating.item.id for rating in rest[user]}
        assert items - kept == split.held_out.get(user, set())
        if user in split.held_out:
            assert len(items - kept) == round(0.25 * len(items))
    again = ShareSplit(MINI, 3, fold=2, share=0.25)
    assert again.held_out == split.held_out
    assert ShareSplit(MINI, 4, fold=2, share=0.25).held_out != split.held_out


def test_requests_hold_nothing_that_is_held_out_but_among_their_candidates() -> None:
    split = ShareSplit(MINI, 3)
    for case in split.cases(Design(candidates=0, history=1000)):
        assert not {rating.item.id for rating in case.request.history} & case.held_out
        assert case.request.candidates is None
    closed = split.cases(Design(candidates=40, k=10))
    for case in closed:
        assert case.request.candidates is not None
        offered = [item.id for item in case.request.candidates]
        assert len(offered) == len(set(offered)) == 40
        assert case.held_out <= set(offered)


def test_more_held_out_items_than_candidates_are_refused() -> None:
    with pytest.raises(DataError, match="are held out, and a request has 2 candidates"):
        ShareSplit(MINI, 3, share=0.9).cases(Design(candidates=2, k=1))
