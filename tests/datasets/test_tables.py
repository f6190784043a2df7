from __future__ import annotations

import importlib
import json
import re
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_recsys_mt import DataError
from pytest_recsys_mt.datasets import Dataset, load
from pytest_recsys_mt.requests import Scale
from tests.datasets.files import write
from tests.extras import need
from tests.support.datasets import Repeats


def rows(dataset: Dataset) -> list[tuple[str, str, float, int]]:
    return list(dataset.interactions.itertuples(index=False, name=None))


def save(frame: pd.DataFrame, path: Path) -> Path:
    if path.suffix == ".parquet":
        need("pyarrow")
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    return path


ids = st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=8).filter(
    str.strip,
)
scales = st.sampled_from([(1, 5), (0.5, 5), (0, 10), (0, 100)])


@st.composite
def interactions(draw: st.DrawFn) -> pd.DataFrame:
    pairs = draw(st.lists(st.tuples(ids, ids), min_size=1, max_size=12, unique=True))
    low, high = draw(scales)
    rating = st.floats(low, high)
    time = st.integers(-(10**7), 10**7) | st.integers(
        10**8,
        10**10,
    )  # eight digits are a day
    return pd.DataFrame(
        [(user, item, draw(rating), draw(time)) for user, item in pairs],
        columns=["user", "item", "rating", "timestamp"],
    )


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
@given(frame=interactions())
@settings(
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_a_saved_table_loads_as_it_was(
    tmp_path: Path,
    suffix: str,
    frame: pd.DataFrame,
) -> None:
    loaded = rows(load(save(frame, tmp_path / f"shop{suffix}")))
    expected = frame.sort_values(["user", "timestamp", "item"]).itertuples(
        index=False,
        name=None,
    )
    for one, other in zip(loaded, expected, strict=True):
        assert (*one[:2], one[3]) == (*other[:2], other[3])
        assert one[2] == pytest.approx(
            other[2],
            rel=1e-12,
        )  # pandas 2 reads to fewer digits


@pytest.mark.parametrize(
    "header",
    [
        "user,item,rating,timestamp",
        "userId,movieId,rating,timestamp",
        "USER_ID,Item ID,Stars,Time",
        "customer-id,asin,overall,unixReviewTime",
        "\ufeffuid,iid,score,date",
    ],
)
def test_headers_may_be_called_by_the_usual_names(tmp_path: Path, header: str) -> None:
    write(tmp_path, {"t.csv": f"{header}\na,x,4,9\n"})
    assert rows(load(tmp_path / "t.csv")) == [("a", "x", 4.0, 9)]


def test_ids_stay_as_they_are_written(tmp_path: Path) -> None:
    write(tmp_path, {"t.csv": 'user,item\n007,1.0\nNA,"a, b"\nnull,nan\n'})
    assert {row[:2] for row in rows(load(tmp_path / "t.csv"))} == {
        ("007", "1.0"),
        ("NA", "a, b"),
        ("null", "nan"),
    }


def test_without_ratings_and_times_all_is_1_of_1_in_the_order_of_the_file(
    tmp_path: Path,
) -> None:
    write(tmp_path, {"t.tsv": "item\tuser\nz\ta\nb\ta\n"})
    dataset = load(tmp_path / "t.tsv")
    assert dataset.scale == Scale(0, 1)
    assert rows(dataset) == [("a", "z", 1.0, 0), ("a", "b", 1.0, 1)]
    assert [item.label for item in dataset.items.values()] == ["b", "z"]


def test_iso_dates_are_times(tmp_path: Path) -> None:
    text = "user,item,time\na,1,1970-01-02\na,2,1970-01-01T01:00:00+01:00\na,3,1970-01-01 00:00:07\n"
    write(tmp_path, {"t.csv": text})
    assert [(row[1], row[3]) for row in rows(load(tmp_path / "t.csv"))] == [
        ("2", 0),
        ("3", 7),
        ("1", 86400),
    ]


@pytest.mark.parametrize(
    ("ratings", "scale"),
    [
        ("0 1", (0, 1)),
        ("1 5", (1, 5)),
        ("2 3.5", (1, 5)),
        ("0.5 5", (0.5, 5)),
        ("0 5", (0, 5)),
        ("7 3", (1, 7)),
        ("1 10", (1, 10)),
        ("0 9", (0, 10)),
        ("3 88", (0, 100)),
    ],
)
def test_the_scale_is_the_first_usual_one_that_holds_all_ratings(
    tmp_path: Path,
    ratings: str,
    scale: tuple[float, float],
) -> None:
    lines = [f"a,{item},{rating}" for item, rating in enumerate(ratings.split())]
    write(tmp_path, {"t.csv": "\n".join(["user,item,rating", *lines])})
    assert load(tmp_path / "t.csv").scale == Scale(*scale)


@pytest.mark.parametrize(
    "name",
    ["t.items.csv", "items.tsv", "catalogue.csv", "catalog.parquet"],
)
def test_a_catalogue_beside_the_table_is_joined(tmp_path: Path, name: str) -> None:
    catalogue = pd.DataFrame(
        {
            "Item_ID": ["x", "y"],
            "Name": ["Alien", "Brazil"],
            "Year": ["1979", ""],
            "genres": ["Horror|Sci-Fi", ""],
            "Logline": ["In space.", "A form."],
        },
    )
    save(catalogue, tmp_path / name)
    write(tmp_path, {"t.csv": "user,item\na,x\n"})
    items = load(tmp_path / "t.csv").items
    assert [item.label for item in items.values()] == ["Alien (1979)", "Brazil"]
    assert items["x"].attributes == {
        "genres": ("Horror", "Sci-Fi"),
        "logline": "In space.",
    }
    assert items["y"].attributes == {"logline": "A form."}


def test_the_catalogue_of_a_table_s_own_name_comes_first(tmp_path: Path) -> None:
    own, other = "id,title\nx,Own (1999)\n", "id,title\nx,Other\n"
    write(
        tmp_path,
        {"t.csv": "user,item\na,x\n", "t.items.csv": own, "items.csv": other},
    )
    assert load(tmp_path / "t.csv").items["x"].label == "Own (1999)"


@pytest.mark.parametrize("raw", [True, False])
def test_a_catalogue_of_json_lines_knows_every_id(tmp_path: Path, raw: bool) -> None:
    ids = ["o'neil", 'say"x', "a\\b", "a,b", "tab\tx", "é}", "plain", "17", "z\u200bz"]
    line = partial(json.dumps, ensure_ascii=not raw)
    table = tmp_path / "r.jsonl"
    table.write_text(
        "\n".join(line({"user": f"u{n}", "item": key}) for n, key in enumerate(ids)),
    )
    # What a record says of others, and other products, hide none.
    rows = [
        {"like": {"item": "other"}, "item": key, "title": f"T {n}"}
        for n, key in enumerate(ids)
    ]
    listed = map(line, [{"item": "other", "title": "?"}, *rows])
    (tmp_path / "r.items.jsonl").write_text("\n".join(listed))
    found = load(table)
    assert {found.items[each].title for each in ids} == {
        f"T {n}" for n in range(len(ids))
    }
    assert "other" not in found.items


def test_parquet_takes_typed_columns(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "user": [1, 2],
            "item": ["x", "y"],
            "rating": pd.array([4, 5], dtype="Int8"),
            "timestamp": pd.to_datetime(["1970-01-02", "1970-01-03"]),
        },
    )
    assert rows(load(save(frame, tmp_path / "t.parquet"))) == [
        ("1", "x", 4.0, 86400),
        ("2", "y", 5.0, 172800),
    ]


def test_ids_of_64_bits_are_whole_numbers(tmp_path: Path) -> None:
    ids = [1_400_000_000_000_000_001, 1_400_000_000_000_000_002]
    frame = pd.DataFrame(
        {"user": ids, "item": np.array(ids, "uint64") + 2**63, "rating": [1, 2]},
    )
    loaded = load(save(frame, tmp_path / "t.parquet"))
    assert list(loaded.interactions["user"]) == list(map(str, ids))
    assert list(loaded.interactions["item"]) == [str(each + 2**63) for each in ids]


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("a.jsonl", '{"user": "a", "item": "x\\ud83d", "rating": 1}'),
        ("a.jsonl", '{"user": "a", "item": "x", "rating": 1' + "0" * 400 + "}"),
        ("a.items.jsonl", '{"item": "x", "title": "Book \\uD83D"}'),
        ("a.parquet", b"\xff\xfe"),
    ],
)
def test_what_is_neither_text_nor_a_number_is_named_with_its_file(
    tmp_path: Path,
    name: str,
    cell: Any,
) -> None:
    if isinstance(cell, bytes):
        table = save(pd.DataFrame({"user": [cell], "item": ["x"]}), tmp_path / name)
    else:
        table = tmp_path / "a.jsonl"
        table.write_text('{"user": "a", "item": "x", "rating": 1}\n')
        (tmp_path / name).write_text(f"{cell}\n")
    with pytest.raises(DataError, match=f"{re.escape(name)}'"):
        load(table)


HEAD = "user,item,rating,timestamp\n"
REPEATED = "a,x,2,9\na,y,3,5\na,x,4,7\na,x,5,9\nb,x,1,1\n"
"""User a has item x three times; the latest time stands twice."""


def test_of_a_repeated_user_and_item_the_latest_stays_and_one_line_says_so(
    tmp_path: Path,
) -> None:
    write(tmp_path, {"t.csv": HEAD + REPEATED})
    told: list[str] = []
    kept = rows(load(tmp_path / "t.csv", told=told.append))
    assert kept == [("a", "y", 3.0, 5), ("a", "x", 5.0, 9), ("b", "x", 1.0, 1)]
    assert (
        "of 5 interactions 2 repeat a user and an item; the latest of each is kept (recsys_repeats)"
        in told
    )


def test_repeats_count_where_there_are_no_ratings(tmp_path: Path) -> None:
    write(tmp_path, {"t.csv": "user,item\na,x\na,y\na,x\na,x\nb,x\n"})
    told: list[str] = []
    dataset = load(tmp_path / "t.csv", repeats="count", told=told.append)
    assert rows(dataset) == [("a", "y", 1.0, 1), ("a", "x", 3.0, 3), ("b", "x", 1.0, 4)]
    assert dataset.scale == Scale(0, 3)
    assert any("their number is the rating" in note for note in told)


@pytest.mark.parametrize(
    ("repeats", "remedy"),
    [("refuse", "=latest allows this"), ("count", "a column of ratings")],
)
def test_a_refused_repeat_is_named_with_what_allows_it(
    tmp_path: Path,
    repeats: Repeats,
    remedy: str,
) -> None:
    write(tmp_path, {"t.csv": HEAD + REPEATED})
    with pytest.raises(DataError, match=f"recsys_repeats.*{remedy}") as caught:
        load(tmp_path / "t.csv", repeats=repeats)
    assert "t.csv', line 4: user 'a' has item 'x' again (first at line 2)" in str(
        caught.value,
    )


@pytest.mark.parametrize("repeats", ["latest", "count", "refuse"])
def test_where_nothing_repeats_no_rule_changes_anything(
    tmp_path: Path,
    repeats: Repeats,
) -> None:
    write(tmp_path, {"t.csv": HEAD + "a,x,2,9\na,y,3,5\nb,x,2,9\n"})
    told: list[str] = []
    dataset = load(tmp_path / "t.csv", repeats=repeats, told=told.append)
    assert rows(dataset) == [("a", "y", 3.0, 5), ("a", "x", 2.0, 9), ("b", "x", 2.0, 9)]
    assert dataset.scale == Scale(1, 5)
    assert not any("repeat" in note for note in told)


@pytest.mark.parametrize(
    ("name", "content", "line", "problem"),
    [
        ("t.csv", HEAD + '"a\nb",x,4,9\na,y,no,9\n', 4, "rating is 'no', not a number"),
        ("t.csv", HEAD + "a,x,4\n", 2, "3 fields where 4 are expected"),
        ("t.csv", HEAD + ",x,4,9\n", 2, "user is '', not an id"),
        ("t.csv", HEAD + "a,x,-1,9\n", 2, "rating -1 is outside all usual scales"),
        (
            "t.csv",
            HEAD + "a,x,4,2001-01-31\na,y,4,yesterday\n",
            3,
            "timestamp is 'yesterday'",
        ),
        (
            "t.csv",
            HEAD + "a,x,4,9\na,y,4,2001-01-31\n",
            3,
            "timestamp is '2001-01-31', not a whole",
        ),
        ("t.csv", HEAD + "a,x,4,\n", 2, "timestamp is ''"),
        ("t.csv", HEAD + '"a,x,4,9\n', 2, "fields where 4 are expected"),
        (
            "t.csv",
            HEAD.encode() + b"\xff,x,4,9\n",
            2,
            "byte 0xff at column 1 is not UTF-8",
        ),
        ("t.csv", "item,rating\nx,4\n", 1, "no column 'user' among ['item', 'rating']"),
        (
            "t.csv",
            "user,item,movieId\na,x,y\n",
            1,
            "['item', 'movieId'] all mean 'item'",
        ),
        ("items.csv", "id,title\nx,A\nx,B\n", 3, "item 'x' stands at line 2 already"),
        (
            "items.csv",
            "id,title\ny,A\n",
            None,
            "the first is 'x'; are its ids those of",
        ),
        ("items.csv", "id,title\nx\n", 2, "1 fields where 2"),
    ],
)
def test_wrong_tables_are_named_with_their_line(
    tmp_path: Path,
    name: str,
    content: str | bytes,
    line: int | None,
    problem: str,
) -> None:
    write(tmp_path, {"t.csv": HEAD + "a,x,4,9\n", name: content})
    place = f"{str(tmp_path / name)!r}" + (f", line {line}: " if line else ": ")
    with pytest.raises(DataError, match=re.escape(place)) as caught:
        load(tmp_path / "t.csv")
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("column", "cells", "row", "problem"),
    [
        ("user", ["a", None], 2, "user is"),
        ("user", ["", "a"], 1, "user is '', not an id"),
        ("item", [1.5, 2.0], 1, "item is 1.5, not a whole number"),
        ("rating", [4.0, float("nan")], 2, "rating is nan, not a number"),
        ("rating", ["4", "four"], 2, "rating is 'four', not a number"),
        ("timestamp", ["2001-01-31", "soon"], 2, "timestamp is 'soon'"),
    ],
)
def test_wrong_parquet_tables_are_named_with_their_row(
    tmp_path: Path,
    column: str,
    cells: list[object],
    row: int,
    problem: str,
) -> None:
    frame = pd.DataFrame({"user": ["a", "a"], "item": ["x", "y"], column: cells})
    save(frame, tmp_path / "t.parquet")
    with pytest.raises(
        DataError,
        match=re.escape(f"t.parquet', row {row}: "),
    ) as caught:
        load(tmp_path / "t.parquet")
    assert problem in str(caught.value)


def test_a_file_that_is_no_parquet_is_an_error(tmp_path: Path) -> None:
    need("pyarrow")
    write(tmp_path, {"t.parquet": "user,item\na,x\n"})
    with pytest.raises(DataError, match="is not a sound Parquet file"):
        load(tmp_path / "t.parquet")


def test_other_endings_are_no_tables(tmp_path: Path) -> None:
    write(tmp_path, {"t.xlsx": ""})
    with pytest.raises(
        DataError,
        match=r"ends in \.csv, .* or \.parquet, not in '\.xlsx'",
    ):
        load(tmp_path / "t.xlsx")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "user,item\n" + "".join(f"{u},i{u}\n" for u in range(40)) + "total,i1\n",
            "no numbers, unlike the others: 'total'",
        ),
        ("user,item\na,1\na,1.0\nb,2\n", "'1' and '1.0' stand side by side"),
        ("user,item,plays\na,x,7\nb,y,2\n", "'plays' is not read"),
        ("user,item,time\na,x,1500000000000\nb,y,1500000000001\n", "in milliseconds"),
        ("user,item\na,x\nb,y\n", "no catalogue stands beside t.csv"),
    ],
)
def test_what_is_doubtful_is_said(tmp_path: Path, text: str, said: str) -> None:
    write(tmp_path, {"t.csv": text})
    notes: list[str] = []
    load(tmp_path / "t.csv", told=notes.append)
    assert any(said in note for note in notes), notes


def test_ids_keep_their_digits_and_their_kind(tmp_path: Path) -> None:
    big = '{"user": "u", "item": 10000000000000000001}\n{"user": "u", "item": 10000000000000000002}\n'
    write(tmp_path, {"t.json": big})
    assert {row[1] for row in rows(load(tmp_path / "t.json"))} == {
        "10000000000000000001",
        "10000000000000000002",
    }
    for wrong in ('{"user": "u", "item": 1e19}', '{"user": {"id": "u"}, "item": 1}'):
        write(tmp_path, {"t.json": wrong + "\n"})
        with pytest.raises(
            DataError,
            match=r"line 1: (item|user) is .*, not an? (id|whole number)",
        ):
            load(tmp_path / "t.json")


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ("20170114101112 20170115000000", [1484388672, 1484438400]),
        ("201701141011 201701150000", [1484388660, 1484438400]),
        ("14.01.2017 15.01.2017", [1484352000, 1484438400]),
        ("01/14/2017 01/15/2017", [1484352000, 1484438400]),
        ("1484388672.9 1484438400.1", [1484388672, 1484438400]),
    ],
)
def test_times_may_be_written_in_many_ways(
    tmp_path: Path,
    times: str,
    expected: list[int],
) -> None:
    lines = [f"a,{item},{time}" for item, time in enumerate(times.split())]
    write(tmp_path, {"t.csv": "\n".join(["user,item,time", *lines])})
    assert [row[3] for row in rows(load(tmp_path / "t.csv"))] == expected


ODD = "nr;user;item;when\n1;u1;i1;14-01-2017\n"


@pytest.mark.parametrize(
    ("name", "text", "query", "said"),
    [
        ("t.csv", "user,item,time\na,x,1484388322\na,y,1484388322000\n", "", "some times are seconds"),
        ("t.csv", ODD, "?time=when", "name the form, as in ?time_format="),
        ("t.csv", ODD, "?time=when&time_format=%Q", "is no form of times"),
        ("t.csv", ODD, "?time=when&time_format=%d.%m.%d", "is no form of times"),
        ("t.csv", ODD, "?encoding=utf99", "encoding='utf99' is unknown"),
        ("t.csv", ODD, "?encoding=zip", "encoding='zip' is unknown"),
        ("t.csv", ODD, "?user=user&item=user", "means 'user' and 'item'"),
        ("t.csv", ODD, "?columns=usr,item", "must name user and item"),
        ("t.csv", ODD, "?scale=5,1", "scale='5,1' is not LOW,HIGH"),
        ("t.csv", ODD, "?usr=nr", "unknown parameter 'usr'"),
        ("t.csv", "a,x,4\n", "", "?columns=user,item,rating where the file has no header"),
        ("t.json", '[{"user": 1, "item": 2}]\n', "?user=user", "write one JSON object a line"),
        ("t.toml", "[interactions]\nfile = 't.csv'\nuser = 'u'\nitem = 'i'\n", "?scale=1,5", "so write 'scale' into it"),
        ("t.toml", "[interactions]\nfile = 't.csv'\nuser = 'u'\nraiting = 'i'\n", "", "unknown keys ['raiting']"),
    ],
)  # fmt: skip
def test_options_that_cannot_be_followed_are_named(
    tmp_path: Path,
    name: str,
    text: str,
    query: str,
    said: str,
) -> None:
    write(tmp_path, {name: text})
    with pytest.raises(DataError) as caught:
        load(f"{tmp_path / name}{query}")
    assert said in str(caught.value)
    assert "Traceback" not in str(caught.value)


def test_a_damaged_neighbour_is_nobody_s_business(tmp_path: Path) -> None:
    write(tmp_path, {"good.csv": "user,item\na,x\n", "old.csv.gz": "no gzip at all"})
    assert len(load(tmp_path / "good.csv").items) == 1
    with pytest.raises(DataError, match=r"old\.csv\.gz': the file is damaged"):
        load(tmp_path / "old.csv.gz")


def test_a_column_of_equal_values_is_read(tmp_path: Path) -> None:
    write(tmp_path, {"t.csv": "user,item,rating,timestamp\na,x,0,0\na,y,0,0\n"})
    said: list[str] = []
    load(tmp_path / "t.csv", told=said.append)
    assert not any("is not read" in each for each in said)


def test_items_that_share_a_title_are_counted(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "t.csv": "user,item\na,x\na,y\nb,z\n",
            "items.csv": "item,title\nx,Twin\ny,Twin\nz,Other\n",
        },
    )
    said: list[str] = []
    load(tmp_path / "t.csv", told=said.append)
    assert any("2 items have the title of another" in each for each in said)


def test_a_catalogue_is_named_and_must_fit(tmp_path: Path) -> None:
    catalogue = "id,title,genres,year\nx,Heat,\"['Crime', 'Drama']\",15.12.1995\n"
    write(
        tmp_path,
        {
            "t.csv": "user,item\na,x\n",
            "books.csv": "nr,label\n1,A\n",
            "items.csv": catalogue,
        },
    )
    notes: list[str] = []
    item = load(tmp_path / "t.csv", told=notes.append).items["x"]
    assert (item.label, item.attributes) == (
        "Heat (1995)",
        {"genres": ("Crime", "Drama")},
    )
    assert "the catalogue is items.csv" in notes


@pytest.mark.parametrize("form", ["csv.gz", "csv.bz2", "csv.xz", "csv.zip", "csv.zst"])
def test_a_packed_table_is_read_and_a_cut_off_one_named(
    tmp_path: Path,
    form: str,
) -> None:
    frame = pd.DataFrame(
        {"user": ["a", "b"] * 500, "item": range(1000), "rating": [1, 5] * 500},
    )
    path = tmp_path / f"t.{form}"
    if form.endswith("zst"):
        need("pyarrow")
        pyarrow = importlib.import_module("pyarrow")
        with pyarrow.CompressedOutputStream(str(path), "zstd") as stream:
            stream.write(frame.to_csv(index=False).encode())
    else:
        frame.to_csv(path, index=False)
    assert len(load(path).interactions) == 1000
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(DataError, match="damaged or cut off"):
        load(path)


def test_the_member_of_a_packed_table_stays_in_its_folder(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr("../../t.csv", "user,item\na,x\n")
    with pytest.raises(DataError, match="its path leaves the folder"):
        load(tmp_path / "t.zip")


WRITTEN = [
    ("user;item;rating\na;x;1\na;y;4,5\n", ""),
    ("user\titem\trating\na\tx\t1\na\ty\t4.5\n", ""),
    ("user|item|rating\ra|x|1\ra|y|4.5\r", ""),
    ("user::item::rating\na::x::1\na::y::4.5\n", ""),
    ("x,a,?,1\ny,a,?,4.5\n", "?columns=item,user,-,rating"),
    (
        '{"user": "a", "item": "x", "rating": 1}\n{"user": "a", "item": "y", "rating": 4.5}\n',
        "",
    ),
]


@pytest.mark.parametrize(
    ("text", "query", "encoding"),
    [
        *((text, query, "utf-8") for text, query in WRITTEN),
        *((text, query, "utf-8-sig") for text, query in WRITTEN if not query),
        *((text, query, "utf-16") for text, query in WRITTEN[:3]),
    ],
)
def test_a_table_may_be_written_in_many_ways(
    tmp_path: Path,
    text: str,
    query: str,
    encoding: str,
) -> None:
    ending = "json" if text.startswith("{") else "csv"
    write(tmp_path, {f"t.{ending}": text.encode(encoding)})
    loaded = rows(load(f"{tmp_path / f't.{ending}'}{query}"))
    assert [row[:3] for row in loaded] == [("a", "x", 1.0), ("a", "y", 4.5)]
