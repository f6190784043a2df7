"""Models of RecTools: pip install rectools."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from implicit.nearest_neighbours import TFIDFRecommender
from rectools import Columns
from rectools.dataset import Dataset, IdMap, Interactions
from rectools.models import EASEModel, ImplicitItemKNNWrapperModel, PureSVDModel

from pytest_recsys_mt.recommenders.adapters import Adapter, StoredUsers

NAMES = {
    "user": Columns.User,
    "item": Columns.Item,
    "rating": Columns.Weight,
    "timestamp": Columns.Datetime,
}


@dataclass(eq=False)
class RecTools(Adapter):
    """A model that reads the history of a user from the
    dataset that it is given when it is asked.
    """

    deterministic = True
    kind: Literal["ease", "itemknn"] = "ease"

    def learn(self, dataset, seed):
        self.model = {
            "ease": lambda: EASEModel(
                recommend_n_threads=1,
                recommend_use_gpu_ranking=False,
            ),
            "itemknn": lambda: ImplicitItemKNNWrapperModel(
                TFIDFRecommender(K=20, num_threads=1),
            ),
        }[self.kind]()
        self.trained = Dataset.construct(table(dataset))
        self.model.fit(self.trained)

    def score(self, requests):
        names = [f"request {number}" for number in range(len(requests))]
        items = self.trained.item_id_map
        rows = [
            (name, item, rating, pd.Timestamp(0))
            for name, request in zip(names, requests, strict=True)
            for item, rating in self.history(request).items()
            if item in items.external_ids
        ]
        # The table of a dataset ends with the last item that occurs in it, and must be
        # as wide as in training.
        rows.append(("nobody", items.external_ids[-1], 1.0, pd.Timestamp(0)))
        frame = pd.DataFrame(rows, columns=list(NAMES.values()))
        users = IdMap.from_values(frame[Columns.User].to_numpy())
        asked = Dataset(users, items, Interactions.from_raw(frame, users, items))
        return ranked(self, names, asked)


@dataclass(eq=False)
class PureSvd(StoredUsers):
    """Truncated singular values, for the users that it was fitted to."""

    deterministic = True
    factors: int = 20

    def learn(self, dataset, seed):
        self.trained = Dataset.construct(table(dataset))
        self.model = PureSVDModel(
            self.factors,
            random_state=seed,
            recommend_n_threads=1,
            recommend_use_gpu_ranking=False,
        )
        self.model.fit(self.trained)

    def score(self, requests):
        return ranked(self, [request.user for request in requests], self.trained)


def table(dataset):
    """The interactions as RecTools wants them."""
    rows = dataset.interactions.rename(columns=NAMES)[list(NAMES.values())].copy()
    rows[Columns.Datetime] = pd.to_datetime(rows[Columns.Datetime], unit="s")
    return rows


def ranked(adapter, users, dataset):
    """The library's own ranking of all items, as a table of
    scores; who has no history gets none.
    """
    known = dataset.user_id_map.external_ids
    answer = adapter.model.recommend(
        list(set(users).intersection(known)),
        dataset,
        k=len(adapter.trained.item_id_map.external_ids),
        filter_viewed=False,
    )
    scores = np.full((len(users), len(adapter.catalogue)), -np.inf)
    found = dict(iter(answer.groupby(Columns.User)))
    for number, user in enumerate(users):
        if user in found:
            columns = found[user][Columns.Item].map(adapter.catalogue.column)
            scores[number, columns] = found[user][Columns.Score]
    return scores
