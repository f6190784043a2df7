from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pytest_recsys_mt import DataError
from pytest_recsys_mt.datasets import load
from tests.datasets import files
from tests.support.datasets import NAMES


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("ml-lm", "ml-1m"),
        ("ML-100K", "ml-100k"),
        ("last-fm", "lastfm"),
        ("minni", "mini"),
    ],
)
def test_an_unknown_name_lists_the_names_and_the_nearest(
    name: str,
    nearest: str,
) -> None:
    with pytest.raises(DataError, match=f"Did you mean '{nearest}'") as caught:
        load(name)
    assert ", ".join(NAMES) in str(caught.value)
    assert "path" in str(caught.value)


@pytest.mark.parametrize("name", ["mind", "movietweetings"])
def test_sets_without_a_loader_are_unknown(name: str) -> None:
    assert name not in NAMES
    with pytest.raises(DataError, match=f"no dataset {name!r}"):
        load(name)


@pytest.mark.parametrize("source", ["data/shop.csv", "shop.csv", Path("ml-1m")])
def test_a_path_that_is_not_there_is_said_to_be_one(source: str | Path) -> None:
    with pytest.raises(DataError, match="no file or folder"):
        load(source)


def test_a_name_wins_over_a_folder_and_dot_slash_over_the_name(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files.write(tmp_path / "here" / "ml-1m", files.MOVIELENS_CSV)
    files.write(tmp_path / "cache" / "ml-1m", files.MOVIELENS_1M)
    monkeypatch.chdir(tmp_path / "here")
    assert "1193" in load("ml-1m", cache_dir=tmp_path / "cache").items
    assert "1193" not in load("./ml-1m", cache_dir=tmp_path / "cache").items


def test_the_names_cost_no_pandas() -> None:
    code = "import sys, pytest_recsys_mt.datasets as d; print(d.NAMES); assert 'pandas' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ("test=", "test= has no value"),
        ("split=", "split= has no value"),
        ("keep=", "keep= has no value"),
        ("unrated=", "unrated= has no value"),
        ("bad_rows=%20", "bad_rows= has no value"),
        ("keep=,", "keep=',': it names no condition"),
        ("test=none", "test='none' is no file"),
        ("user=none", "no column 'none', which is to be the user, among"),
        ("unrated=none", "unrated='none' is not a number"),
        ("each=events", "each='events' is for JSON lines"),
        ("split=latest&test=late.csv", "leave one of them out"),
        ("split=sessions&session=nope", "no column 'nope', which is to be the session"),
        (
            "splt=latest",
            "unknown parameter 'splt'; valid ones: 'user', .*'test', 'split', 'bad_rows'; did you mean 'split'?",
        ),
    ],
)
def test_an_option_behind_a_path_is_never_ignored(
    tmp_path: Path,
    options: str,
    error: str,
) -> None:
    table = tmp_path / "log.csv"
    table.write_text("user,item,rating\nu,a,1\nu,b,2\n", encoding="utf-8")
    (tmp_path / "late.csv").write_text("user,item,rating\nu,c,1\n", encoding="utf-8")
    with pytest.raises(DataError, match=error):
        load(f"{table}?{options}")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ("split=", "split= has no value"),
        ("splt=time:0.8", "behind a name such as 'mini' may stand one option alone"),
        ("split=time:0.8&keep=all", "one option alone, split="),
    ],
)
def test_behind_a_name_a_split_alone_may_stand(options: str, error: str) -> None:
    with pytest.raises(DataError, match=error):
        load(f"mini?{options}")


def test_a_plus_behind_a_path_is_a_plus(tmp_path: Path) -> None:
    table = tmp_path / "log.csv"
    rows = ["user id,item,event", "u,a,buy+gift", "u,b,view", "v,b,buy+gift"]
    table.write_text("\n".join(rows) + "\n", encoding="utf-8")
    found = load(f"{table}?keep=event:buy+gift&user=user%20id")
    assert [*found.interactions["item"]] == ["a", "b"]


def test_rows_without_a_rating_go_before_ratings_are_compared(tmp_path: Path) -> None:
    table = tmp_path / "log.csv"
    rows = ["user,item,rating", "u,a,5", "u,b,", "u,c,1", "v,a,3", "v,b,nan"]
    table.write_text("\n".join(rows) + "\n", encoding="utf-8")
    notes: list[str] = []
    found = load(f"{table}?unrated=nan&keep=rating>=2", told=notes.append)
    assert [*found.interactions["rating"]] == [5, 3]
    assert notes[0] == "2 rows without a rating (missing) are left out"
    assert notes[1].startswith("1 of 3 rows is left out by keep")


def test_a_folder_whose_catalogue_has_a_known_name_is_read_by_its_table(
    tmp_path: Path,
) -> None:
    files.write(
        tmp_path,
        {
            "sales.csv": "user,item\na,x\nb,y\n",
            "movies.csv": "id,title\nx,Heat\ny,Alien\n",
        },
    )
    assert load(tmp_path).items["x"].title == "Heat"
    (tmp_path / "sales.csv").unlink()
    with pytest.raises(DataError, match=r"MovieLens as CSV, but lacks ratings\.csv"):
        load(tmp_path)
