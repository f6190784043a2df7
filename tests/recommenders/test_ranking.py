from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.sparse import csr_array

from pytest_recsys_mt.recommenders.ranking import keep_largest, largest

BLOCKS = arrays(
    np.float64,
    array_shapes(min_dims=2, max_dims=2, max_side=7),
    elements=st.sampled_from([-np.inf, -1.0, 0.0, 0.25, 0.5]),
)


@given(BLOCKS, st.integers(1, 9))
def test_largest_sorts_by_value_then_column(scores, k):
    expected = [
        (row, column, value)
        for row, values in enumerate(scores.tolist())
        for value, column in sorted(
            ((v, c) for c, v in enumerate(values)), key=lambda x: (-x[0], x[1])
        )[:k]
        if value > -np.inf
    ]
    assert list(zip(*map(np.ndarray.tolist, largest(scores, k)), strict=True)) == expected


@given(BLOCKS, st.integers(1, 9), st.randoms(use_true_random=False))
def test_keep_largest_keeps_the_first_of_ties_however_entries_are_stored(scores, k, random):
    rows, columns = np.nonzero(np.isfinite(scores))
    order = list(range(len(rows)))
    random.shuffle(order)
    order.sort(key=lambda entry: rows[entry])
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(scores)))])
    matrix = csr_array((scores[rows, columns][order], columns[order], starts), shape=scores.shape)
    kept = keep_largest(matrix, k)
    expected = [
        (row, column, scores[row, column])
        for row in range(len(scores))
        for column in sorted(
            sorted(columns[rows == row], key=lambda c, r=row: (-scores[r, c], c))[:k]
        )
    ]
    stored = np.repeat(np.arange(len(scores)), np.diff(kept.indptr))
    assert list(zip(stored, kept.indices, kept.data, strict=True)) == expected
