"""Models of irspack: pip install irspack."""

from dataclasses import dataclass
from typing import Literal

from irspack import (
    CosineKNNRecommender,
    DenseSLIMRecommender,
    IALSRecommender,
    P3alphaRecommender,
    RP3betaRecommender,
)
from scipy.sparse import csr_matrix

from pytest_recsys_mt.recommenders.adapters import Adapter


@dataclass(eq=False)
class Ials(Adapter):
    """Implicit ALS; a new user is solved for from the request's history."""

    deterministic = True
    factors: int = 32
    # Weight of what was not chosen; with the library's 0 it ranks badly.
    alpha0: float = 0.1

    def learn(self, dataset, seed):
        ratings = csr_matrix(self.catalogue.interactions(dataset, "ratings"))
        self.model = IALSRecommender(
            ratings,
            n_components=self.factors,
            alpha0=self.alpha0,
            random_seed=seed % 2**31,
            n_threads=1,
        ).learn()

    def score(self, requests):
        return cold(self, requests)


@dataclass(eq=False)
class Linear(Adapter):
    """A model that multiplies a history by a table of items: walks, neighbours, SLIM."""

    deterministic = True
    kind: Literal["p3alpha", "rp3beta", "slim", "cosine"] = "rp3beta"

    def learn(self, dataset, seed):
        kinds = {
            "p3alpha": P3alphaRecommender,
            "rp3beta": RP3betaRecommender,
            "slim": DenseSLIMRecommender,
            "cosine": CosineKNNRecommender,
        }
        ratings = csr_matrix(self.catalogue.interactions(dataset, "ratings"))
        self.model = kinds[self.kind](ratings).learn()

    def score(self, requests):
        return cold(self, requests)


def cold(adapter, requests):
    """Scores for users that training did not see."""
    profiles = csr_matrix(adapter.profiles(requests))
    return adapter.model.get_score_cold_user(profiles)
