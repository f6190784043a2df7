"""A title outside the catalogue is told from one that
was made up, where films are known.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from pytest_recsys_mt.requests import Item, Request, Scale
from tests.llm.world import CATALOGUE, INDEX
from tests.support.datasets import metadata
from tests.support.llm_reading import KnownFilms, parse

FILMS = (
    Item("tt1", "Heat", 1995, {"directors": ("Michael Mann",)}),
    Item("tt2", "King Kong", 1976, {"directors": ("John Guillermin",)}),
    Item("tt3", "Star Wars", 1977, {"directors": ("George Lucas",)}),
    Item("tt4", "Léon", 1994, {"directors": ()}),
)
SHOP = [
    Item("1", "Heat, The Album", 1995),
    Item("2", "Heat", 1995, {"directors": ("Michael Mann",)}),
    Item(
        "3",
        "Star Wars: Episode IV - A New Hope",
        1977,
        {"directors": ("George Lucas",)},
    ),
]


@pytest.fixture
def films(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "films", lambda: FILMS)


@pytest.mark.parametrize(
    ("title", "year", "held"),
    [
        ("king kong", 1976, True),
        ("LEON", 1994, True),
        ("King Kong", 1977, False),
        ("King Kng", 1976, False),
        ("King", 1976, False),
        ("Star Wars", 1977, False),  # an item of that year by the same director
    ],
)
def test_films_are_known_by_their_very_title_and_year(
    films: None,
    title: str,
    year: int,
    held: bool,
) -> None:
    assert KnownFilms(SHOP).hold(title, year) is held


@pytest.mark.parametrize(
    "catalogue",
    [
        [],
        [Item("1", "Heat"), Item("2", "King Kong")],
        [Item(str(i), f"Song {i}", 1995) for i in range(9)] + [Item("9", "Heat", 1995)],
    ],
    ids=["empty", "undated", "of songs"],
)
def test_other_catalogues_know_no_films(films: None, catalogue: list[Item]) -> None:
    assert not KnownFilms(catalogue).hold("King Kong", 1976)


def test_films_are_read_at_the_first_unknown_title(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reads = []

    def read() -> tuple[Item, ...]:
        reads.append(1)
        return FILMS

    monkeypatch.setattr(metadata, "films", read)
    known = KnownFilms(SHOP)
    request = Request("1", (), Scale(), None, 5)
    parse(
        "1. Heat (1995)\n2. Alien (1979)\n3. Some Title",
        request,
        INDEX,
        exists=known.hold,
    )
    assert reads == []
    parse("1. King Kong (1976)\n2. A Title (1980)", request, INDEX, exists=known.hold)
    assert reads == [1]


ANSWER = """1. Heat (1995)
2. King Kong (1976)
3. King Kong (1976)
4. King Kong: Returns (1976)
5. Star Wars (1977)
6. A Film That Nobody Made (1976)"""


@pytest.mark.parametrize(
    "text",
    [ANSWER, ANSWER.replace(" (", ", ").replace(")", "")],
    ids=["brackets", "commas"],
)
def test_the_parser_gives_what_exists_its_own_kind(films: None, text: str) -> None:
    entries = parse(
        text,
        Request("1", (), Scale(), None, 5),
        INDEX,
        exists=KnownFilms(SHOP).hold,
    )
    assert [(entry.kind, entry.item) for entry in entries] == [
        ("candidate", "heat"),
        ("outside", "unknown:kingkong"),
        ("duplicate", "unknown:kingkong"),
        ("unknown", "unknown:kingkongreturns"),
        ("unknown", "unknown:starwars"),
        ("unknown", "unknown:afilmthatnobodymade"),
    ]


def test_the_year_of_json_counts(films: None) -> None:
    text = '[{"title": "King Kong", "year": 1976}, {"title": "Heat", "year": 1995}]'
    entries = parse(
        text,
        Request("1", (), Scale(), None, 5),
        INDEX,
        exists=KnownFilms(SHOP).hold,
    )
    assert [entry.kind for entry in entries] == ["outside", "candidate"]


def test_the_catalogue_of_the_collected_answers_is_one_of_films() -> None:
    known = KnownFilms(CATALOGUE.values())
    assert known.hold("Nashville", 1975)
    assert known.hold("King Kong", 1976)
    assert not known.hold("Nashville", 1985)
    assert not known.hold("Nashvile", 1975)


def test_the_recommender_imports_no_films_at_first() -> None:
    module = "pytest_recsys_mt.datasets.metadata"
    code = f"import sys, pytest_recsys_mt.llm.recommender; sys.exit({module!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
