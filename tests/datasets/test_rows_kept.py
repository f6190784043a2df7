"""Rows are sorted and removed as a plain comparison of their cells would do it."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_recsys_mt import DataError
from pytest_recsys_mt.datasets import Dataset
from pytest_recsys_mt.requests import Item, Scale
from tests.support.datasets import COLUMNS

ITEMS = {name: Item(name) for name in ("10", "9", "a", "b", "ü")}
NAMES = st.sampled_from(sorted(ITEMS))
# With the last two the ranges do not fit 63 bits together, so that rows are sorted by
# three keys.
TIMES = (
    st.integers(0, 3)
    | st.integers(-(2**33), 2**33)
    | st.sampled_from([-(2**61), 2**61])
)
ROWS = st.dictionaries(
    st.tuples(st.sampled_from(["u2", "u10", "U", "v"]), NAMES),
    TIMES,
    min_size=1,
    max_size=20,
)


def dataset(rows: dict[tuple[str, str], int]) -> Dataset:
    cells = [(user, item, 3.0, time) for (user, item), time in rows.items()]
    return Dataset(
        "made",
        ITEMS,
        pd.DataFrame(cells, columns=pd.Index(COLUMNS)),
        Scale(),
    )


def cells(data: Dataset) -> list[tuple[object, ...]]:
    return list(data.interactions.itertuples(index=False, name=None))


@given(ROWS)
def test_rows_are_sorted_by_user_time_and_item(
    rows: dict[tuple[str, str], int],
) -> None:
    wanted = sorted((user, time, item) for (user, item), time in rows.items())
    assert [
        (user, time, item) for user, item, _, time in cells(dataset(rows))
    ] == wanted


@given(
    ROWS,
    st.dictionaries(
        st.sampled_from(["u2", "u10", "nobody"]),
        st.sets(NAMES | st.just("?")),
    ),
)
def test_held_out_rows_leave_a_dataset_like_a_checked_one(
    rows: dict[tuple[str, str], int],
    held_out: dict[str, set[str]],
) -> None:
    whole = dataset(rows)
    assert whole.popularity  # kept by the whole, and not that of a part
    left = {
        key: time
        for key, time in rows.items()
        if key[1] not in held_out.get(key[0], ())
    }
    if not left:
        with pytest.raises(DataError, match="no interactions"):
            whole.without(held_out)
        return
    part, wanted = whole.without(held_out), dataset(left)
    pd.testing.assert_frame_equal(part.interactions, wanted.interactions)
    assert part.popularity == wanted.popularity
    assert part.digest == wanted.digest
    assert not part.as_is


def test_what_is_left_of_unchecked_data_is_checked() -> None:
    whole = dataset({("v", "a"): 1, ("v", "b"): 2})
    twice = pd.concat([whole.interactions, whole.interactions[:1]])
    with pytest.raises(DataError, match="twice"):
        whole.replace(interactions=twice, as_is=True).without({"v": {"b"}})
    assert cells(whole.without({})) == cells(whole)
