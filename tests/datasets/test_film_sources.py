"""Facts, loglines and pictures of films, joined by name and year or by file name."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_recsys_mt import DataError
from pytest_recsys_mt.datasets import load
from pytest_recsys_mt.requests import Item
from tests.datasets import files
from tests.support.datasets import DESCRIPTIONS, metadata

LISTED = (
    "show_id,type,title,director,cast,country,date_added,release_year,rating,duration,listed_in,"
    "description\n"
    's1,Movie,The Matrix,"Lana Wachowski, Lilly Wachowski",Keanu Reeves,,,1999,,,Sci-Fi,A hacker wakes.\n'
    "s2,Movie,Toy Story,,,,,2001,,,,Another year\n"
)


@pytest.fixture(autouse=True)
def no_film_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "_table", tuple)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Matrix, The", "The Matrix"),
        ("Something's Gotta Give", "Somethings gotta give"),
        ("Beautiful Mind, A", "a beautiful mind"),
    ],
)
def test_titles_of_two_sources_are_the_same(one: str, other: str) -> None:
    assert metadata.title_key(one) == metadata.title_key(other)


def test_a_movielens_folder_joins_a_list_of_titles(tmp_path: Path) -> None:
    folder = files.write(
        tmp_path / "ml",
        {**files.MOVIELENS_CSV, "netflix_titles.csv": LISTED},
    )
    items = load(folder).items
    assert items["7"].attributes == {
        "directors": ("Lana Wachowski", "Lilly Wachowski"),
        "cast": ("Keanu Reeves",),
        "genres": ("Action",),
        "logline": "A hacker wakes.",
    }
    assert "logline" not in items["1"].attributes, "another year is another film"


def test_pictures_and_descriptions_stand_beside_the_files(tmp_path: Path) -> None:
    folder = files.write(
        tmp_path / "ml",
        {
            **files.MOVIELENS_CSV,
            DESCRIPTIONS: '{"item": "7", "description": "Green rain."}\n',
        },
    )
    files.write(folder / "posters", {"1.JPG": b"picture"})
    items = load(folder).items
    assert items["7"].attributes["image_description"] == "Green rain."
    assert items["1"].attributes["image"] == str(folder / "posters" / "1.JPG")
    (folder / DESCRIPTIONS).write_text('{"item": 7, "description": "x"}\n')
    with pytest.raises(
        DataError,
        match=r"image_descriptions\.jsonl', line 1: a record needs",
    ):
        load(folder)


def test_film_facts_join_by_name_and_year_where_both_are_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = [
        ("Faust", 2011, "Sokurov"),
        ("Heat", 1995, "Mann"),
        ("Emma", 1996, "McGrath"),
    ]
    table = [
        Item(f"tt{number}", title, year, {"directors": (by,)})
        for number, (title, year, by) in enumerate([*known, ("Emma", 1996, "Lawrence")])
    ]
    monkeypatch.setattr(metadata, "_table", lambda: tuple(table))
    films = [
        ("a", "Faust", 2011),
        ("b", "Heat", 1995),
        ("c", "Emma", 1996),
        ("d", "Heat", None),
    ]
    joined = metadata.with_metadata_by_title(
        {key: Item(key, title, year) for key, title, year in films},
    )
    assert [joined[key].attributes.get("directors") for key in "abcd"] == [
        ("Sokurov",),
        ("Mann",),
        None,
        None,
    ]
