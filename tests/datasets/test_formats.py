"""Each described format is read as its public description
says, from the folder and from the file.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_recsys_mt import DataError
from pytest_recsys_mt.datasets import Dataset, load
from tests.datasets import files
from tests.datasets.field_formats import FORMATS, Row, title
from tests.support.datasets import descriptions

START = 1_500_000_000
ROWS = [
    Row(
        user,
        (user + 3 * step) % 7,
        1 + (user + step) % 5,
        START + 86_400 * step + user,
    )
    for user in range(4)
    for step in range(3)
]
WITHOUT_TITLES = {
    "Amazon ratings of 2014, without a header",
    "Amazon ratings of 2018, without a header",
    "Foursquare check-ins of New York and Tokyo",
    "Goodreads interactions as CSV",
    "Gowalla and Brightkite check-ins",
    "KuaiRand, clicks",
    "Otto sessions",
    "RetailRocket events",
    "Taobao user behaviour",
    "Tmall behaviour logs",
}
IMPLICIT = {
    "Foursquare check-ins of New York and Tokyo",
    "Gowalla and Brightkite check-ins",
    "H&M purchases",
    "KuaiRand, clicks",
    "KuaiRec",
    "Last.fm 1K, artists heard",
    "Otto sessions",
    "RetailRocket events",
    "Steam games, bought and played (steam-200k)",
    "Steam reviews",
    "Taobao user behaviour",
    "Tmall behaviour logs",
}
NAMES = sorted(FORMATS)


def test_each_description_has_an_example() -> None:
    assert {form.name for form in descriptions()} == {name for name in FORMATS if name}


def in_their_order(dataset: Dataset) -> list[list[str]]:
    """The labels of what each user has, oldest first."""
    return [
        [rating.item.title for rating in listed]
        for listed in dataset.histories.values()
    ]


@pytest.mark.parametrize("name", NAMES)
def test_a_format_is_read(tmp_path: Path, name: str) -> None:
    written = FORMATS[name](ROWS)
    folder = files.write(tmp_path / "data", written)
    notes: list[str] = []
    dataset = load(folder / next(iter(written)), told=notes.append)
    assert len(dataset.interactions) == len(ROWS)
    assert dataset.interactions["user"].nunique() == 4
    titles = [
        [title(row.item) for row in ROWS if row.user == user] for user in range(4)
    ]
    if name in WITHOUT_TITLES:
        assert any("ids in place of titles" in note for note in notes)
        assert [len(set(listed)) for listed in in_their_order(dataset)] == [3, 3, 3, 3]
    else:
        assert in_their_order(dataset) == titles
    low, high = dataset.scale.low, dataset.scale.high
    values = (dataset.interactions["rating"] - low) / (high - low)
    if name in IMPLICIT:
        assert set(values) == {1.0}
    else:
        assert values.corr(dataset.interactions["rating"].rank()) > 0.9
    assert load(folder).digest == dataset.digest


def test_what_a_format_says_of_its_items_and_users(tmp_path: Path) -> None:
    def loaded(name: str) -> Dataset:
        written = FORMATS[name](ROWS)
        return load(
            files.write(tmp_path / (name or "recbole"), written) / next(iter(written)),
        )

    crossing = loaded("Book-Crossing")
    assert crossing.items["000000000X"].attributes == {
        "authors": ("A. Lee",),
        "publisher": "P",
    }
    assert crossing.items["0999999999"].title == 'The "Best"; really'
    assert crossing.users["1"] == {"location": "porto, portugal", "age": "NULL"}
    atomic = loaded("")
    assert atomic.items["1"].attributes == {"genres": ("Drama", "Sci-Fi")}
    assert (atomic.items["1"].year, atomic.users["1"]) == (1995, {"age": 24})
    assert loaded("Yelp reviews").items["b-1"].attributes == {
        "categories": ("Gastropubs", "Food"),
        "city": "Tampa",
    }
    assert loaded("goodbooks-10k").items["1"].attributes == {
        "authors": ("A. Lee", "B. Lu"),
    }
    assert loaded("Taobao user behaviour").items["6"].attributes == {
        "categories": ("1",),
    }
    assert loaded("Foursquare check-ins of New York and Tokyo").items[
        f"{1:024x}"
    ].attributes == {"categories": ("Café",)}
    assert loaded("Amazon reviews with metadata, of 2023").items[
        "B000000001"
    ].attributes == {
        "brand": "Acme",
        "categories": ("Hair",),
        "description": "Soft. Good.",
    }


OWN = """
[interactions]
file = "log.csv"
user = "who"
item = "what"
keep.kind = ["bought"]
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (OWN, None),
        (OWN + "[item]\n", r"\['item'\] is unknown"),
        ("[items]\nfile = 'x'\n", r"\[interactions\] is missing"),
        (OWN + "unrated = 0\n", "unrated = 0 has the wrong type"),
        (OWN + "[[", "is|Expected|Invalid"),
        ("x = " + "[" * 5000, "the description"),
        ("interactions = 'log.csv'\n", "is 'log.csv', no table"),
        (OWN + "[[items]]\n", "no table"),
        (OWN.replace('user = "who"', ""), "names no column for user"),
        (OWN.replace("log.csv", "."), "no name of a file"),
        (OWN.replace("log.csv", "/etc/passwd"), "no name of a file"),
        (OWN.replace("log.csv", "a/../../log.csv"), "no name of a file"),
        (OWN + "scale = [5, 1]\n", "low one below the high"),
        (OWN + "scale = [1, 2, 3]\n", r"is not \[LOW, HIGH\]"),
        (OWN + "first_line = '('\n", "unterminated"),
        (OWN + "encoding = 'utf99'\n", "unknown encoding"),
        (OWN + "escape = 'ab'\n", "must be one character"),
        (OWN.replace('["bought"]', '"bought"'), "keep = .* has the wrong type"),
        ("joins = ['zzz']\n" + OWN, "'zzz', and knows links"),
        (OWN.replace("log", "logs"), "names 'logs.csv', which is not beside it"),
        (OWN.replace("what", "which"), "no column 'which', which is to be the item"),
        (OWN.replace("keep.kind", "keep.sort"), "no column 'sort' among"),
        (OWN + 'rating = "stars"\n', "no column 'stars', which is to be the rating"),
    ],
)
def test_a_description_of_ones_own(tmp_path: Path, text: str, said: str | None) -> None:
    log = "who,what,kind\na,x,bought\na,y,seen\nb,y,bought\n"
    files.write(tmp_path, {"log.csv": log, "shop.toml": text})
    if said is None:
        rows = load(tmp_path / "shop.toml").interactions[["user", "item"]]
        assert rows.to_numpy().tolist() == [["a", "x"], ["b", "y"]]
        return
    with pytest.raises(DataError, match=said):
        load(tmp_path / "shop.toml")
