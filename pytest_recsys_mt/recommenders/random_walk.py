"""RP3beta: random walks from the history's items over users to other items."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array, vstack

from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.recommenders.scoring import (
    Floats,
    ScoringRecommender,
    Sparse,
    Weights,
    block_rows,
    keep_largest,
    settle,
)
from pytest_recsys_mt.requests import Request, specs


@dataclass(eq=False)
class RP3Beta(ScoringRecommender):
    """Random walks of three steps, with popular items held back (Paudel et al., ACM
    TiiS 7(1), 2016).

    A walk goes from an item of the history to one of its users, and on to one of their
    items; each step follows an interaction with a probability in proportion to its
    weight. The score of item j is the sum over history items i of w_i S_ij, where S_ij
    is the probability that a walk from i ends at j, divided by j's popularity to the
    power of `beta`. Both probabilities of a walk are taken to the power of `alpha`
    (Cooper et al., "Random walks in recommender systems", WWW 2014). S keeps the
    `neighbours` largest of each i, and nothing leads from i to itself.
    """

    key: ClassVar[str] = "rp3beta"

    neighbours: int = 100  # kept for each item; popularity and id decide ties
    alpha: float = 0.8  # power of the probabilities of steps, above 0
    # Power of popularity: 0 recommends what is popular, 1 what is rare.
    beta: float = 0.5
    weights: Weights = "binary"

    def __post_init__(self) -> None:
        specs.check(
            self.key,
            *specs.at_least(1, self, "neighbours"),
            ("alpha", self.alpha, 0 < self.alpha < np.inf, "above 0 and finite"),
            *specs.at_least(0, self, "beta"),
        )

    def learn(self, dataset: Dataset, seed: int) -> None:
        users = self.catalogue.interactions(dataset, self.weights)
        items = users.T.tocsr()
        weighed = np.bincount(
            users.indices,
            weights=users.data,
            minlength=items.shape[0],
        )
        onward = _steps(users, self.alpha)
        # Relative to the most popular item and to a walk that ends anywhere alike, so
        # that large data do not make every score too small to differ from 0. The order
        # is the same.
        relative = weighed[onward.indices] / max(weighed.max(initial=0.0), 1.0)
        onward.data *= items.shape[0] / relative**self.beta
        away = _steps(items, self.alpha)
        size = block_rows(items.shape[0])
        kept = []
        for start in range(0, items.shape[0], size):
            ends = away[start : start + size] @ onward
            rows = np.repeat(np.arange(ends.shape[0]), np.diff(ends.indptr)) + start
            ends.data = np.where(ends.indices == rows, 0.0, settle(ends.data))
            ends.eliminate_zeros()
            kept.append(keep_largest(ends, self.neighbours))
        self._walks: Sparse = vstack(kept, format="csr")

    def score(self, requests: Sequence[Request]) -> Floats:
        profiles = self.catalogue.profiles(requests, self.weights)
        return settle((profiles @ self._walks).toarray())


def _steps(rows: Sparse, power: float) -> Sparse:
    owners = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    totals = np.bincount(owners, weights=rows.data, minlength=rows.shape[0])
    parts: Any = ((rows.data / totals[owners]) ** power, rows.indices, rows.indptr)
    return csr_array(parts, shape=rows.shape)
