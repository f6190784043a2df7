"""Joining films to the CC0 table by IMDb number; the counts need the shared copy of MovieLens."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from pytest_recsys_mt.datasets import Dataset, load, metadata
from pytest_recsys_mt.errors import DataError
from pytest_recsys_mt.requests import Item, Scale
from tests.datasets import files

ML_LATEST_SMALL = Path(__file__).resolve().parents[3] / "shared" / "data" / "ml-latest-small"
needs_movielens = pytest.mark.skipif(
    not ML_LATEST_SMALL.is_dir(), reason=f"no ml-latest-small at {ML_LATEST_SMALL}"
)
needs_facts = pytest.mark.skipif(
    metadata.database() is None, reason="pip install 'pytest-recsys-mt[metadata]'"
)


@pytest.fixture
def facts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "movies.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE omdb (ID, imdbID, Director, 'Cast', Genre)")
        connection.executemany(
            "INSERT INTO omdb VALUES (?, ?, ?, ?, ?)",
            [
                (1, "tt0114709", "John Lasseter", "Tim Allen, Tom Hanks", "Family"),
                (2, "tt0110413", "", None, "Action, Crime"),
            ],
        )
    connection.close()
    monkeypatch.setattr(metadata, "database", lambda: path)
    return path


def test_films_gain_directors_cast_and_missing_genres(tmp_path: Path, facts: Path) -> None:
    items = load(files.write(tmp_path / "ml", files.MOVIELENS_CSV)).items
    assert items["1"].attributes == {
        "genres": ("Adventure", "Animation"),
        "tags": ("pixar", "fun"),
        "directors": ("John Lasseter",),
        "cast": ("Tim Allen", "Tom Hanks"),
    }
    assert items["11"].attributes == {"genres": ("Action", "Crime")}
    assert items["7"].attributes == {"genres": ("Action",)}


def test_the_join_changes_the_digest(
    tmp_path: Path, facts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = files.write(tmp_path / "ml", files.MOVIELENS_CSV)
    joined = load(folder)
    monkeypatch.setattr(metadata, "database", lambda: None)
    assert load(folder).digest != joined.digest


def test_items_without_a_link_stay_as_they_are(facts: Path) -> None:
    items = {"a": Item("a", "A"), "b": Item("b", "B")}
    joined = metadata.with_metadata(items, {"b": metadata.imdb_id(114709)})
    assert joined["a"] is items["a"]
    assert joined["b"].attributes["directors"] == ("John Lasseter",)


def test_a_damaged_database_is_an_error(facts: Path) -> None:
    facts.write_bytes(b"not a database" * 100)
    with pytest.raises(DataError, match=r"film facts .* cannot be read"):
        metadata.with_metadata({"a": Item("a")}, {})


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
@needs_facts
def test_most_films_of_ml_latest_small_have_facts(movielens: Dataset) -> None:
    known = {
        key for key, item in movielens.items.items() if {"directors", "cast"} & set(item.attributes)
    }
    assert sum("directors" in item.attributes for item in movielens.items.values()) == 7588
    assert sum("cast" in item.attributes for item in movielens.items.values()) == 7228
    assert movielens.interactions["item"].isin(list(known)).mean() == pytest.approx(0.942, abs=5e-4)


def test_all_films_have_their_title_year_and_directors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "movies.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE omdb (ID, imdbID, Title, Year, Director)")
        connection.executemany(
            "INSERT INTO omdb VALUES (?, ?, ?, ?, ?)",
            [
                (2, None, "Quai d'Orsay (film)", 2013, None),
                (1, "tt1", "Faust (2011 film)", 2011, "A, B"),
                (3, "tt3", "", 2011, "A"),
                (4, "tt4", "I Am Curious (Yellow)", 1967, ""),
            ],
        )
    connection.close()
    monkeypatch.setattr(metadata, "database", lambda: path)
    assert metadata.films() == (
        Item("tt1", "Faust", 2011, {"directors": ("A", "B")}),
        Item("", "Quai d'Orsay", 2013, {"directors": ()}),
        Item("tt4", "I Am Curious (Yellow)", 1967, {"directors": ()}),
    )


@needs_facts
def test_the_database_is_of_films_from_1940_to_2014() -> None:
    films = metadata.films()
    assert len(films) == 17_472
    assert {film.year for film in films} == set(range(1940, 2015))
