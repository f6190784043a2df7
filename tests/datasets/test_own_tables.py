"""Tables that a user's code gives, and folders of Parquet."""

from __future__ import annotations

import importlib
from pathlib import Path

import pandas as pd
import pytest

from pytest_recsys_mt import DataError
from pytest_recsys_mt.datasets import load
from tests.extras import need

LARGE = 2**53 + 1
"""Numbers from here on are no floats."""

CODE = f"""
import sqlite3

NAMES = ["customer", "sku", "stars", "date"]
ROWS = [
    (f"u{{user}}", {LARGE} + (user + 3 * place) % 7, 1 + place, f"2026-01-0{{1 + place}}")
    for user in range(6)
    for place in range(4)
]

def dicts(rows: int = 100):
    return [dict(zip(NAMES, row)) for row in ROWS[:rows]]

def pandas():
    import pandas
    return pandas.DataFrame(dicts())

def polars():
    import polars
    return polars.DataFrame(dicts())

def lazy():
    return polars().lazy()

def arrow():
    import pyarrow
    return pyarrow.Table.from_pylist(dicts())

def duckdb():
    import duckdb
    frame = pandas()
    return duckdb.sql("SELECT * FROM frame")

def database(since: str = "2026-01-01"):
    shop = sqlite3.connect(":memory:")
    shop.execute("CREATE TABLE orders (customer, sku INTEGER, stars, date)")
    shop.executemany("INSERT INTO orders VALUES (?, ?, ?, ?)", ROWS)
    return shop.execute("SELECT * FROM orders WHERE date >= ?", [since])

def both():
    return dicts(), [{{"sku": {LARGE} + n, "name": f"Lamp {{n}}"}} for n in range(7)]

def broken():
    return [{{**row, "sku": None if place == 3 else row["sku"]}} for place, row in enumerate(dicts())]

def arrow_with_gaps():
    import pyarrow
    return pyarrow.Table.from_pylist(broken())

def text():
    return "orders.csv"

def numbers():
    return [1, 2]

def other_names():
    return {{"ratings": dicts()}}

def unfinished():
    return sqlite3.connect(":memory:").cursor()

def raises():
    raise OSError("the shop is closed")
"""


@pytest.fixture(autouse=True)
def _code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "orders.py").write_text(CODE, encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("pandas", "pandas"),
        ("arrow", "pyarrow"),
        ("polars", "polars"),
        ("lazy", "polars"),
        ("duckdb", "duckdb"),
        ("database", "sqlite3"),
    ],
)
def test_the_same_rows_are_the_same_data_from_every_package(
    name: str, package: str
) -> None:
    need(package)
    if package == "polars":
        need("pyarrow")
    expected = load("orders.py:dicts")
    assert load(f"orders.py:{name}").digest == expected.digest
    assert min(expected.items) == str(LARGE)
    assert len(expected.interactions) == 24


def test_options_are_arguments_of_the_code_or_of_the_table() -> None:
    notes: list[str] = []
    found = load(
        "orders.py:database?since=2026-01-02&keep=stars>2,customer!=u9",
        told=notes.append,
    )
    assert sorted(found.interactions["rating"].unique()) == [3, 4]
    assert "6 of 18 rows are left out by keep, whose rating is not >2" in "\n".join(
        notes
    )
    assert "keep names 'u9', which no row has as user" in notes


def test_code_gives_a_catalogue_too() -> None:
    found = load("orders.py:both")
    assert found.items[str(LARGE)].title == "Lamp 0"


@pytest.mark.parametrize("name", ["broken", "arrow_with_gaps"])
def test_a_missing_id_is_one_bad_row_and_the_others_keep_their_digits(
    name: str,
) -> None:
    if name == "arrow_with_gaps":
        need("pyarrow")
    with pytest.raises(DataError, match=rf"orders.py:{name}', row 4: item is None"):
        load(f"orders.py:{name}")
    notes: list[str] = []
    found = load(f"orders.py:{name}?bad_rows=skip", told=notes.append)
    assert len(found.interactions) == 23
    assert set(found.items) <= set(load("orders.py:dicts").items)
    assert any("left out in all: 1 of 24 rows" in note for note in notes)


@pytest.mark.parametrize(
    ("spec", "error"),
    [
        ("orders.py:text", r"gives a str, which is no table: give a table of pandas"),
        ("orders.py:numbers", r"gives a list that holds a int; give a table"),
        ("orders.py:other_names", r"names 'ratings'; they may be interactions, items"),
        ("orders.py:unfinished", r"a cursor without columns: return it after"),
        ("orders.py:raises", r"OSError: the shop is closed"),
        ("orders.py:dict", r"has no 'dict'; did you mean 'dicts'"),
        ("other.py:load", r"there is no file 'other.py'"),
        ("orders.py:dicts?rows=few", r"rows='few' is not a whole number"),
        ("orders.py:dicts?sep=;", r"sep= is for files"),
        ("orders.py:dicts?each=events", r"each= is for files"),
        ("orders.py:dicts?keep=", r"keep= has no value"),
        (
            "orders.py:raises?splt=latest",
            r"unknown parameter 'splt'; valid ones: 'user', .*'time_format', 'scale', 'unrated', 'thing', 'keep', 'split', 'bad",
        ),
        ("orders.py:raises?test=a.csv", r"test= is for files"),
        ("orders.py:dicts?row=1", r"valid ones: 'rows', 'user', .*mean 'rows'"),
    ],
)
def test_code_that_gives_no_table_is_one_error(spec: str, error: str) -> None:
    with pytest.raises(DataError, match=error):
        load(spec)


def _written(folder: Path, frame: pd.DataFrame, name: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    frame.to_parquet(folder / name)


def test_a_folder_of_partitions_is_one_table(tmp_path: Path) -> None:
    need("pyarrow")
    frame = pd.DataFrame(
        {
            "user": [f"u{n % 3}" for n in range(12)],
            "item": [LARGE + n for n in range(12)],
            "picture": ["x" * 100] * 12,
        }
    )
    folder = tmp_path / "orders"
    for place in range(3):
        part = frame[4 * place : 4 * place + 4]
        # A column is narrower, and one is missing, in the oldest part.
        if place == 0:
            part = part.drop(columns="picture")
        _written(folder / f"date=2026-01-0{place + 1}", part, "part-0.parquet")
    _written(folder / "date=2026-01-02", frame[:0], "part-1.parquet")
    (folder / "_SUCCESS").write_text("")
    _written(
        tmp_path,
        pd.DataFrame({"id": frame["item"], "title": [f"Lamp {n}" for n in range(12)]}),
        "items.parquet",
    )
    found = load(folder)
    assert found.name == "orders"
    assert len(found.interactions) == 12
    assert found.interactions["timestamp"].nunique() == 3
    assert found.items[str(LARGE)].title == "Lamp 0"


def test_a_wrong_cell_of_a_folder_is_named_with_its_file(tmp_path: Path) -> None:
    need("pyarrow")
    folder = tmp_path / "orders.parquet"
    good = pd.DataFrame({"user": ["a", "b"], "item": ["x", "y"]})
    _written(folder, good, "part-0.parquet")
    _written(folder, good.assign(user=pd.Series([None, "c"])), "part-1.parquet")
    with pytest.raises(DataError, match=r"part-1.parquet', row 1: user is nan"):
        load(folder)
    (folder / "readme.txt").write_text("what this is")
    with pytest.raises(DataError, match=r"1 files that are not Parquet, .*readme.txt"):
        load(folder)


def test_pyarrow_reads_only_the_columns_that_are_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("pyarrow")
    dataset = importlib.import_module("pyarrow.dataset")
    frame = pd.DataFrame({"user": ["a"], "item": ["x"], "picture": ["large"]})
    _written(tmp_path, frame, "orders.parquet")
    asked: list[list[str]] = []

    class Spy:
        def __init__(self, inner: object) -> None:
            self.inner = inner

        def __getattr__(self, name: str) -> object:
            return getattr(self.inner, name)

        def to_table(self, *, columns: list[str], **others: object) -> object:
            asked.append(columns)
            return self.inner.to_table(columns=columns, **others)  # type: ignore[attr-defined]

        def get_fragments(self) -> list[Spy]:
            return [Spy(part) for part in self.inner.get_fragments()]  # type: ignore[attr-defined]

    original = dataset.dataset
    monkeypatch.setattr(
        dataset,
        "dataset",
        lambda *arguments, **named: Spy(original(*arguments, **named)),
    )
    load(tmp_path / "orders.parquet")
    assert asked == [["user", "item"]]
