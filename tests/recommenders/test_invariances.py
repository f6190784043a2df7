"""What may not change a score, to the last bit."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_recsys_mt.datasets import Dataset
from pytest_recsys_mt.requests import Rating, Request, Scale
from tests.recommenders.data import fitted, requests, simulate
from tests.support.recommenders import BUILT_IN, ScoringRecommender, knn, scoring

DATA = simulate()
FITTED = {name: fitted(name, DATA) for name in BUILT_IN}
RECOMMENDERS = st.sampled_from(list(FITTED.values()))
REQUESTS = st.sampled_from(requests(DATA))


def same_scores(recommender: ScoringRecommender, one: Request, other: Request) -> None:
    first, second = recommender.score([one]), recommender.score([other])
    assert (first == second).all()
    assert recommender.recommend([one]) == recommender.recommend([other])


@given(RECOMMENDERS, REQUESTS, st.randoms(use_true_random=False))
def test_the_order_of_a_history_does_not_matter(
    recommender: ScoringRecommender,
    request: Request,
    random: Random,
) -> None:
    history = random.sample(request.history, len(request.history))
    same_scores(recommender, request, request.replace(history=tuple(history)))


def test_neighbours_found_in_many_blocks_are_those_found_in_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(knn, "block_rows", lambda columns: 7)
    asked = requests(DATA)
    assert (
        fitted("itemknn", DATA).score(asked) == FITTED["itemknn"].score(asked)
    ).all()


@given(REQUESTS, st.randoms(use_true_random=False))
def test_a_profile_is_stored_in_one_order_so_that_sums_over_it_run_in_one(
    request: Request,
    random: Random,
) -> None:
    history = tuple(random.sample(request.history, len(request.history)))
    catalogue = FITTED["itemknn"].catalogue
    one, other = (
        catalogue.profiles([asked], "ratings")
        for asked in (request, request.replace(history=history))
    )
    assert one.indices.tolist() == other.indices.tolist()
    assert one.data.tolist() == other.data.tolist()


@given(RECOMMENDERS, REQUESTS, st.floats(0.01, 1000), st.floats(-100, 100))
def test_the_unit_and_the_zero_of_the_ratings_do_not_matter(
    recommender: ScoringRecommender,
    request: Request,
    factor: float,
    offset: float,
) -> None:
    def move(value: float) -> float:
        return factor * value + offset

    history = tuple(Rating(r.item, move(r.value), r.timestamp) for r in request.history)
    scale = Scale(move(request.scale.low), move(request.scale.high))
    same_scores(recommender, request, request.replace(history=history, scale=scale))


@pytest.mark.parametrize(
    "name",
    [name for name, fit in FITTED.items() if fit.deterministic],
)
def test_the_name_of_the_user_and_the_replicate_do_not_matter(name: str) -> None:
    asked = requests(DATA)
    renamed = [request.replace(user="u1", replicate=3) for request in asked]
    assert FITTED[name].recommend(asked) == FITTED[name].recommend(renamed)


@pytest.mark.parametrize("name", BUILT_IN)
@pytest.mark.parametrize("candidates", [None, 20])
def test_the_rest_of_the_batch_does_not_matter(
    name: str,
    candidates: int | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = requests(DATA, candidates)
    asked[3] = asked[3].replace(k=4, candidates=None)
    together = FITTED[name].recommend(asked)
    assert together == [FITTED[name].recommend([request])[0] for request in asked]
    assert together == FITTED[name].recommend(asked[::-1])[::-1]
    alone = np.vstack([FITTED[name].score([request]) for request in asked])
    assert (FITTED[name].score(asked) == alone).all()
    monkeypatch.setattr(scoring, "BLOCK_CELLS", 7 * len(DATA.items))
    assert FITTED[name].recommend(asked) == together


@given(
    RECOMMENDERS,
    st.sampled_from(requests(DATA, 20)),
    st.randoms(use_true_random=False),
)
def test_the_order_and_repetition_of_candidates_do_not_matter(
    recommender: ScoringRecommender,
    request: Request,
    random: Random,
) -> None:
    assert request.candidates is not None
    shuffled = (*random.sample(request.candidates, 20), request.candidates[0])
    assert recommender.recommend([request]) == recommender.recommend(
        [request.replace(candidates=shuffled)],
    )


@settings(max_examples=10)
@given(
    st.sampled_from(list(BUILT_IN)),
    st.randoms(use_true_random=False),
    st.integers(1, 200),
)
def test_the_order_of_the_data_and_the_size_of_blocks_do_not_matter(
    name: str,
    random: Random,
    rows: int,
) -> None:
    items = list(DATA.items.items())
    random.shuffle(items)
    frame = DATA.interactions.sample(frac=1, random_state=random.randrange(1000))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scoring, "BLOCK_CELLS", rows * len(items))
        other = fitted(name, Dataset("shuffled", dict(items), frame, DATA.scale))
    assert other.catalogue.ids == FITTED[name].catalogue.ids
    asked = requests(DATA)
    assert (other.score(asked) == FITTED[name].score(asked)).all()
