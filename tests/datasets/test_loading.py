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
