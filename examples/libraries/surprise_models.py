"""Models of Surprise: pip install scikit-surprise."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from surprise import (
    SVD,
    Dataset,
    KNNBaseline,
    KNNBasic,
    KNNWithMeans,
    Reader,
    SlopeOne,
    SVDpp,
)

from pytest_recsys_mt.recommenders.adapters import StoredUsers

ITEMS = {"sim_options": {"user_based": False}, "verbose": False}


@dataclass(eq=False)
class Surprise(StoredUsers):
    """A predictor of ratings, for the users that it was fitted to."""

    deterministic = True
    kind: Literal[
        "svd",
        "svdpp",
        "slope-one",
        "knn-basic",
        "knn-means",
        "knn-baseline",
    ] = "svd"

    def learn(self, dataset, seed):
        self.model = {
            "svd": lambda: SVD(random_state=seed),
            "svdpp": lambda: SVDpp(random_state=seed),
            "slope-one": SlopeOne,
            "knn-basic": lambda: KNNBasic(**ITEMS),
            "knn-means": lambda: KNNWithMeans(**ITEMS),
            "knn-baseline": lambda: KNNBaseline(
                **ITEMS,
                bsl_options={"verbose": False},
            ),
        }[self.kind]()
        reader = Reader(rating_scale=(dataset.scale.low, dataset.scale.high))
        rows = dataset.interactions[["user", "item", "rating"]]
        self.model.fit(Dataset.load_from_df(rows, reader).build_full_trainset())

    def score(self, requests):
        return np.array(
            [
                [
                    self.model.predict(request.user, item, clip=False).est
                    for item in self.catalogue.ids
                ]
                for request in requests
            ],
        )
