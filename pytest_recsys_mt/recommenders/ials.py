"""iALS: matrix factorisation of all cells by alternating least squares."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg.lapack import dposv

from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.recommenders.scoring import (
    Floats,
    ScoringRecommender,
    Sparse,
    Weights,
    settle,
)
from pytest_recsys_mt.requests import Request, specs

STEPS = 2  # of conjugate gradients; more, or exact solutions, rank no better after 15 rounds

BLOCK = 2048  # interactions whose vectors are in memory at once

TINY = 1e-300  # divides in place of 0, where a system is solved already


@dataclass(eq=False)
class IALS(ScoringRecommender):
    """Matrix factorisation by implicit alternating least squares (Hu, Koren and
    Volinsky, ICDM 2008).

    The score of item j is u'q_j. All vectors together minimise

        sum over users and items of c (p - u'q)^2, plus `regularisation` times their
        squared lengths,

    where a cell with an interaction of weight w has p = 1 and c = 1 + `alpha` w, and
    any other one p = 0 and c = 1. With the items fixed, each user's vector is the
    solution of a linear system, and so in turn. A round takes two steps of conjugate
    gradients towards each (Takács, Pilászy and Tikk, RecSys 2011); then the items are
    solved exactly, and so is the system of the history that an answer is for.
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
        vectors = rng.normal(0, 0.1 / math.sqrt(self.dim), (items.shape[0], self.dim))
        theirs = np.zeros((users.shape[0], self.dim))
        for number in range(self.iterations):
            vectors = self._nearer(items, theirs, vectors) if number else vectors
            theirs = self._nearer(users, vectors, theirs)
        self._vectors = self._solved(items, theirs)

    def score(self, requests: Sequence[Request]) -> Floats:
        found = self._solved(
            self.catalogue.profiles(requests, self.weights),
            self._vectors,
        )
        # One by one: a product of matrices may add in another order for another batch.
        return settle(np.array([self._vectors @ vector for vector in found]))

    def _nearer(self, rows: Sparse, others: Floats, vectors: Floats) -> Floats:
        """`vectors` of the rows, each brought nearer to the solution of its system."""
        everything = others.T @ others + self.regularisation * np.eye(self.dim)
        counts, trusts = np.diff(rows.indptr), self.alpha * rows.data
        order, nearer = np.argsort(counts, kind="stable"), vectors.copy()
        # Rows of about one length, so that the vectors of a block stay in the
        # processor's cache.
        cuts = np.flatnonzero(np.diff(np.cumsum(counts[order]) // BLOCK)) + 1
        for block in np.split(order, cuts):
            at = rows.indptr[block][:, None] + np.arange(int(counts[block[-1]]))
            real = at < rows.indptr[block + 1][:, None]
            at *= real
            chosen, trust = others.take(rows.indices[at], axis=0), trusts[at] * real

            def times(
                x: Floats,
                chosen: Floats = chosen,
                trust: Floats = trust,
            ) -> Floats:
                seen = (chosen @ x[..., None])[..., 0]
                return x @ everything + ((trust * seen)[:, None] @ chosen)[:, 0]

            x = nearer[block]
            rest = ((trust + real)[:, None] @ chosen)[:, 0] - times(x)
            direction, length = rest, (rest**2).sum(1, keepdims=True)
            for _ in range(STEPS):
                turned = times(direction)
                step = length / np.maximum(
                    (direction * turned).sum(1, keepdims=True),
                    TINY,
                )
                x, rest = x + step * direction, rest - step * turned
                before, length = length, (rest**2).sum(1, keepdims=True)
                direction = rest + length / np.maximum(before, TINY) * direction
            nearer[block] = x
        return nearer

    def _solved(self, rows: Sparse, others: Floats) -> Floats:
        everything = others.T @ others + self.regularisation * np.eye(self.dim)
        solved = np.zeros((rows.shape[0], self.dim))
        for row in range(rows.shape[0]):
            part = slice(rows.indptr[row], rows.indptr[row + 1])
            chosen, trust = others[rows.indices[part]], self.alpha * rows.data[part]
            aim = (1 + trust) @ chosen
            chosen *= np.sqrt(trust)[
                :,
                None,
            ]  # a product with itself costs half of another one
            solved[row] = dposv(chosen.T @ chosen + everything, aim)[1]
        return solved
