"""Models of Cornac: pip install cornac."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from cornac.data import Dataset
from cornac.models import BPR, EASE, MF, ItemKNN

from pytest_recsys_mt.recommenders.adapters import StoredUsers


@dataclass(eq=False)
class Cornac(StoredUsers):
    """A model of Cornac, for the users that it was fitted to."""

    deterministic = True
    kind: Literal["bpr", "mf", "ease", "itemknn"] = "bpr"

    def learn(self, dataset, seed):
        seed %= 2**31
        self.model = {
            "bpr": lambda: BPR(k=32, seed=seed, num_threads=1, verbose=False),
            "mf": lambda: MF(k=32, seed=seed, num_threads=1, verbose=False),
            "ease": lambda: EASE(seed=seed, verbose=False),
            "itemknn": lambda: ItemKNN(k=20, seed=seed, num_threads=1, verbose=False),
        }[self.kind]()
        rows = dataset.interactions[["user", "item", "rating"]]
        self.rows = Dataset.build(rows.itertuples(index=False, name=None), seed=seed)
        self.model.fit(self.rows)

    def score(self, requests):
        table = np.full((len(requests), len(self.catalogue)), -np.inf)
        columns = [self.catalogue.column[item] for item in self.rows.iid_map]
        for number, request in enumerate(requests):
            scores = np.asarray(self.model.score(self.rows.uid_map[request.user]))
            table[number, columns] = scores[: len(columns)]
        return table
