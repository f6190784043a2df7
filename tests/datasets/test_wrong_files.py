"""Every way in which a file can be wrong is an error that names the file and the line."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_recsys_mt import DataError
from pytest_recsys_mt.datasets import load
from tests.datasets import files
from tests.support.datasets import recordings

RATINGS = "userId,movieId,rating,timestamp\n"
MOVIES = "movieId,title,genres\n"
ITEM = b"|24-Jan-1997||url" + b"|0" * 19 + b"\n"

CASES = [
    # MovieLens as CSV
    (
        files.MOVIELENS_CSV,
        "ratings.csv",
        RATINGS + "1,1,4,9\n1,7,4\n",
        3,
        "3 fields where 4",
    ),
    (
        files.MOVIELENS_CSV,
        "ratings.csv",
        RATINGS + "1,1,4,9,9\n",
        2,
        "5 fields where 4",
    ),
    (
        files.MOVIELENS_CSV,
        "ratings.csv",
        RATINGS + "1,1,4,9\n1,7,4,9,9\n",
        3,
        "5 fields where 4",
    ),
    (
        files.MOVIELENS_CSV,
        "ratings.csv",
        RATINGS + "1,1,good,9\n",
        2,
        "rating is 'good'",
    ),
    (files.MOVIELENS_CSV, "ratings.csv", RATINGS + "1,1,,9\n", 2, "rating is ''"),
    (files.MOVIELENS_CSV, "ratings.csv", RATINGS + "1,1,nan,9\n", 2, "rating is 'nan'"),
    (files.MOVIELENS_CSV, "ratings.csv", RATINGS + "1,1,inf,9\n", 2, "rating is 'inf'"),
    (
        files.MOVIELENS_CSV,
        "ratings.csv",
        RATINGS + f"1,1,4,{10**20}\n",
        2,
        "timestamp is '1e+20'",
    ),
    (
        files.MOVIELENS_CSV,
        "ratings.csv",
        RATINGS + "\n1,1,4,9\n\n1,7,6,9\n",
        5,
        "outside the scale",
    ),
    (
        files.MOVIELENS_CSV,
        "ratings.csv",
        RATINGS + "1,1,4,9\n1,1,5,9\n",
        3,
        "first at line 2",
    ),
    (
        files.MOVIELENS_CSV,
        "movies.csv",
        MOVIES + "99,A,X\n",
        None,
        "the first is '1'; are its ids",
    ),
    (files.MOVIELENS_CSV, "ratings.csv", RATINGS, None, "no rows"),
    (files.MOVIELENS_CSV, "ratings.csv", "", None, "is empty"),
    (
        files.MOVIELENS_CSV,
        "ratings.csv",
        "userId,rating\n1,4\n",
        1,
        "no column 'movieId'",
    ),
    (
        files.MOVIELENS_CSV,
        "ratings.csv",
        "userId,user_id," + RATINGS,
        1,
        "all mean 'user'",
    ),
    (
        files.MOVIELENS_CSV,
        "movies.csv",
        MOVIES + '1,"A\nB (1995)",X\n1,C,X\n',
        4,
        "at line 2",
    ),
    (files.MOVIELENS_CSV, "movies.csv", MOVIES + "1,A\n", 2, "2 fields where 3"),
    (
        files.MOVIELENS_CSV,
        "movies.csv",
        MOVIES.encode() + b"1,A,X\n7,\xe9,X\n",
        3,
        "not UTF-8",
    ),
    (
        files.MOVIELENS_CSV,
        "links.csv",
        "movieId,imdbId,tmdbId\n1,2,3\n1,2,3\n",
        3,
        "at line 2",
    ),
    # MovieLens 100K
    (files.MOVIELENS_100K, "u.data", "196\t242\t3\n", 1, "3 fields where 4"),
    (files.MOVIELENS_100K, "u.data", "196\t242\t0\t9\n", 1, "rating 0 is outside"),
    (files.MOVIELENS_100K, "u.item", b"242|A" + ITEM + b"242|B" + ITEM, 2, "at line 1"),
    (
        files.MOVIELENS_100K,
        "u.item",
        b"242|A||||7" + b"|0" * 18,
        1,
        "the flags are [7, 0",
    ),
    # MovieLens 1M and 10M
    (
        files.MOVIELENS_1M,
        "ratings.dat",
        "1::661::5::9\n1::661:5::9\n",
        2,
        "3 fields where 4",
    ),
    (
        files.MOVIELENS_1M,
        "ratings.dat",
        "1::661::0.5::9\n",
        1,
        "outside the scale 1 to 5",
    ),
    (files.MOVIELENS_1M, "movies.dat", "661::A\n", 1, "2 fields where 3"),
    (files.MOVIELENS_1M, "users.dat", "1::F::2::10::48067\n", 1, "age code 2"),
    (files.MOVIELENS_1M, "users.dat", "1::F::1::21::48067\n", 1, "occupation code 21"),
    (files.MOVIELENS_1M, "users.dat", "1::F::1::1::4\n1::M::1::1::4\n", 2, "at line 1"),
    (files.MOVIELENS_10M, "movies.dat", b"122::Cit\xe9 (1992)::Comedy\n", 1, "0xe9"),
    (files.MOVIELENS_10M, "tags.dat", "15::122::fun\n", 1, "3 fields where 4"),
    # Last.fm
    (
        files.LASTFM,
        "user_artists.dat",
        "userID\tartistID\tweight\n2\t1\t0\n",
        2,
        "not above 0",
    ),
    (
        files.LASTFM,
        "user_artists.dat",
        "userID\tartistID\tweight\n2\t9\t5\n",
        2,
        "item '9'",
    ),
    (files.LASTFM, "artists.dat", "id\tname\n1\tA\n1\tB\n", 3, "at line 2"),
    (files.LASTFM, "artists.dat", "id\tname\n1\tA\tB\n", 2, "3 fields where 2"),
]


@pytest.mark.parametrize(("good", "name", "content", "line", "problem"), CASES)
def test_a_wrong_file_is_named_with_its_line(
    tmp_path: Path,
    good: dict[str, str | bytes],
    name: str,
    content: str | bytes,
    line: int | None,
    problem: str,
) -> None:
    folder = files.write(tmp_path, {**good, name: content})
    place = f"{str(folder / name)!r}" + (f", line {line}: " if line else "")
    with pytest.raises(DataError, match=re.escape(place)) as caught:
        load(folder, repeats="refuse")
    assert problem in str(caught.value)


WIDE = 10**6


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (
            b",".join(b"c%d" % number for number in range(WIDE)) + b"\n1\n",
            "line 1: 1,000,000 columns",
        ),
        pytest.param(
            RATINGS.encode() + b",".join([b"1"] * WIDE),
            "line 2: 1,000,000 columns",
            marks=pytest.mark.slow,
        ),
        (
            RATINGS.encode() + b"1,1,4,9\n" + b"," * WIDE,
            "line 3: 1000001 fields where 4",
        ),
        (b"x" * 100_000_000, "a line of more than 16,777,216 bytes"),
        pytest.param(
            RATINGS.encode() + b"1,1,4,9\n" * 10 + b"1," * 50_000_000,
            "a line of more than",
            marks=pytest.mark.slow,
        ),
        (RATINGS.encode() + b'1,1,4,"9\n' + b"1,1,4,9\n" * 10**6, "field limit"),
    ],
    ids=["columns", "first row", "row", "one line", "last line", "one quote"],
)
def test_a_file_that_is_far_too_wide_is_an_error(
    tmp_path: Path,
    content: bytes,
    problem: str,
) -> None:
    folder = files.write(tmp_path, {**files.MOVIELENS_CSV, "ratings.csv": content})
    code = f"""
import re
from pathlib import Path
from pytest_recsys_mt.datasets import load
from pytest_recsys_mt.safety.errors import DataError
try:
    load({str(folder)!r})
except DataError as error:
    # Of this program alone: what the kernel reports of processes includes what they were forked from.
    print(error, int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) // 1000)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
    )
    error, _, megabytes = done.stdout.rpartition(" ")
    assert problem in error
    assert len(error) < 500
    assert int(megabytes) < 700


@pytest.mark.parametrize(
    ("good", "name"),
    [
        (files.MOVIELENS_CSV, "movies.csv"),
        (files.MOVIELENS_100K, "u.user"),
        (files.MOVIELENS_1M, "ratings.dat"),
        (files.LASTFM, "artists.dat"),
    ],
)
def test_a_missing_file_is_named(
    tmp_path: Path,
    good: dict[str, str | bytes],
    name: str,
) -> None:
    folder = files.write(
        tmp_path,
        {key: text for key, text in good.items() if key != name},
    )
    with pytest.raises(DataError, match=f"lacks .*{re.escape(name)}$"):
        load(folder)


@pytest.mark.parametrize(
    ("good", "name"),
    [
        (files.MOVIELENS_CSV, "links.csv"),
        (files.MOVIELENS_CSV, "movies.csv"),
        (files.MOVIELENS_1M, "ratings.dat"),
        (files.LASTFM, "tags.dat"),
        ({"own.csv": RATINGS + "1,1,4,9\n"}, "own.item"),
        ({"own.csv": RATINGS + "1,1,4,9\n"}, "items.csv"),
    ],
)
def test_a_pipe_in_a_file_s_place_is_named_and_not_waited_for(
    tmp_path: Path,
    good: dict[str, str | bytes],
    name: str,
) -> None:
    folder = files.write(tmp_path, good)
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    with pytest.raises(
        DataError,
        match=re.escape(name) + r".*a pipe|pipe.*" + re.escape(name),
    ):
        load(folder / "own.csv" if "own.csv" in good else folder)


def test_a_cell_without_end_is_shortened_and_a_deep_line_named(tmp_path: Path) -> None:
    long = {
        **files.MOVIELENS_CSV,
        "ratings.csv": RATINGS + "1,1," + "9" * 5000 + ",9\n",
    }
    with pytest.raises(
        DataError,
        match=r"line 2: rating is '9{79}\.\.\.9+', not a",
    ) as caught:
        load(files.write(tmp_path, long))
    assert len(str(caught.value)) < 400
    deep = tmp_path / "recorded.jsonl"
    deep.write_text("\n" + '{"user": "1", "x": ' + "[" * 10**5)
    with pytest.raises(DataError, match=r"line 2: .* is not a record"):
        recordings.read(deep)


@pytest.mark.filterwarnings("error")
def test_a_number_that_does_not_fit_is_no_warning(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text("user,item,rating,timestamp\na,b,1,-99999999999999\nb,c,2,1e308\n")
    with pytest.raises(DataError, match="line 3: timestamp is '1e308', not a"):
        load(path)


def test_an_unknown_folder_lists_the_formats(tmp_path: Path) -> None:
    with pytest.raises(
        DataError,
        match=r"no known format.*MovieLens 100K \(u\.data, u\.item",
    ):
        load(tmp_path)


@pytest.mark.parametrize("header", ["user,item,rating\n", "user,item\n"])
def test_a_header_in_the_middle_is_no_row(tmp_path: Path, header: str) -> None:
    rows = "ann,h1,4\nann,h2,3\nbob,h1,5\nbob,h3,4\n"
    if "rating" not in header:
        rows = re.sub(r",\d\n", "\n", rows)
    path = tmp_path / "shop.csv"
    path.write_text(
        header + rows + header + rows.replace("bob", "eve"),
        encoding="utf-8",
    )
    with pytest.raises(
        DataError,
        match=r"shop\.csv', line 6: the header stands here again",
    ):
        load(str(path))


def test_an_item_may_be_called_as_its_column(tmp_path: Path) -> None:
    rows = "user,item,rating\nann,item,4\nuser,item,3\nuser,h1,5\n"
    (tmp_path / "shop.csv").write_text(rows, encoding="utf-8")
    (tmp_path / "shop.items.csv").write_text(
        "id,title\nid,Id\nitem,It\nh1,Heat\n",
        encoding="utf-8",
    )
    assert set(load(str(tmp_path / "shop.csv")).items) == {"id", "item", "h1"}
