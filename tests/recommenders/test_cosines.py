"""Neighbours of items are those of the plain product of all columns, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from tests.support.datasets import load_mini
from tests.support.recommenders import (
    ItemKNN,
    Sparse,
    Weights,
    _unit_rows,
    keep_largest,
    knn,
    settle,
)


def plain(by_item: Sparse, k: int) -> Sparse:
    """One sparse product, without the items' own cosines, and its largest entries."""
    product = by_item @ by_item.T.tocsr()
    product.data = settle(product.data)
    rows = np.repeat(np.arange(product.shape[0]), np.diff(product.indptr))
    product.data[product.indices == rows] = 0.0
    product.eliminate_zeros()
    return keep_largest(product, k)


def assert_equal(one: Sparse, other: Sparse) -> None:
    assert one.shape == other.shape
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(one, part), getattr(other, part))


@pytest.mark.parametrize(
    "dense",
    [0.0, 0.3, 2.0],
    ids=["all dense", "some dense", "none dense"],
)
@given(
    seed=st.integers(0, 2**32 - 1),
    items=st.integers(1, 90),
    users=st.integers(1, 40),
    k=st.integers(1, 12),
    values=st.sampled_from([1, 5, 1000]),
)
def test_neighbours_are_those_of_the_plain_product(
    dense: float,
    seed: int,
    items: int,
    users: int,
    k: int,
    values: int,
) -> None:
    rng = np.random.default_rng(seed)
    shares = np.sort(rng.random(items) ** 2)[::-1]
    cells = (rng.random((items, users)) < shares[:, None]) * rng.integers(
        1,
        values + 1,
        (items, users),
    )
    cells = cells[np.argsort(-(cells > 0).sum(axis=1), kind="stable")]
    by_item = _unit_rows(csr_array(cells.astype(np.float64)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(knn, "DENSE", dense)
        patch.setattr(knn, "CHUNK", 7)
        assert_equal(knn.nearest(by_item, k), plain(by_item, k))


@pytest.mark.parametrize("cells", [knn.CELLS, 5000, 0])
@pytest.mark.parametrize("weights", ["ratings", "binary"])
def test_neighbours_of_the_embedded_data(
    monkeypatch: pytest.MonkeyPatch,
    weights: Weights,
    cells: int,
) -> None:
    monkeypatch.setattr(knn, "CELLS", cells)
    data = load_mini()
    model = ItemKNN(weights=weights)
    model.fit(data, 0)
    by_item = _unit_rows(model.catalogue.interactions(data, weights).T.tocsr())
    assert_equal(model._similarity, plain(by_item, model.neighbours))
