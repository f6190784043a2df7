"""Small folders in the official format of MIND."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_recsys_mt import DataError
from pytest_recsys_mt.datasets import Dataset, load
from pytest_recsys_mt.requests import Scale
from tests.datasets import files

NEWS = files.MIND["news.tsv"]
CLICK = "1\tU1\t11/15/2019 8:55:22 AM\tN1\tN2-1 N4-0\n"


@pytest.fixture(autouse=True)
def short_impressions_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_recsys_mt.datasets.mind.LEAST", 2)


@pytest.fixture
def mind(tmp_path: Path) -> Dataset:
    return load(files.write(tmp_path / "MINDsmall_train", files.MIND))


def with_behaviors(folder: Path, text: str) -> Dataset:
    return load(files.write(folder, {"news.tsv": NEWS, "behaviors.tsv": text}))


def test_news_are_items_with_categories_and_abstract(mind: Dataset) -> None:
    assert mind.name == "MINDsmall_train"
    assert {key: item.label for key, item in mind.items.items()} == {
        "N1": 'The "best" QB',
        "N2": "Léon votes",
        "N3": "Sleep",
        "N4": "Nobody reads this",
    }
    assert mind.items["N1"].attributes == {
        "categories": ("sports", "football_nfl"),
        "abstract": "A 'short' abstract",
    }
    assert mind.items["N2"].attributes == {"categories": ("news", "newsus")}
    assert mind.items["N3"].attributes == {
        "categories": ("health",),
        "abstract": "More of it",
    }


def test_clicks_are_interactions_and_older_ones_keep_their_order(mind: Dataset) -> None:
    assert mind.scale == Scale(0, 1)
    assert list(mind.interactions.itertuples(index=False, name=None)) == [
        ("U1", "N3", 1.0, 1573430401),
        ("U2", "N3", 1.0, 0),
        # Clicked before, and again in an impression.
        ("U2", "N1", 1.0, 1573736758),
        ("U2", "N2", 1.0, 1573808122),
    ]


def test_candidates_are_what_the_impression_of_the_latest_click_showed(
    mind: Dataset,
) -> None:
    item = mind.items
    assert mind.offered == {
        "U1": (item["N1"], item["N3"], item["N4"]),
        "U2": (item["N2"], item["N4"]),
    }


def test_all_histories_may_be_empty(tmp_path: Path) -> None:
    dataset = with_behaviors(tmp_path, CLICK.replace("\tN1\t", "\t\t"))
    assert dataset.interactions["item"].tolist() == ["N2"]


WRONG = [
    (CLICK + "2\tU1\t11/15/2019 8:55:22 AM\tN1\n", 2, "4 fields where 5"),
    (CLICK + "x\tU1\t11/15/2019 8:55:22 AM\tN1\tN2-1\n", 2, "impression is 'x'"),
    (CLICK + "2\t\t11/15/2019 8:55:22 AM\tN1\tN2-1\n", 2, "user is ''"),
    (
        CLICK + "\n2\tU1\t15/11/2019 8:55:22 AM\tN1\tN2-1\n",
        3,
        "time is '15/11/2019 8:55:22 AM'",
    ),
    (
        CLICK + "2\tU1\t11/15/2019 13:55:22 PM\tN1\tN2-1\n",
        2,
        "time is '11/15/2019 13:55:22 PM'",
    ),
    (
        CLICK + CLICK + "2\tU1\t11/15/2019 8:55:22 AM\tN1 N9\tN2-1\n",
        3,
        "history names 'N9'",
    ),
    (
        CLICK + "2\tU1\t11/15/2019 8:55:22 AM\tN1\tN2-1 N9-0\n",
        2,
        "impressions name 'N9'",
    ),
    (CLICK + "2\tU1\t11/15/2019 8:55:22 AM\tN1\tN2-1 N4\n", 2, "'N4' has no label"),
    (CLICK + "2\tU1\t11/15/2019 8:55:22 AM\tN1\tN2-2\n", 2, "'N2-2' is not a news id"),
    (
        CLICK + "2\tU1\t11/15/2019 8:55:22 AM\tN1\tN2,N4\n",
        2,
        "'N2,N4' is not a news id",
    ),
    (CLICK + "2\tU1\t11/15/2019 8:55:22 AM\tN1\t\n", 2, "shows nothing"),
]


@pytest.mark.parametrize(("text", "line", "problem"), WRONG)
def test_a_wrong_impression_is_named_with_its_line(
    tmp_path: Path,
    text: str,
    line: int,
    problem: str,
) -> None:
    with pytest.raises(DataError) as caught:
        with_behaviors(tmp_path, text)
    assert f"behaviors.tsv', line {line}: " in str(caught.value)
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("N1\ta\tb\tT\t\tu\t[]\n", 1, "7 fields where 8"),
        ("N1\ta\tb\tT\t\tu\t[]\t[]\nN1\ta\tb\tT\t\tu\t[]\t[]\n", 2, "at line 1"),
        ("\ta\tb\tT\t\tu\t[]\t[]\n", 1, "item is ''"),
    ],
)
def test_a_wrong_news_item_is_named_with_its_line(
    tmp_path: Path,
    text: str,
    line: int,
    problem: str,
) -> None:
    with pytest.raises(DataError) as caught:
        load(files.write(tmp_path, {**files.MIND, "news.tsv": text}))
    assert f"news.tsv', line {line}: " in str(caught.value)
    assert problem in str(caught.value)


def test_impressions_without_any_click_are_no_dataset(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has a click"):
        with_behaviors(tmp_path, "1\tU1\t11/15/2019 8:55:22 AM\t\tN2-0\n")


def test_a_folder_with_half_the_files_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"looks like MIND, but lacks behaviors\.tsv"):
        load(files.write(tmp_path, {"news.tsv": NEWS}))


DEV: dict[str, str | bytes] = {
    "news.tsv": "N5\tsports\tgolf\tA new one\t\tu\t[]\t[]\nN1\tx\ty\tRenamed\t\tu\t[]\t[]\n",
    "behaviors.tsv": (
        "1\tU2\t11/16/2019 8:00:00 AM\tN3 N1 N2\tN5-1 N1-0\n2\tU3\t11/16/2019 9:00:00 AM\t\tN1-0 N5-1\n"
    ),
}


def both(folder: Path, size: str = "small") -> Dataset:
    files.write(folder / f"MIND{size}_train", files.MIND)
    files.write(folder / f"MIND{size}_dev", DEV)
    return load(folder)


@pytest.mark.parametrize("size", ["small", "large"])
def test_a_folder_with_training_and_validation_set_is_one_dataset(
    tmp_path: Path,
    size: str,
    mind: Dataset,
) -> None:
    dataset = both(tmp_path / "mind", size)
    assert dataset.name == "mind"
    assert set(dataset.items) == {*mind.items, "N5"}
    assert dataset.items["N1"] == mind.items["N1"]
    item = dataset.items
    assert dataset.offered["U2"] == (item["N5"], item["N1"])
    assert dataset.offered["U3"] == (item["N1"], item["N5"])
    clicks = list(
        dataset.interactions[["user", "item"]].itertuples(index=False, name=None),
    )
    # The history of the second part has no times: what the first dated keeps its time.
    assert clicks == [
        ("U1", "N3"),
        ("U2", "N3"),
        ("U2", "N1"),
        ("U2", "N2"),
        ("U2", "N5"),
        ("U3", "N5"),
    ]


def test_a_line_of_the_second_part_is_named_with_its_file(tmp_path: Path) -> None:
    files.write(tmp_path / "MINDsmall_train", files.MIND)
    files.write(
        tmp_path / "MINDsmall_dev",
        {**DEV, "behaviors.tsv": CLICK.replace("N4", "N9")},
    )
    with pytest.raises(
        DataError,
        match=r"MINDsmall_dev.behaviors\.tsv', line 1: .*'N9'",
    ):
        load(tmp_path)


def test_a_folder_with_one_part_is_told_which_file_is_missing(tmp_path: Path) -> None:
    files.write(tmp_path / "MINDsmall_train", files.MIND)
    with pytest.raises(DataError, match=r"lacks MINDsmall_dev/news\.tsv"):
        load(tmp_path)
