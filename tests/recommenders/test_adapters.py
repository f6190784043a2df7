"""What the bases of adapters do for every library: ties, scales, unknown items, and users that are stored."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from pytest_recsys_mt import NotApplicable, Rating, Request, Scale
from pytest_recsys_mt.adapters import Adapter, StoredUsers
from pytest_recsys_mt.datasets import load
from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.engine.cases import Split


@dataclass(eq=False)
class Same(Adapter):
    """All items are equal."""

    steps: int = 3

    def learn(self, dataset: Dataset, seed: int) -> None:
        self.seen = dataset.interactions

    def score(self, requests: Sequence[Request]) -> Any:
        return np.zeros((len(requests), len(self.catalogue)))


@dataclass(eq=False)
class Stored(StoredUsers):
    key = "stored"

    def learn(self, dataset: Dataset, seed: int) -> None:
        pass

    def score(self, requests: Sequence[Request]) -> Any:
        return np.zeros((len(requests), len(self.catalogue)))
