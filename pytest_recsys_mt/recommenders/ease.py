"""EASE: a linear model from items to items, in closed form."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import lapack

from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.recommenders.scoring import (
    Floats,
    ScoringRecommender,
    Weights,
    block_rows,
    settle,
)
from pytest_recsys_mt.requests import Request, specs
from pytest_recsys_mt.safety.errors import RecommenderError

LARGEST = 30_000
"""Most rows of the matrix that is inverted: it takes 7 GiB, and so does its inverse."""


@dataclass(eq=False)
class EASE(ScoringRecommender):
    """Embarrassingly shallow autoencoder (Steck, WWW 2019): items predict items, by
    ridge regression.

    The score of item j is sum_i w_i B_ij over the history. B minimises ||X - XB||^2 + l
    ||B||^2 with a diagonal of 0, where X holds the users' training weights and l is
    `regularisation`. With H = X'(XX' + l I)^-1 X, the solution is B_ij = H_ij / (1 -
    H_jj) for i other than j (Steck's equation 8, in which P = (I - H) / l). The smaller
    of XX' and X'X is inverted, and where that is XX', B itself is never made: so
    thousands of items are cheap if there are few users, and the other way round.

    Nothing is learned of a user, so any history is answered as that of a trained user.
    """

    key: ClassVar[str] = "ease"

    # Of the ridge, in squared units of the weights: above 0.
    regularisation: float = 200.0
    weights: Weights = "binary"  # as in the paper, or ``ratings``

    def __post_init__(self) -> None:
        finite = 0 < self.regularisation < math.inf
        specs.check(
            self.key,
            ("regularisation", self.regularisation, finite, "above 0 and finite"),
        )

    def learn(self, dataset: Dataset, seed: int) -> None:
        """Invert the smaller Gram matrix; raises `RecommenderError` if there are more
        than `LARGEST` users and as many items.
        """
        users = self.catalogue.interactions(dataset, self.weights)
        if min(users.shape) > LARGEST:
            raise RecommenderError(
                f"{self.name!r} inverts a matrix of users or of items, and {users.shape[0]} users and "
                f"{users.shape[1]} items are too many of both: at most {LARGEST}. Sample the users of the "
                f"training data, or take 'itemknn' or 'ials'",
            )
        items = users.T.tocsr()
        self._by_users = users.shape[0] < users.shape[1]
        if self._by_users:
            self._users, self._items = users, items
            self._inverse = _inverse((users @ items).toarray(), self.regularisation)
            self._leverage = np.empty(users.shape[1])
            size = block_rows(users.shape[0])
            for start in range(0, users.shape[1], size):
                part = items[start : start + size]
                self._leverage[start : start + size] = (
                    np.asarray(part @ self._inverse) * part.toarray()
                ).sum(1)
        else:
            smoother = -self.regularisation * _inverse(
                (items @ users).toarray(),
                self.regularisation,
            )
            # The diagonal of I - H; so the rest of the matrix is H already.
            rest = -smoother.diagonal()
            np.fill_diagonal(smoother, 0.0)
            smoother /= rest
            self._weights = smoother

    def score(self, requests: Sequence[Request]) -> Floats:
        profiles = self.catalogue.profiles(requests, self.weights)
        if not self._by_users:
            return settle(np.asarray(profiles @ self._weights))
        alike = np.asarray((profiles @ self._items) @ self._inverse)
        fitted: Floats = np.asarray(self._items @ alike.T).T
        # What the item itself adds to its own prediction goes: the diagonal of B is 0.
        fitted -= profiles.toarray() * self._leverage
        return settle(fitted / (1 - self._leverage))


def _inverse(gram: Floats, regularisation: float) -> Floats:
    gram[np.diag_indices_from(gram)] += regularisation
    factor, _ = lapack.dpotrf(gram, lower=1, overwrite_a=1)
    inverse, _ = lapack.dpotri(factor, lower=1, overwrite_c=1)
    whole: Floats = np.tril(inverse)
    whole += np.tril(inverse, -1).T
    return whole
