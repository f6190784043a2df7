"""Models of implicit: pip install implicit."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from implicit.als import AlternatingLeastSquares
from implicit.bpr import BayesianPersonalizedRanking
from implicit.nearest_neighbours import BM25Recommender, CosineRecommender
from scipy.sparse import csr_matrix

from pytest_recsys_mt.recommenders.adapters import Adapter, StoredUsers


@dataclass(eq=False)
class Als(Adapter):
    """Factorisation by alternating least squares; the factors of a user are computed
    from the request's history.
    """

    deterministic = True
    factors: int = 64
    alpha: float = 1.0
    iterations: int = 15

    def learn(self, dataset, seed):
        self.model = AlternatingLeastSquares(
            self.factors,
            alpha=self.alpha,
            iterations=self.iterations,
            random_state=seed,
            num_threads=1,
        )
        ratings = self.catalogue.interactions(dataset, "ratings")
        self.model.fit(csr_matrix(ratings), show_progress=False)

    def score(self, requests):
        return scores(self.model, self.profiles(requests))


@dataclass(eq=False)
class Knn(Adapter):
    """Item neighbours, by cosine or BM25."""

    deterministic = True
    neighbours: int = 20
    weighting: Literal["cosine", "bm25"] = "cosine"

    def learn(self, dataset, seed):
        kind = {"cosine": CosineRecommender, "bm25": BM25Recommender}[self.weighting]
        self.model = kind(K=self.neighbours, num_threads=1)
        ratings = self.catalogue.interactions(dataset, "ratings")
        self.model.fit(csr_matrix(ratings), show_progress=False)

    def score(self, requests):
        return scores(self.model, self.profiles(requests))


@dataclass(eq=False)
class Bpr(StoredUsers):
    """Bayesian personalised ranking, for the users that it was fitted to."""

    deterministic = True
    factors: int = 64

    def learn(self, dataset, seed):
        self.users = {
            user: row
            for row, user in enumerate(sorted(set(dataset.interactions["user"])))
        }
        self.model = BayesianPersonalizedRanking(
            self.factors,
            random_state=seed,
            num_threads=1,
        )
        chosen = self.catalogue.interactions(dataset, "binary")
        self.model.fit(csr_matrix(chosen), show_progress=False)

    def score(self, requests):
        rows = [self.users[request.user] for request in requests]
        return self.model.user_factors[rows] @ self.model.item_factors.T


def scores(model, profiles):
    """The library's own ranking of all items, as a table of scores."""
    profiles = csr_matrix(profiles, dtype=np.float32)
    ids, values = model.recommend(
        np.arange(profiles.shape[0]),
        profiles,
        N=profiles.shape[1],
        filter_already_liked_items=False,
        recalculate_user=True,
    )
    table = np.full(profiles.shape, -np.inf)
    rows, places = np.nonzero(ids >= 0)
    table[rows, ids[rows, places]] = values[rows, places]
    return table
