from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from pytest_recsys_mt import DataError
from pytest_recsys_mt.datasets import Dataset, load
from pytest_recsys_mt.requests import Scale
from tests.datasets import files
from tests.support.datasets import metadata, quantile_ratings, split_genres, split_title


@pytest.fixture(autouse=True)
def no_film_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "_table", tuple)


def rows(dataset: Dataset) -> list[tuple[str, str, float, int]]:
    return list(dataset.interactions.itertuples(index=False, name=None))


def test_movielens_as_csv(tmp_path: Path) -> None:
    dataset = load(files.write(tmp_path / "ml-25m", files.MOVIELENS_CSV))
    assert (dataset.name, dataset.scale) == ("ml-25m", Scale(0.5, 5.0))
    assert rows(dataset) == [
        ("1", "7", 0.5, 964981247),
        ("1", "1", 4.0, 964982703),
        ("2", "11", 5.0, 1445714835),
    ]
    assert {key: (item.title, item.year) for key, item in dataset.items.items()} == {
        "1": ("Toy Story", 1995),
        "7": ("Matrix, The", 1999),
        "11": ('Léon: "The Professional"', 1994),
        "12": ("Untitled", None),
    }
    assert dataset.items["1"].attributes == {
        "genres": ("Adventure", "Animation"),
        "tags": ("pixar", "fun"),
    }
    assert dataset.items["11"].attributes == {"genres": ()}


def test_movielens_as_csv_needs_neither_links_nor_tags(tmp_path: Path) -> None:
    whole = files.MOVIELENS_CSV
    folder = files.write(
        tmp_path,
        {name: whole[name] for name in ("ratings.csv", "movies.csv")},
    )
    assert len(load(folder).items) == 4


def test_movielens_100k(tmp_path: Path) -> None:
    dataset = load(files.write(tmp_path, files.MOVIELENS_100K))
    assert dataset.scale == Scale(1, 5)
    assert rows(dataset)[0] == ("186", "302", 5.0, 891717742)
    assert dataset.items["302"].title == "Misérables, Les"
    assert dataset.items["302"].year == 1995
    assert dataset.items["302"].attributes == {"genres": ("Drama", "Musical")}
    assert dataset.items["267"].label == "unknown"
    assert dataset.items["267"].attributes == {"genres": ()}
    assert dataset.users == {
        "186": {"age": 39, "gender": "F", "occupation": "executive"},
        "196": {"age": 49, "gender": "M", "occupation": "writer"},
    }


def test_movielens_1m(tmp_path: Path) -> None:
    dataset = load(files.write(tmp_path, files.MOVIELENS_1M))
    assert dataset.scale == Scale(1, 5)
    assert rows(dataset)[0] == ("1", "1193", 5.0, 978300760)
    assert dataset.items["661"].label == "Cité des enfants perdus, La (1995)"
    assert dataset.items["1193"].title == "Star Wars: Episode IV - A New Hope"
    assert dataset.items["3"].title == '"Great" Day in Harlem, A'
    assert dataset.users == {
        "1": {"gender": "F", "age": "under 18", "occupation": "K-12 student"},
        "2": {"gender": "M", "age": "56 or over", "occupation": "self-employed"},
    }


def test_a_latin_1_file_re_encoded_to_utf_8_reads_the_same(tmp_path: Path) -> None:
    movies = files.MOVIELENS_1M["movies.dat"]
    assert isinstance(movies, bytes)
    again = {**files.MOVIELENS_1M, "movies.dat": movies.decode("latin-1")}
    published = load(files.write(tmp_path / "a", files.MOVIELENS_1M))
    assert load(files.write(tmp_path / "b", again)).digest == published.digest


def test_movielens_10m(tmp_path: Path) -> None:
    dataset = load(files.write(tmp_path, files.MOVIELENS_10M))
    assert dataset.scale == Scale(0.5, 5)
    assert rows(dataset)[0] == ("1", "185", 0.5, 838983525)
    assert dataset.items["185"].label == "Cité, La (1995)"
    assert dataset.items["122"].attributes == {
        "genres": ("Comedy", "Romance"),
        "tags": ("excellent!", "politics"),
    }


def test_lastfm(tmp_path: Path) -> None:
    dataset = load(files.write(tmp_path, files.LASTFM))
    assert dataset.scale == Scale(1, 5)
    # Of three artists, the most heard is in the top fifth, the least heard in the
    # second.
    assert rows(dataset) == [
        ("2", "2", 4.0, 0),
        ("2", "3", 2.0, 0),
        ("2", "1", 5.0, 1241128800),
        ("4", "1", 5.0, 0),
        ("4", "3", 5.0, 0),
    ]
    assert [item.title for item in dataset.items.values()] == [
        "MALICE MIZER",
        'Diary of "Dreams',
        "Sigur Rós",
    ]
    assert dataset.items["1"].attributes == {
        "tags": ("café", "gothic"),
        "genres": ("café",),
    }


def test_lastfm_without_times_of_tags(tmp_path: Path) -> None:
    timed = load(files.write(tmp_path / "timed", files.LASTFM))
    folder = files.write(tmp_path / "bare", files.LASTFM)
    (folder / "user_taggedartists-timestamps.dat").unlink()
    bare = load(folder)
    assert bare.family == "lastfm"
    assert [row[:3] for row in sorted(rows(bare))] == [
        row[:3] for row in sorted(rows(timed))
    ]
    assert {row[3] for row in rows(bare)} == {0}
    assert all("tags" not in item.attributes for item in bare.items.values())
    header = "userID\tartistID\ttagID\tday\tmonth\tyear\n"
    (folder / "user_taggedartists.dat").write_text(header + "2\t1\t13\t1\t5\t2009\n")
    dated = load(folder)
    assert {row[1]: row[3] for row in rows(dated) if row[0] == "2"} == {
        "1": 1241136000,
        "2": 0,
        "3": 0,
    }
    (folder / "user_taggedartists.dat").write_text(header + "2\t1\t13\t31\t2\t2009\n")
    with pytest.raises(
        DataError,
        match=r"user_taggedartists.dat', line 2: 2009-2-31 is no day",
    ):
        load(folder)


def test_listening_counts_become_fifths() -> None:
    counts = pd.DataFrame(
        {"user": [1] * 10, "count": [1, 2, 3, 4, 5, 60, 700, 8000, 9000, 9001]},
    )
    assert quantile_ratings(counts).tolist() == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Toy Story (1995)", ("Toy Story", 1995)),
        ("Matrix, The (1999) ", ("Matrix, The", 1999)),
        ("Fawlty Towers (1975-1979)", ("Fawlty Towers", 1975)),
        ("Big Bang Theory, The (2007-)", ("Big Bang Theory, The", 2007)),
        ("2001: A Space Odyssey (1968)", ("2001: A Space Odyssey", 1968)),
        ("Seven (a.k.a. Se7en) (1995)", ("Seven (a.k.a. Se7en)", 1995)),
        ("Babylon 5", ("Babylon 5", None)),
        ("(1999)", ("(1999)", None)),
        ("", ("", None)),
    ],
)
def test_titles_split_into_title_and_year(
    text: str,
    expected: tuple[str, int | None],
) -> None:
    assert split_title(text) == expected


def test_genres_split_at_bars() -> None:
    assert split_genres("Comedy|Drama") == ("Comedy", "Drama")
    assert split_genres("(no genres listed)") == split_genres("") == ()
