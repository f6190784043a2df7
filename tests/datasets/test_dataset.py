from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pytest_recsys_mt import DataError
from pytest_recsys_mt.datasets import Dataset
from pytest_recsys_mt.requests import Item, Scale

ITEMS = {key: Item(key, key.upper()) for key in ("1", "2", "10")}


def frame(*rows: tuple[object, object, float, int]) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=["user", "item", "rating", "timestamp"])


ROWS = (("b", "1", 4.0, 7), ("a", "2", 3.0, 9), ("a", "10", 5.0, 9), ("a", "1", 1.0, 2))


def test_interactions_are_sorted_by_user_time_and_item() -> None:
    dataset = Dataset("d", ITEMS, frame(*ROWS), Scale())
    assert list(dataset.interactions.itertuples(index=False, name=None)) == [
        ("a", "1", 1.0, 2),
        ("a", "10", 5.0, 9),
        ("a", "2", 3.0, 9),
        ("b", "1", 4.0, 7),
    ]


def test_ids_become_text_whatever_type_they_had() -> None:
    numbers = frame((2, 10, 3, 5), (10, 10, 3, 5), (2, 1, 3, 6))
    expected = Dataset("d", ITEMS, numbers.astype({"user": str, "item": str}), Scale())
    for kind in ("int32", "category", "object"):
        dataset = Dataset(
            "d",
            ITEMS,
            numbers.astype({"user": kind, "item": kind}),
            Scale(),
        )
        assert dataset.digest == expected.digest
        pd.testing.assert_frame_equal(dataset.interactions, expected.interactions)
    mixed = numbers.astype({"user": object})
    mixed.loc[0, "user"] = "2"
    assert Dataset("d", ITEMS, mixed, Scale()).digest == expected.digest


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        (
            [("a", "9", 3, 1)],
            "1 items have interactions but are not in the catalogue.*'9'",
        ),
        (
            [("a", "1", 6, 1)],
            "user 'a' rates item '1' with 6.0, outside the scale 1 to 5",
        ),
        ([("a", "1", np.nan, 1)], "with nan, outside the scale"),
        (
            [("a", "2", 3, 1), ("b", "2", 3, 1), ("a", "2", 4, 5)],
            "user 'a' rates item '2' twice",
        ),
        ([(None, "1", 3, 1)], "interactions without user"),
        ([], "has no interactions"),
    ],
)
def test_wrong_interactions_are_refused(
    rows: list[tuple[object, object, float, int]],
    problem: str,
) -> None:
    with pytest.raises(DataError, match=problem):
        Dataset("d", ITEMS, frame(*rows), Scale())


def test_missing_columns_are_named() -> None:
    with pytest.raises(DataError, match=r"lacks the columns \['rating'\]"):
        Dataset("d", ITEMS, frame(*ROWS).drop(columns="rating"), Scale())


def test_the_digest_tells_datasets_apart() -> None:
    base = Dataset("d", ITEMS, frame(*ROWS), Scale())
    assert (
        Dataset("other", ITEMS, frame(*reversed(ROWS)), Scale()).digest == base.digest
    )
    changed = [
        Dataset("d", ITEMS, frame(*ROWS), Scale(0, 5)),
        Dataset("d", ITEMS, frame(*ROWS[1:]), Scale()),
        Dataset("d", {**ITEMS, "3": Item("3")}, frame(*ROWS), Scale()),
        Dataset("d", {**ITEMS, "1": Item("1", "Z")}, frame(*ROWS), Scale()),
        Dataset("d", ITEMS, frame(("b", "1", 4.5, 7), *ROWS[1:]), Scale()),
        Dataset("d", ITEMS, frame(("b", "1", 4.0, 8), *ROWS[1:]), Scale()),
        Dataset("d", ITEMS, frame(("c", "1", 4.0, 7), *ROWS[1:]), Scale()),
    ]
    assert len({base.digest, *(dataset.digest for dataset in changed)}) == 8


def test_held_out_interactions_are_taken_out() -> None:
    dataset = Dataset("d", ITEMS, frame(*ROWS), Scale())
    rest = dataset.without({"a": ["10"], "b": ["2"]})
    assert [
        (user, item) for user, item, *_ in rest.interactions.itertuples(index=False)
    ] == [
        ("a", "1"),
        ("a", "2"),
        ("b", "1"),
    ]
    assert rest.popularity == {"1": 2, "2": 1, "10": 0}
