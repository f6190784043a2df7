from __future__ import annotations

from pathlib import Path

import pytest

from pytest_recsys_mt import DataError
from pytest_recsys_mt.datasets import Dataset, load
from tests.datasets import files
from tests.support.datasets import metadata

TITLES = (
    "1,2003,Dinosaur Planet\n"
    "2,1973,Léon, the Movie, Part 2\n"
    "3,NULL,Ancient\n"
    "30,2003,Something's Gotta Give\n"
).encode("latin-1")
RATINGS = {"1": "6,3,2005-09-06\n7,5,2005-05-13\n", "30": "7,4,2004-01-01\n"}
COMBINED = "".join(f"{film}:\n{lines}" for film, lines in RATINGS.items())
LISTED = (
    "show_id,type,title,director,cast,country,date_added,release_year,rating,duration,listed_in,"
    "description\n"
    's1,Movie,"SOMETHING\'S GOTTA GIVE",Nancy Meyers,"Jack Nicholson, Diane Keaton",,,2003,PG-13,'
    '128 min,"Comedies, Romantic Movies","A swinger falls in love, late."\n'
    "s2,TV Show,Dinosaur Planet,,,,,2003,,,,First of two\n"
    "s3,TV Show,Dinosaur Planet,,,,,2003,,,,Second of two\n"
)


@pytest.fixture(autouse=True)
def no_film_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "_table", tuple)


def rows(dataset: Dataset) -> list[tuple[str, str, float, int]]:
    return list(dataset.interactions.itertuples(index=False, name=None))


EXPECTED = [
    ("6", "1", 3.0, 1125964800),
    ("7", "30", 4.0, 1072915200),
    ("7", "1", 5.0, 1115942400),
]


def test_combined_files(tmp_path: Path) -> None:
    dataset = load(
        files.write(
            tmp_path / "netflix",
            {
                "movie_titles.csv": TITLES,
                "combined_data_1.txt": "1:\r\n" + RATINGS["1"].replace("\n", "\r\n"),
                "combined_data_2.txt": "30:\n" + RATINGS["30"].rstrip() + "\n3:\n",
            },
        ),
    )
    assert rows(dataset) == EXPECTED
    assert {key: item.label for key, item in dataset.items.items()} == {
        "1": "Dinosaur Planet (2003)",
        "2": "Léon, the Movie, Part 2 (1973)",
        "3": "Ancient",
        "30": "Something's Gotta Give (2003)",
    }


@pytest.mark.parametrize("below", ["", "training_set"])
def test_a_file_a_film(tmp_path: Path, below: str) -> None:
    files.write(tmp_path, {"movie_titles.txt": TITLES})
    files.write(
        tmp_path / below,
        {
            f"mv_{int(film):07d}.txt": f"{film}:\n{text}"
            for film, text in RATINGS.items()
        },
    )
    assert rows(load(tmp_path)) == EXPECTED


def test_blocks_of_ratings_are_joined_as_one(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pytest_recsys_mt.datasets.netflix._BLOCK", 1)
    combined = {
        f"combined_data_{film}.txt": f"{film}:\n{text}"
        for film, text in RATINGS.items()
    }
    files.write(tmp_path, {"movie_titles.txt": TITLES, **combined})
    assert rows(load(tmp_path)) == EXPECTED


def test_names_and_years_join_a_list_of_titles_and_posters(tmp_path: Path) -> None:
    files.write(
        tmp_path,
        {
            "movie_titles.txt": TITLES,
            "combined_data_1.txt": COMBINED,
            "netflix_titles.csv": LISTED,
        },
    )
    files.write(tmp_path / "posters", {"30.jpg": b"picture", "notes.txt": "none"})
    items = load(tmp_path).items
    assert items["30"].attributes == {
        "directors": ("Nancy Meyers",),
        "cast": ("Jack Nicholson", "Diane Keaton"),
        "genres": ("Comedies", "Romantic Movies"),
        "logline": "A swinger falls in love, late.",
        "image": str(tmp_path / "posters" / "30.jpg"),
    }
    assert items["1"].attributes == {}, "two entries of one name and year are no match"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        (
            "combined_data_1.txt",
            "1:\n6,3,2005-09-06\n7,five,2005-05-13\n",
            "line 3: '7,five",
        ),
        ("combined_data_1.txt", "1:\n6,3,2005-13-06\n", "line 2: '6,3,2005-13-06'"),
        ("combined_data_1.txt", "1:\n6,3,2005-09-06,8\n", "line 2: '6,3,2005-09-06,8'"),
        ("combined_data_1.txt", "1:\n6,3\n", "line 2: '6,3'"),
        (
            "combined_data_1.txt",
            "6,3,2005-09-06\n",
            "line 1: '6,3,2005-09-06' is not a film",
        ),
        (
            "combined_data_1.txt",
            "1:\n6,3,2005-09-06\n6,4,2005-09-07\n",
            "line 3: user '6' has",
        ),
        (
            "combined_data_1.txt",
            "1:\n6,3,2005-09-06\n6,4,2005-09-07",
            "line 3: user '6' has",
        ),
        ("combined_data_1.txt", "1:\n\n4:\n6,3,2005-09-06\n", "line"),
        (
            "combined_data_1.txt",
            "1:\n7,1,2005-09-06\n9:\n6,3,2005-09-06\n",
            "line 4: item '9' is",
        ),
        ("combined_data_1.txt", "1:\n6,7,2005-09-06\n", "line 2: rating 7 is outside"),
        ("combined_data_1.txt", "1:\n", "no ratings"),
        (
            "movie_titles.txt",
            "1;2003;Dinosaur\n",
            "line 1: '1;2003;Dinosaur' is not a film",
        ),
        (
            "movie_titles.txt",
            "1,2003,A\n1,2004,B\n",
            "line 2: film '1' is there already",
        ),
    ],
)
def test_a_wrong_line_is_named(
    tmp_path: Path,
    name: str,
    content: str,
    said: str,
) -> None:
    whole: dict[str, str | bytes] = {
        "movie_titles.txt": TITLES,
        "combined_data_1.txt": COMBINED,
    }
    files.write(tmp_path, {**whole, name: content})
    with pytest.raises(DataError, match=said.replace("(", r"\(")):
        load(tmp_path, repeats="refuse")


def test_names_that_nothing_is_downloaded_for_say_where_to_put_the_files(
    tmp_path: Path,
) -> None:
    with pytest.raises(
        DataError,
        match=r"not downloaded for you: get its files from https://",
    ):
        load("netflix", cache_dir=tmp_path)
    files.write(
        tmp_path / "netflix",
        {"movie_titles.txt": TITLES, "combined_data_1.txt": COMBINED},
    )
    assert load("netflix", cache_dir=tmp_path).name == "netflix"
