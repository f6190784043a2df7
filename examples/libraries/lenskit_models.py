"""Models of LensKit: pip install lenskit."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from lenskit import score
from lenskit.als import BiasedMFScorer, ImplicitMFScorer
from lenskit.data import ItemList, RecQuery, from_interactions_df
from lenskit.knn import EASEScorer, ItemKNNScorer, UserKNNScorer
from lenskit.pipeline import topn_pipeline
from lenskit.training import TrainingOptions

from pytest_recsys_mt.recommenders.adapters import Adapter

KINDS = {
    "itemknn": lambda: ItemKNNScorer(max_nbrs=20),
    "userknn": lambda: UserKNNScorer(max_nbrs=20),
    "ease": EASEScorer,
    "als": lambda: ImplicitMFScorer(embedding_size=32),
    "biased-mf": lambda: BiasedMFScorer(embedding_size=32),
}


@dataclass(eq=False)
class LensKit(Adapter):
    """A scorer in a pipeline, asked by the items of a history and not by a user's id."""

    deterministic = True
    kind: Literal["itemknn", "userknn", "ease", "als", "biased-mf"] = "itemknn"

    @property
    def ignores(self):
        return ("ratings",) if self.kind in ("als", "ease") else ()

    def learn(self, dataset, seed):
        names = {"user": "user_id", "item": "item_id"}
        rows = dataset.interactions.rename(columns=names)[
            ["user_id", "item_id", "rating"]
        ]
        self.pipeline = topn_pipeline(KINDS[self.kind]())
        self.pipeline.train(
            from_interactions_df(rows.copy()),
            TrainingOptions(rng=seed),
        )

    def score(self, requests):
        return np.array([self._one(request) for request in requests])

    def _one(self, request):
        history = self.history(request)
        items = ItemList(item_ids=list(history), rating=list(history.values()))
        found = score(
            self.pipeline,
            RecQuery(history_items=items),
            list(self.catalogue.ids),
        )
        return np.nan_to_num(
            found.scores(),
            nan=-np.inf,
        )  # items without a score come last
