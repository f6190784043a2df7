"""Nearest neighbours: of the history's items, and of its user."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from pytest_recsys_mt import specs
from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.recommenders.cosines import nearest
from pytest_recsys_mt.recommenders.ranking import Floats, keep_largest, settle
from pytest_recsys_mt.recommenders.scoring import ScoringRecommender, Weights
from pytest_recsys_mt.requests import Request


@dataclass(eq=False)
class _Neighbourhood(ScoringRecommender):
    """A number of neighbours, and weights; popularity and id, or the name, decide ties at the cut."""

    neighbours: int = 30
    weights: Weights = "ratings"

    def __post_init__(self) -> None:
        specs.check(self.key, *specs.at_least(1, self, "neighbours"))


@dataclass(eq=False)
class ItemKNN(_Neighbourhood):
    """Item-based nearest neighbours with cosine similarity.

    The score of item j is the sum over history items i of w_i s_ij, where s_ij is the cosine of the
    items' columns of training weights if j is among the `neighbours` nearest of i, else 0
    (Deshpande and Karypis, "Item-based top-N recommendation algorithms", ACM TOIS 22(1), 2004,
    section 4, without its optional normalisation).
    """

    key: ClassVar[str] = "itemknn"

    def learn(self, dataset: Dataset, seed: int) -> None:
        by_item = _unit_rows(self.catalogue.interactions(dataset, self.weights).T.tocsr())
        self._similarity = nearest(by_item, self.neighbours)

    def score(self, requests: Sequence[Request]) -> Floats:
        profiles = self.catalogue.profiles(requests, self.weights)
        return settle((profiles @ self._similarity).toarray())


@dataclass(eq=False)
class UserKNN(_Neighbourhood):
    """User-based nearest neighbours with cosine similarity.

    The score of item j is the sum of s_v w_vj over the `neighbours` training users v nearest to the
    request's profile, with s_v the cosine of both profiles (Herlocker et al., "An algorithmic
    framework for performing collaborative filtering", SIGIR 1999: best-n neighbours; summed, not
    averaged, because it ranks items instead of predicting ratings).

    Names are not used, so a user of the training data is a neighbour of their own request. That
    neighbour has only items of the user. It takes one of the places, and lifts items that the
    history does not show, unless the request lists them as `seen`.
    """

    key: ClassVar[str] = "userknn"

    def learn(self, dataset: Dataset, seed: int) -> None:
        self._profiles = self.catalogue.interactions(dataset, self.weights)
        self._directions = _unit_rows(self._profiles).T.tocsr()

    def score(self, requests: Sequence[Request]) -> Floats:
        cosines = _unit_rows(self.catalogue.profiles(requests, self.weights)) @ self._directions
        cosines.data = settle(cosines.data)
        return settle((keep_largest(cosines, self.neighbours) @ self._profiles).toarray())


def _unit_rows(matrix: csr_array[np.float64]) -> csr_array[np.float64]:
    """`matrix` with rows of length 1; its weights are positive, so a row of length 0 is empty."""
    sizes = np.diff(matrix.indptr)
    rows = np.repeat(np.arange(matrix.shape[0]), sizes)
    # bincount adds one by one, in the order of storage: rows do not affect each other's lengths.
    lengths = np.sqrt(np.bincount(rows, weights=matrix.data**2, minlength=matrix.shape[0]))
    parts: Any = (matrix.data / np.repeat(lengths, sizes), matrix.indices, matrix.indptr)
    return csr_array(parts, shape=matrix.shape)
