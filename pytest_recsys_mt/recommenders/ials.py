"""iALS: matrix factorisation of all cells by alternating least squares."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg.lapack import dposv
from scipy.sparse import csr_array

from pytest_recsys_mt import specs
from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.recommenders.ranking import Floats, settle
from pytest_recsys_mt.recommenders.scoring import ScoringRecommender, Weights
from pytest_recsys_mt.requests import Request


@dataclass(eq=False)
class IALS(ScoringRecommender):
    """Matrix factorisation by implicit alternating least squares (Hu, Koren and Volinsky, ICDM 2008).

    The score of item j is u'q_j. All vectors together minimise

        sum over users and items of c (p - u'q)^2, plus `regularisation` times their squared lengths,

    where a cell with an interaction of weight w has p = 1 and c = 1 + `alpha` w, and any other one
    p = 0 and c = 1. With the items fixed, each user's vector is the solution of a linear system, and
    so in turn; the items are solved last. An answer solves the same system for its history, so a
    history of the training data gets exactly the vector of its user.
    """

    key: ClassVar[str] = "ials"

    dim: int = 64  # size of the vectors
    iterations: int = 15  # rounds over all users and all items
    alpha: float = 2.0  # additional weight of a cell with an interaction, 0 or more
    regularisation: float = 20.0  # weight of the squared lengths, above 0
    weights: Weights = "binary"  # or ``ratings`` to trust high ratings more

    def __post_init__(self) -> None:
        finite = 0 < self.regularisation < math.inf
        specs.check(
            self.key,
            *specs.at_least(1, self, "dim", "iterations"),
            *specs.at_least(0, self, "alpha"),
            ("regularisation", self.regularisation, finite, "above 0 and finite"),
        )

    def learn(self, dataset: Dataset, seed: int) -> None:
        users = self.catalogue.interactions(dataset, self.weights)
        items = users.T.tocsr()
        rng = np.random.default_rng(seed % 2**64)
        self._vectors = rng.normal(0, 0.1 / math.sqrt(self.dim), (items.shape[0], self.dim))
        for _ in range(self.iterations):
            self._vectors = self._solved(items, self._solved(users, self._vectors))

    def score(self, requests: Sequence[Request]) -> Floats:
        found = self._solved(self.catalogue.profiles(requests, self.weights), self._vectors)
        # One by one: a product of matrices may add in another order for another batch.
        return settle(np.array([self._vectors @ vector for vector in found]))

    def _solved(self, rows: csr_array[np.float64], others: Floats) -> Floats:
        everything = others.T @ others + self.regularisation * np.eye(self.dim)
        solved = np.zeros((rows.shape[0], self.dim))
        for row in range(rows.shape[0]):
            part = slice(rows.indptr[row], rows.indptr[row + 1])
            chosen, trust = others[rows.indices[part]], self.alpha * rows.data[part]
            aim = (1 + trust) @ chosen
            chosen *= np.sqrt(trust)[:, None]  # a product with itself costs half of another one
            solved[row] = dposv(chosen.T @ chosen + everything, aim)[1]
        return solved
