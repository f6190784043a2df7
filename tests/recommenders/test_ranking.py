from __future__ import annotations

from itertools import accumulate, pairwise
from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.sparse import csr_array

from tests.support.recommenders import Floats, keep_largest, largest

BLOCKS = arrays(
    np.float64,
    array_shapes(min_dims=2, max_dims=2, max_side=7),
    elements=st.sampled_from([-np.inf, -1.0, 0.0, 0.25, 0.5]),
)


def best(values: list[float], k: int) -> list[tuple[int, float]]:
    """Columns and values of the k largest finite values."""
    order = sorted(range(len(values)), key=lambda column: (-values[column], column))
    return [
        (column, values[column]) for column in order[:k] if values[column] > -np.inf
    ]


@given(BLOCKS, st.integers(1, 9))
def test_largest_sorts_by_value_then_column(scores: Floats, k: int) -> None:
    rows, columns, values = largest(scores, k)
    found = list(zip(rows.tolist(), columns.tolist(), values.tolist(), strict=True))
    expected = [
        (row, *entry)
        for row, line in enumerate(scores.tolist())
        for entry in best(line, k)
    ]
    assert found == expected


@given(BLOCKS, st.integers(1, 9), st.randoms(use_true_random=False))
def test_keep_largest_keeps_the_first_of_ties_however_entries_are_stored(
    scores: Floats,
    k: int,
    random: Random,
) -> None:
    stored = [list(enumerate(line)) for line in scores.tolist()]
    stored = [[entry for entry in line if entry[1] > -np.inf] for line in stored]
    for line in stored:
        random.shuffle(line)
    starts = [0, *accumulate(map(len, stored))]
    columns = [column for line in stored for column, _ in line]
    data = np.array([value for line in stored for _, value in line], dtype=np.float64)
    kept = keep_largest(csr_array((data, columns, starts), shape=scores.shape), k)
    bounds = pairwise(kept.indptr.tolist())
    entries = list(zip(kept.indices.tolist(), kept.data.tolist(), strict=True))
    assert [entries[low:high] for low, high in bounds] == [
        sorted(best(line, k)) for line in scores.tolist()
    ]
