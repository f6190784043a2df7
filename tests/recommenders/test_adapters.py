"""What the bases of adapters do for every library: ties, scales, repeats, unknown
items, and users that are stored.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from pytest_recsys_mt import (
    Item,
    NotApplicable,
    Rating,
    Recommendation,
    RecommenderError,
    Request,
    Scale,
)
from pytest_recsys_mt.datasets import Dataset, load
from pytest_recsys_mt.recommenders.adapters import Adapter, StoredUsers
from pytest_recsys_mt.relations import scale_ratings
from tests.support.engine import Split
from tests.support.requests import Design

MINI = load("mini")
SPLIT = Split(MINI, seed=0)
TRAINING = SPLIT.training
FIVE = Scale(1, 5)


@dataclass(eq=False)
class Own(Adapter):
    """The more a history has of an item, the better are
    those next to it; all others are equal.
    """

    steps: int = 3

    def learn(self, dataset: Dataset, seed: int) -> None:
        self.rows = dataset.interactions

    def score(self, requests: Sequence[Request]) -> Any:
        return np.roll(self.profiles(requests).toarray(), 1, axis=1)


class Counting(Own):
    counts = True


@dataclass(eq=False)
class Stored(StoredUsers):
    """The popular items, for everybody."""

    def learn(self, dataset: Dataset, seed: int) -> None:
        self.asked: list[str] = []

    def score(self, requests: Sequence[Request]) -> Any:
        self.asked += [request.user for request in requests]
        return np.tile(self.catalogue.popularity, (len(requests), 1))


@dataclass(eq=False)
class Given(Adapter):
    """What a function makes of the table of scores: 1 for the
    first item, 2 for the second, and so on.
    """

    make: Any = None

    def learn(self, dataset: Dataset, seed: int) -> None:
        pass

    def score(self, requests: Sequence[Request]) -> Any:
        size = len(requests), len(self.catalogue)
        return self.make(np.broadcast_to(1.0 + np.arange(size[1]), size).copy())


def _last_is_nan(table: Any) -> Any:
    table[-1, -1] = np.nan
    return table


def fitted(adapter: Any) -> Any:
    adapter.fit(TRAINING, 0)
    return adapter


def request(*ratings: tuple[str, float], scale: Scale = FIVE, k: int = 3) -> Request:
    history = tuple(
        Rating(Item(item), value, 10 + n) for n, (item, value) in enumerate(ratings)
    )
    return Request("somebody", history, scale, candidates=None, k=k)


def own_request(user: str) -> Request:
    cases = SPLIT.cases(Design(users=1000, candidates=0))
    return next(case.request for case in cases if case.request.user == user)


USERS = [case.request.user for case in SPLIT.cases(Design(users=5, candidates=0))]


def test_equal_scores_are_ordered_by_popularity_and_not_by_the_candidates() -> None:
    own = fitted(Own())
    popular = own.catalogue.ids[10:16]
    offered = tuple(Item(item) for item in popular)
    for candidates in (offered, offered[::-1]):
        asked = request().replace(candidates=candidates, k=6)
        assert own.recommend([asked])[0].items == popular


def test_a_rating_means_the_same_on_every_scale() -> None:
    own = fitted(Own())
    first, second = own.catalogue.ids[3], own.catalogue.ids[7]
    asked = request((first, 4.0), (second, 2.0))
    other = scale_ratings(3)(asked, np.random.default_rng(0))
    assert other.scale == Scale(3, 15)
    assert own.history(other) == pytest.approx({first: 4.0, second: 2.0})
    assert (
        own.profiles([other]).toarray().tolist()
        == own.profiles([asked]).toarray().tolist()
    )


def test_a_repeated_item_counts_once_with_its_last_rating_or_is_a_sum() -> None:
    item = TRAINING.interactions["item"].iloc[0]
    asked = request((item, 1.0), (item, 5.0))
    once, counting = fitted(Own()), fitted(Counting())
    assert once.history(asked) == {item: 5.0}
    assert counting.history(asked) == {item: 6.0}
    assert once.profiles([asked]).sum() == 1.0
    assert counting.profiles([asked]).sum() == pytest.approx(1.1)


def test_counts_of_a_history_without_repeats_are_its_ratings() -> None:
    asked = [own_request(user) for user in USERS]
    once, counting = fitted(Own()), fitted(Counting())
    assert (once.profiles(asked) != counting.profiles(asked)).nnz == 0
    assert counting.profiles([request()]).shape == (1, len(TRAINING.items))


def test_items_outside_the_catalogue_are_no_part_of_a_history() -> None:
    own = fitted(Own())
    item = own.catalogue.ids[0]
    assert own.history(request(("never seen", 5.0), (item, 3.0))) == {item: 3.0}
    assert own.profiles([request(("never seen", 5.0))]).nnz == 0


@pytest.mark.parametrize(
    "make",
    [
        lambda table: table.astype(np.uint16),
        lambda table: table.tolist(),
        lambda table: table.astype(np.float32),
        csr_array,
    ],
    ids=["unsigned", "list", "float32", "sparse"],
)
def test_scores_may_be_any_table_of_numbers(make: Any) -> None:
    given = fitted(Given(make))
    last = given.catalogue.ids[::-1]
    offered = tuple(Item(item) for item in given.catalogue.ids[:5])
    asked = [request(), request().replace(candidates=offered)]
    items = [answer.items for answer in given.recommend(asked)]
    assert items == [last[:3], given.catalogue.ids[4:1:-1]]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda table: None, r"NoneType of shape \(\)"),
        (lambda table: table.T, r"of shape \(351, 2\) .*of shape \(2, 351\)"),
        (lambda table: table[:, 1:], r"of shape \(2, 350\)"),
        (lambda table: np.vstack([table, table]), r"of shape \(4, 351\)"),
        (lambda table: table[0], r"of shape \(351,\)"),
        (lambda table: table.astype(str), "type <U"),
        (
            _last_is_nan,
            "1 of the 702 scores .* are NaN, the first for user 'somebody' and item ",
        ),
    ],
    ids=["none", "transposed", "narrow", "long", "row", "text", "NaN"],
)
def test_what_is_no_table_of_scores_is_named(make: Any, said: str) -> None:
    with pytest.raises(RecommenderError, match=said):
        fitted(Given(make)).recommend([request(), request()])


def test_scores_that_are_all_the_same_are_a_warning_once() -> None:
    given = fitted(Given(np.zeros_like))
    given.recommend([request(), request()])  # nothing is known of them
    asked = [request(("a", 5.0)), request(("b", 4.0))]
    with pytest.warns(
        UserWarning,
        match="for all 351 items, for each of 2 requests",
    ) as told:
        given.recommend([*asked])
    assert "ids are text in the data: 'somebody'" in str(told[0].message)
    given.recommend(asked)


def test_a_repeated_item_stands_where_it_was_last() -> None:
    own = fitted(Own())
    first, second = own.catalogue.ids[3], own.catalogue.ids[7]
    assert list(own.history(request((first, 1.0), (second, 2.0), (first, 3.0)))) == [
        second,
        first,
    ]


def test_training_data_are_handed_on_as_they_are() -> None:
    rows = TRAINING.interactions.copy()
    rows.loc[rows.index[0], "rating"] = np.nan
    own = Own()
    own.fit(replace(TRAINING, interactions=rows, as_is=True), 0)
    assert own.rows["rating"].isna().sum() == 1


@pytest.mark.parametrize(
    ("adapter", "name"),
    [(Own(), "Own"), (Own(steps=5), "Own?steps=5"), (Stored(), "Stored")],
)
def test_the_name_says_the_class_and_what_was_set(adapter: Adapter, name: str) -> None:
    assert adapter.name == name


def test_a_stored_user_is_served_with_the_stored_history_on_any_scale() -> None:
    stored = fitted(Stored())
    asked = own_request(USERS[0])
    other = scale_ratings(3)(asked, np.random.default_rng(0))
    shuffled = asked.replace(history=asked.history[::-1])
    answers = stored.recommend([asked, other, shuffled])
    assert stored.asked == [USERS[0]] * 3
    assert all(answer.items and not answer.error for answer in answers)


def test_a_rating_that_differs_by_rounding_is_the_stored_one() -> None:
    rows = TRAINING.interactions.copy()
    rows["rating"] -= 1e-9
    stored = Stored()
    stored.fit(replace(TRAINING, interactions=rows, as_is=True), 0)
    stored.recommend([own_request(user) for user in USERS])
    assert stored.asked == USERS


@pytest.mark.parametrize("shown", [20, 10_000])
def test_a_stored_user_is_served_with_the_latest_of_the_history_or_all(
    shown: int,
) -> None:
    longest = TRAINING.interactions["user"].value_counts().index[0]
    cases = SPLIT.cases(Design(users=1000, history=shown, candidates=0))
    asked = next(case.request for case in cases if case.request.user == longest)
    assert fitted(Stored()).recommend([asked]) == [Recommendation(tuple(_best(asked)))]


def test_histories_of_another_length_are_served_if_they_are_said() -> None:
    longest = TRAINING.interactions["user"].value_counts().index[0]
    cases = SPLIT.cases(Design(users=1000, history=5, candidates=0))
    asked = next(case.request for case in cases if case.request.user == longest)
    assert fitted(Stored(shown=5)).recommend([asked]) == [
        Recommendation(tuple(_best(asked))),
    ]
    with pytest.raises(NotApplicable, match=r"the latest 20.* say \?shown=N"):
        fitted(Stored()).recommend([asked])


def _best(asked: Request) -> list[str]:
    stored = fitted(Stored())
    return [item for item in stored.catalogue.ids if item not in asked.known][: asked.k]


def _another_rating(asked: Request) -> Request:
    last = asked.history[-1]
    value = 1.0 if last.value > 3 else 5.0
    return asked.replace(history=(*asked.history[:-1], replace(last, value=value)))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda asked: asked.replace(user="a stranger"), "knows only the users"),
        (lambda asked: asked.replace(history=asked.history[1:]), "has another"),
        (lambda asked: asked.replace(history=()), "has another"),
        (_another_rating, "has another"),
        (
            lambda asked: asked.replace(
                history=(*asked.history[1:], Rating(Item("another"), 5, 10**10)),
            ),
            "has another",
        ),
    ],
    ids=["stranger", "shorter", "none", "other rating", "other item"],
)
def test_another_history_than_the_stored_one_cannot_be_asked(
    change: Any,
    why: str,
) -> None:
    stored = fitted(Stored())
    with pytest.raises(NotApplicable, match=why):
        stored.recommend([change(own_request(USERS[0]))])
    assert stored.asked == []
