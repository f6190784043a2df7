"""What all trained recommenders share, whatever their network."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from pytest_recsys_mt.requests import Item, Rating
from tests.recommenders.trained.rings import request, ring
from tests.support.recommenders import TRAINED, resolve
from tests.support.recommenders_trained_extras import TrainedRecommender

SMALL = "dim=16&patience=0&epochs=3&batch=64&rate=0.01&length=6"
CATALOGUE = tuple(ring().items)


@cache
def trained(name: str, folder: Path, seed: int = 0) -> TrainedRecommender:
    model = resolve(f"{name}?{SMALL}")
    assert isinstance(model, TrainedRecommender)
    model.folder = folder
    model.fit(ring(), seed)
    return model


@pytest.fixture(params=TRAINED)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture
def model(name: str, folder: Path) -> TrainedRecommender:
    return trained(name, folder)


ASKED = [
    request(1, 2, 3),
    request(7),
    request(4, 5, 6, 7, 8, 9, 10, 11, 12, 13),
    request(17, 3),
]


def test_its_name_is_its_spec(name: str, model: TrainedRecommender) -> None:
    again = resolve(model.name)
    assert isinstance(again, TrainedRecommender)
    assert (again.key, again.name) == (name, model.name)
    assert resolve(name).name == name  # type: ignore[union-attr]


def test_one_seed_gives_the_same_scores_and_another_one_others(
    name: str,
    model: TrainedRecommender,
    folder: Path,
    tmp_path: Path,
) -> None:
    again = trained(name, tmp_path)
    assert np.array_equal(model.score(ASKED), again.score(ASKED))
    assert not np.array_equal(model.score(ASKED), trained(name, folder, 1).score(ASKED))


def test_a_loaded_model_scores_as_the_trained_one(
    name: str,
    model: TrainedRecommender,
    folder: Path,
) -> None:
    loaded = resolve(f"{name}?{SMALL}")
    assert isinstance(loaded, TrainedRecommender)
    loaded.folder = folder
    loaded.fit(ring(), 0)
    assert loaded.report == model.report
    assert np.array_equal(model.score(ASKED), loaded.score(ASKED))


def test_a_score_does_not_depend_on_the_batch(model: TrainedRecommender) -> None:
    together = model.score(ASKED * 40)
    alone = np.vstack([model.score([one]) for one in ASKED])
    assert np.array_equal(together[:4], alone)
    assert np.array_equal(together[-4:], alone)
    choosing = request(1, 2, candidates=("i3", "i9"))
    mixed, open_ = model.score([choosing]), model.score([choosing, ASKED[0]])
    assert np.array_equal(mixed[0], open_[0])


def test_the_order_of_candidates_does_not_matter(model: TrainedRecommender) -> None:
    there, back = (
        request(1, 2, 3, k=20, candidates=offered)
        for offered in (CATALOGUE, CATALOGUE[::-1])
    )
    assert model.recommend([there]) == model.recommend([back])


def test_with_candidates_scores_are_the_catalogue_s(model: TrainedRecommender) -> None:
    offered = ("i3", "i9", "i1", "i18")
    columns = [model.catalogue.column[item] for item in offered]
    some = model.score([request(1, 2, candidates=offered)])[0, columns]
    assert some == pytest.approx(
        model.score([request(1, 2)])[0, columns],
        rel=1e-5,
        abs=1e-6,
    )


def test_a_history_that_tells_nothing_is_answered_with_what_is_popular(
    model: TrainedRecommender,
) -> None:
    stranger = request().replace(history=(Rating(Item("elsewhere"), 5.0),))
    for asked in (request(k=4), stranger.replace(k=4)):
        (answer,) = model.recommend([asked])
        assert answer.items == model.catalogue.ids[:4]


def test_unknown_items_add_nothing_to_a_history_and_come_last(
    model: TrainedRecommender,
) -> None:
    known = request(1, 2, k=4, candidates=("i3", "x", "i4", "a"))
    mixed = known.replace(history=(Rating(Item("x"), 1.0), *known.history))
    (one,), (other,) = model.recommend([known]), model.recommend([mixed])
    assert one == other
    assert one.items[2:] == ("a", "x")


def test_cold_items_have_scores_like_any_other(model: TrainedRecommender) -> None:
    scores = model.score([*ASKED, request(18, 19)])
    assert np.isfinite(scores).all()
    (answer,) = model.recommend([request(1, 2, k=18)])
    assert len(answer.items) == 18


def test_a_repeated_item_counts_once_at_its_last_place(
    model: TrainedRecommender,
) -> None:
    assert np.array_equal(model.score([request(1, 2, 1)]), model.score([request(2, 1)]))


def test_whoever_asks_gets_the_same(model: TrainedRecommender) -> None:
    (asked,) = ASKED[:1]
    other = asked.replace(user="u3")
    assert np.array_equal(model.score([asked]), model.score([other]))
