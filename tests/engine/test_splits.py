"""Who is asked and what is held out: leave-one-out, and a share of the users of a fold."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from pytest_recsys_mt import DataError, NotApplicable, relations
from pytest_recsys_mt.datasets import Dataset, load
from pytest_recsys_mt.relations import Transformation
from pytest_recsys_mt.requests import Item, Scale
from tests.support.engine import LARGE, ShareSplit, Split
from tests.support.requests import Design

MINI = load("mini")


def test_the_latest_item_of_every_user_is_held_out() -> None:
    split = Split(MINI, 0)
    for user, history in MINI.histories.items():
        assert split.held_out[user] == {history[-1].item.id}
    assert len(split.training.interactions) == len(MINI.interactions) - len(
        MINI.histories,
    )


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


def _large(ratings: int, users: int) -> Dataset:
    rng = np.random.default_rng(1)
    items = {f"i{number:05d}": Item(f"i{number:05d}") for number in range(LARGE)}
    names = sorted(items)
    rows = [
        (f"u{user}", names[at], 1 + at % 5, place)
        for user in range(users)
        for place, at in enumerate(rng.choice(LARGE, ratings, replace=False))
    ]
    frame = pd.DataFrame(rows, columns=["user", "item", "rating", "timestamp"])
    return Dataset("large", items, frame, Scale(1, 5))


def test_candidates_of_a_large_catalogue_are_drawn_from_all_unseen_items() -> None:
    data = _large(200, 300)
    cases = Split(data, 5).cases(Design(users=300, candidates=50))
    places = []
    for case in cases:
        assert case.request.candidates is not None
        offered = [item.id for item in case.request.candidates]
        assert len(set(offered)) == len(offered) == 50
        assert case.held_out <= set(offered)
        assert not set(case.past) & set(offered)
        places += [int(item[1:]) for item in offered if item not in case.held_out]
    tenths = np.bincount(np.array(places) * 10 // LARGE)
    assert abs(tenths - len(places) / 10).max() < 5 * np.sqrt(len(places) / 10)
    assert [case.request for case in cases] == [
        case.request for case in Split(data, 5).cases(Design(users=300, candidates=50))
    ]


def test_a_user_of_a_large_catalogue_who_has_seen_almost_all_of_it_is_named() -> None:
    split = Split(_large(LARGE - 9, 2), 0)
    with pytest.raises(
        DataError,
        match=r"only 9 items that user 'u[01]' has not seen, 19 are needed",
    ):
        split.cases(Design())
    (case, _) = split.cases(Design(candidates=10))
    assert {item.id for item in case.request.candidates or ()} == (
        set(split.dataset.items) - set(case.past)
    )


def test_designs_share_the_candidates_and_histories_of_a_user() -> None:
    split = Split(MINI, 0)
    short, long = (
        split.cases(Design(users=40, k=5)),
        split.cases(Design(users=60, history=1000)),
    )
    for one, other in zip(short, long, strict=False):
        assert one.request.user == other.request.user
        assert one.request.candidates is other.request.candidates
        assert one.request.history == other.request.history[-20:]
    liked = split.cases(Design(users=60, rated_above=4.0, history=1000))
    for case in liked:
        ratings = split.training.histories[case.request.user]
        assert case.request.history == tuple(
            each for each in ratings if each.value > 4.0
        )
        assert case.past == tuple(each.item.id for each in ratings)


HOUSES = dataclasses.replace(
    MINI,
    users={
        user: {} if place < 4 else {"household": place // 4}
        for place, user in enumerate(sorted(MINI.users))
    },
)


def test_of_a_unit_one_user_is_drawn() -> None:
    split = Split(HOUSES, 0, unit="household")
    assert split.units == 4 + 99
    drawn = split.users(Design(users=400))
    houses = [HOUSES.users[user].get("household", user) for user in drawn]
    assert len(houses) == len(set(houses)) == 103
    assert split.users(Design(users=50)) == drawn[:50]
    assert sum(1 for _ in split.everyone(Design())) == 400  # spans are those of all
    firsts = [
        HOUSES.users[user].get("household", user)
        for user in Split(HOUSES, 0).users(Design(users=30))
    ]
    assert houses[:30] != firsts


def test_units_are_drawn_alike_whatever_their_size() -> None:
    large = dataclasses.replace(
        MINI,
        users={
            user: {"household": 0 if place < 300 else place}
            for place, user in enumerate(sorted(MINI.users))
        },
    )
    splits = (Split(large, seed, unit="household") for seed in range(40))
    early = sum(
        any(
            large.users[user]["household"] == 0
            for user in split.users(Design(users=20))
        )
        for split in splits
    )
    assert early < 20  # 20 of 101 units; of users it would be in nearly every sample


def test_a_unit_that_no_user_has_is_refused() -> None:
    with pytest.raises(
        DataError,
        match=r"no user .* has the attribute 'occupatio'.*occupation",
    ):
        Split(MINI, 0, unit="occupatio").users(Design())


def test_a_split_of_the_data_says_who_is_asked_about_what() -> None:
    data = load("mini?split=time:0.8")
    cut = data.known.interactions["timestamp"].max()
    withheld = data.withheld or {}
    cases = Split(data, 0).cases(Design(users=50))
    assert len(cases) > 20
    for case in cases:
        user = case.request.user
        assert all((each.timestamp or 0) <= cut for each in case.request.history)
        offered = {item.id for item in case.request.candidates or ()}
        assert offered & withheld[user] == case.held_out
        (item,) = case.held_out
        rows = data.interactions[data.interactions["user"] == user]
        assert rows[rows["timestamp"] > cut]["item"].iloc[0] == item


def test_candidates_are_drawn_from_the_core_of_a_split() -> None:
    core = load("mini?split=time:0.8").core(5)
    cases = Split(core, 0).cases(Design(users=50))
    assert len(cases) > 20
    for case in cases:
        offered = {item.id for item in case.request.candidates or ()}
        assert offered <= core.items.keys()


SPLIT = load("mini?split=time:0.8")


@pytest.mark.parametrize(
    "relation",
    [
        relations.add_irrelevant_candidates(5),
        relations.swap_candidates,
        relations.noisy_profile(5),
        relations.offer_extremes,
        relations.replace_namesakes("namesakes"),
        relations.replace_namesakes("others"),
    ],
    ids=lambda relation: relation.name,
)
@pytest.mark.parametrize("candidates", [20, 0])
def test_a_relation_draws_nothing_that_is_held_out_of_a_user(
    relation: Transformation,
    candidates: int,
) -> None:
    split = Split(SPLIT, 0)
    cases = split.cases(Design(users=50, candidates=candidates))
    world = split.world(cases)
    drawn = 0
    for case in cases * 5:
        source = case.request
        try:
            followup = relation(source, np.random.default_rng(drawn), world)
        except NotApplicable:
            continue
        drawn += 1
        withheld = (SPLIT.withheld or {})[source.user]
        assert not withheld & {each.item.id for each in followup.history}
        offered = {item.id for item in followup.candidates or ()}
        assert not withheld & offered - case.held_out
    assert drawn or (not candidates and "candidates" in relation.changes)


def test_lists_of_others_offer_a_user_nothing_that_is_held_out() -> None:
    withheld = SPLIT.withheld or {}
    split = Split(
        SPLIT,
        0,
        recall=lambda requests: [[sorted(withheld[each.user])] for each in requests],
    )
    for case in split.cases(Design(users=50, recall=True)):
        assert {item.id for item in case.request.candidates or ()} == case.held_out
