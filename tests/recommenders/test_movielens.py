"""On real ratings the recommenders rank as the literature says they do."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from pytest_recsys_mt.datasets import Dataset
from pytest_recsys_mt.requests import Item, Request, Scale
from tests.recommenders.data import fitted

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data" / "ml-latest-small"

pytestmark = pytest.mark.skipif(
    not FOLDER.is_dir(),
    reason="MovieLens latest-small is not beside the checkout",
)


@pytest.fixture(scope="module")
def movielens() -> Dataset:
    films = pd.read_csv(FOLDER / "movies.csv", dtype={"movieId": str})
    ratings = pd.read_csv(FOLDER / "ratings.csv", dtype={"movieId": str, "userId": str})
    items = {
        film: Item(film, title, None, {"genres": tuple(genres.split("|"))})
        for film, title, genres in films.itertuples(index=False)
    }
    frame = ratings.rename(columns={"userId": "user", "movieId": "item"})
    return Dataset("ml-latest-small", items, frame, Scale(0.5, 5))


def test_neighbours_find_the_last_film_more_often_than_popularity_and_popularity_than_chance(
    movielens: Dataset,
) -> None:
    last = {user: history[-1].item.id for user, history in movielens.histories.items()}
    train = movielens.without({user: [item] for user, item in last.items()})
    asked = [
        Request(user, history, train.scale, None, 50)
        for user, history in train.histories.items()
    ]

    def hits(spec: str) -> float:
        answers = fitted(spec, train).recommend(asked)
        found = [
            last[r.user] in answer.items
            for r, answer in zip(asked, answers, strict=True)
        ]
        return sum(found) / len(found)

    assert hits("itemknn") > 1.3 * hits("mostpop")
    assert hits("userknn") > 1.3 * hits("mostpop")
    assert hits("mostpop") > 5 * hits("random")
    assert hits("bm25") > 2 * hits("random")
