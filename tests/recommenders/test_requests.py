"""What a request may ask, and what the rules say it gets."""

from __future__ import annotations

import pickle
from functools import cache

import hypothesis
import pytest
from hypothesis import strategies as st

from pytest_recsys_mt import RecommenderError
from pytest_recsys_mt.requests import Item, Request
from tests.extras import need
from tests.recommenders.data import ask, fitted, requests, simulate, table
from tests.support.recommenders import NAMES, TRAINED, ScoringRecommender, resolve

DATA = simulate()


@cache
def model(name: str) -> ScoringRecommender:
    if name in TRAINED:
        need("torch", "safetensors")
        return fitted(f"{name}?epochs=1", DATA)  # however well it has learned
    return fitted(name, DATA)


POPULAR = model("mostpop").catalogue.ids
everyone = pytest.mark.parametrize("name", NAMES)
personal = pytest.mark.parametrize(
    "name",
    [
        "itemknn",
        "userknn",
        "bm25",
        *(f"{name}?weights=ratings" for name in ("ease", "ials", "rp3beta")),
    ],
)


def answer(name: str, request: Request) -> tuple[str, ...]:
    return model(name).recommend([request])[0].items


@everyone
def test_the_catalogue_is_offered_without_the_history(name: str) -> None:
    for request, given in zip(
        requests(DATA),
        model(name).recommend(requests(DATA)),
        strict=True,
    ):
        assert len(set(given.items)) == 10
        assert set(given.items) <= DATA.items.keys() - {
            r.item.id for r in request.history
        }


@everyone
@hypothesis.settings(max_examples=25)
@hypothesis.given(st.data())
def test_what_the_user_is_known_to_have_is_never_the_answer(
    name: str,
    data: st.DataObject,
) -> None:
    ids = st.sampled_from(sorted([*DATA.items, "none of the catalogue"]))
    asked = ask(
        *((item, 3.0) for item in data.draw(st.lists(ids, max_size=8, unique=True))),
        k=data.draw(st.integers(1, len(DATA.items) + 5)),
    )
    asked = asked.replace(
        seen=tuple(sorted(data.draw(st.sets(ids, max_size=len(DATA.items))))),
    )
    found = model(name).recommend([asked])[0]
    left = DATA.items.keys() - asked.known
    assert len(set(found.items)) == len(found.items) == min(asked.k, len(left))
    assert set(found.items) <= left
    assert (found.error is None) == bool(left)


@everyone
def test_what_is_seen_decides_nothing_else(name: str) -> None:
    asked = ask(("i1", 5), ("i3", 2), k=60)
    without = asked.replace(seen=("i2", "i7", "none of the catalogue"))
    whole, left = answer(name, asked), answer(name, without)
    assert left == tuple(item for item in whole if item not in without.seen)
    offered = asked.replace(
        candidates=tuple(Item(item) for item in ("i2", "i30", "i7")),
        k=3,
    )
    assert answer(name, offered) == answer(name, offered.replace(seen=without.seen))


@everyone
def test_candidates_are_ranked_as_they_are_also_those_of_the_history(name: str) -> None:
    given = answer(
        name,
        ask(("i1", 5), ("i2", 1), k=9, candidates=("i2", "i30", "i1", "i7")),
    )
    assert set(given) == {"i1", "i2", "i7", "i30"}
    assert len(given) == 4


@everyone
def test_unknown_candidates_come_last_by_id(name: str) -> None:
    request = ask(("i1", 5), k=5, candidates=("zz", "i4", "aa", "i59", "mm"))
    assert answer(name, request)[2:] == ("aa", "mm", "zz")
    assert set(answer(name, request.replace(k=2))) == {"i4", "i59"}


@personal
def test_unknown_history_items_contribute_nothing(name: str) -> None:
    known, more = (
        ask(("i1", 5), ("i3", 2)),
        ask(("new", 5), ("i1", 5), ("other", 1), ("i3", 2)),
    )
    assert (model(name).score([known]) == model(name).score([more])).all()
    assert answer(name, known) == answer(name, more)


@personal
def test_a_history_that_tells_nothing_is_answered_with_what_is_popular(
    name: str,
) -> None:
    assert answer(name, ask(k=4)) == POPULAR[:4]
    assert answer(name, ask(("new", 5), k=4)) == POPULAR[:4]


@personal
def test_all_ties_among_many_candidates_go_by_popularity_and_id(name: str) -> None:
    nothing = ask(k=len(POPULAR), candidates=tuple(sorted(POPULAR)))
    assert answer(name, nothing) == POPULAR
    assert answer(name, nothing.replace(candidates=None)) == POPULAR


@personal
def test_a_history_of_lowest_ratings_still_tells_something(name: str) -> None:
    assert model(name).score([ask(("i1", 0.5))]).any()


@personal
def test_a_repeated_item_counts_once_with_its_last_rating(name: str) -> None:
    once, twice = ask(("i3", 4), ("i1", 2)), ask(("i1", 5), ("i3", 4), ("i1", 2))
    assert (model(name).score([once]) == model(name).score([twice])).all()
    assert (
        model(name).score([once]) != model(name).score([ask(("i1", 5), ("i3", 4))])
    ).any()


@personal
def test_ratings_off_the_scale_count_as_its_ends(name: str) -> None:
    inside, outside = ask(("i1", 0.5), ("i2", 5)), ask(("i1", -3), ("i2", 11))
    assert (model(name).score([inside]) == model(name).score([outside])).all()


def test_equal_scores_go_by_popularity_and_then_by_id() -> None:
    data = table(
        ("u", "a", 5),
        ("u", "e", 5),
        ("v", "c", 5),
        ("w", "c", 5),
        ("w", "b", 5),
    )
    assert fitted("itemknn", data).recommend([ask(("a", 5), k=6)])[0].items == (
        "e",
        "c",
        "b",
        "d",
        "f",
    )


def test_a_tie_at_the_neighbour_cut_goes_the_same_way() -> None:
    pairs = [
        (user, item, 5.0)
        for user, item in [("u", "a"), ("u", "b"), ("u", "c"), ("v", "c")]
    ]
    data = table(*pairs, ("w", "a", 5.0), ("w", "d", 5.0), ("w", "e", 5.0))
    knn = fitted("itemknn?neighbours=2", data)
    scores = dict(zip(knn.catalogue.ids, knn.score([ask(("a", 5))])[0], strict=True))
    # Cosines with a: b, d and e 1/sqrt(2), c 1/2.
    assert {item for item, score in scores.items() if score} == {"b", "d"}


@everyone
def test_requests_that_leave_nothing_are_errors_and_not_empty_lists(name: str) -> None:
    everything = ask(*((item, 3.0) for item in DATA.items))
    for request in (everything, ask(("i1", 3), candidates=())):
        given = model(name).recommend([request])[0]
        assert given.error == "the request leaves nothing to recommend"
    assert model(name).recommend([]) == []


@everyone
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_rating_that_is_no_number_is_an_error_of_its_request_alone(
    name: str,
    value: float,
) -> None:
    good = ask(("i1", 3))
    with_bad = model(name).recommend([good, ask(("i2", value)), good])
    assert with_bad[1].error is not None
    assert "'i2'" in with_bad[1].error
    assert [with_bad[0], with_bad[2]] == model(name).recommend([good, good])


@everyone
def test_asking_before_fitting_names_the_recommender_and_the_remedy(name: str) -> None:
    if name in TRAINED:
        need("torch", "safetensors")
    unfitted = resolve(name)
    assert isinstance(unfitted, ScoringRecommender)
    message = rf"'{name}'.*call fit\(dataset, seed\) first"
    with pytest.raises(RecommenderError, match=message):
        unfitted.recommend([ask(("i1", 3))])


@everyone
def test_fitted_recommenders_survive_pickling(name: str) -> None:
    copy = pickle.loads(pickle.dumps(model(name)))
    assert copy.recommend(requests(DATA)) == model(name).recommend(requests(DATA))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("itemknn?neighbours=0", "neighbours must be at least 1, got 0"),
        ("userknn?neighbours=-2", "neighbours must be at least 1, got -2"),
        ("bm25?k1=-1", "k1 must be at least 0 and finite, got -1.0"),
        ("bm25?k1=nan", "k1 must be at least 0 and finite, got nan"),
        ("bm25?b=1.5", "b must be from 0 to 1, got 1.5"),
    ],
)
def test_impossible_parameters_are_named(spec: str, message: str) -> None:
    with pytest.raises(RecommenderError, match=message):
        resolve(spec)


def test_only_random_is_stochastic_and_none_reads_text() -> None:
    fitted_ones = {name: model(name) for name in NAMES}
    assert [name for name, one in fitted_ones.items() if not one.deterministic] == [
        "random",
    ]
    assert not any(one.reads_text for one in fitted_ones.values())
