"""SAR of `recommenders`: pip install recommenders."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from recommenders.models.sar import SAR

from pytest_recsys_mt.recommenders.adapters import Adapter


@dataclass(eq=False)
class Sar(Adapter):
    """Simple algorithm for recommendation, asked by items."""

    deterministic = True
    similarity: str = "jaccard"

    def learn(self, dataset, seed):
        self.model = SAR(
            "user",
            "item",
            "rating",
            "timestamp",
            similarity_type=self.similarity,
        )
        self.model.fit(dataset.interactions[["user", "item", "rating", "timestamp"]])

    def score(self, requests):
        rows = [
            (number, item, rating)
            for number, request in enumerate(requests)
            for item, rating in self.history(request).items()
            if item in self.model.item2index
        ]
        table = np.full((len(requests), len(self.catalogue)), -np.inf)
        if rows:
            asked = pd.DataFrame(rows, columns=["user", "item", "rating"])
            best = self.model.get_item_based_topk(
                asked,
                top_k=len(self.model.item2index),
            )
            table[best["user"], best["item"].map(self.catalogue.column)] = best[
                "prediction"
            ]
        return table
