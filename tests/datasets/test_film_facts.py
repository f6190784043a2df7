"""Joining films to the CC0 table by IMDb number; the
counts need the shared copy of MovieLens.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_recsys_mt.datasets import Dataset, load
from pytest_recsys_mt.requests import Item, Scale
from tests.datasets import files
from tests.support.datasets import metadata

ML_LATEST_SMALL = (
    Path(__file__).resolve().parents[3] / "shared" / "data" / "ml-latest-small"
)
needs_movielens = pytest.mark.skipif(
    not ML_LATEST_SMALL.is_dir(),
    reason=f"no ml-latest-small at {ML_LATEST_SMALL}",
)


def test_films_gain_directors_cast_and_missing_genres(tmp_path: Path) -> None:
    items = load(files.write(tmp_path / "ml", files.MOVIELENS_CSV)).items
    assert items["1"].attributes["genres"] == ("Adventure", "Animation")
    assert items["1"].attributes["tags"] == ("pixar", "fun")
    assert items["1"].attributes["directors"] == ("John Lasseter",)
    assert items["7"].attributes["cast"][:2] == ("Laurence Fishburne", "Keanu Reeves")
    assert items["7"].attributes["genres"] == ("Action",)
    assert items["11"].attributes["genres"][:2] == ("Thriller", "Mystery"), (
        "it had none"
    )
    assert "directors" not in items["12"].attributes, "the link is to no film"


def test_items_without_a_link_stay_as_they_are() -> None:
    items = {"a": Item("a", "A"), "b": Item("b", "B")}
    joined = metadata.with_metadata(items, {"b": metadata.imdb_id(114709)})
    assert joined["a"] is items["a"]
    assert joined["b"].attributes["directors"] == ("John Lasseter",)


@pytest.fixture(scope="module")
def movielens() -> Dataset:
    return load(ML_LATEST_SMALL)


@needs_movielens
def test_ml_latest_small_is_read_whole(movielens: Dataset) -> None:
    frame = movielens.interactions
    assert frame["user"].nunique() == 610
    assert len(movielens.items) == 9742
    assert len(frame) == 100_836
    assert movielens.scale == Scale(0.5, 5.0)
    assert movielens.items["2571"].label == "Matrix, The (1999)"


@needs_movielens
def test_most_films_of_ml_latest_small_have_facts(movielens: Dataset) -> None:
    known = {
        key
        for key, item in movielens.items.items()
        if {"directors", "cast"} & set(item.attributes)
    }
    assert (
        sum("directors" in item.attributes for item in movielens.items.values()) == 7588
    )
    assert sum("cast" in item.attributes for item in movielens.items.values()) == 7029
    assert movielens.interactions["item"].isin(list(known)).mean() == pytest.approx(
        0.942,
        abs=5e-4,
    )


def test_films_are_known_by_their_bare_title_and_year() -> None:
    faust = {film.year: film for film in metadata.films() if film.title == "Faust"}
    assert faust[2011] == Item(
        "tt1437357",
        "Faust",
        2011,
        {"directors": ("Alexander Sokurov",)},
    )


def test_the_facts_are_of_films_from_1940_to_2014() -> None:
    films = metadata.films()
    assert len(films) == 17_472
    assert {film.year for film in films} == set(range(1940, 2015))
