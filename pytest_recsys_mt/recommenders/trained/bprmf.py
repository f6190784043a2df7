"""BPRMF: matrix factorisation for ranking, with the user
folded in from the request's history.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from pytest_recsys_mt.recommenders.trained.base import TrainedRecommender
from pytest_recsys_mt.recommenders.trained.data import PAD, Training
from pytest_recsys_mt.recommenders.trained.losses import Batches, bpr
from pytest_recsys_mt.recommenders.trained.network import (
    Network,
    embedding,
    rows,
    triples,
)

OTHERS = 1024
"""Most items over which a history's items are to be preferred."""

STEPS = 3
"""Steps of Newton's method; after two the order of the items hardly changes."""


@dataclass(eq=False)
class BPRMF(TrainedRecommender):
    """Matrix factorisation trained with Bayesian personalised ranking (Rendle et al.,
    UAI 2009).

    The score of item j is u'q_j. Training learns a vector for each user and item. An
    answer uses only the history: it solves for the u of its user, with fixed items.

    Fold-in: the vectors of the trained users, with their mean m and covariance C, are
    the prior of the user's, and u minimises BPR's loss of the history, with the prior's
    penalty,

        sum_i E_j[-ln sigmoid(u'(q_i - q_j))] + (u - m)' C^-1 (u - m) / 2

    where i goes over the history and E_j is the mean over items that it lacks: `OTHERS`
    of them, evenly spaced by popularity, or all. It takes `STEPS` of Newton's method.
    They begin where each margin u'(q_i - q_j) is as near to 2 as the prior allows,
    since to second order around 0 the loss of a margin x is (x - 2)^2 / 8 + const:

        (C^-1 + 1/4 sum_i E_j[(q_i - q_j)(q_i - q_j)']) u = C^-1 m + 1/2 sum_i (q_i -
        E_j q_j)

    There E_j is the mean over the catalogue. A short history gives nearly m, the
    average user. With a and S the mean and covariance of all q_j, E_j[(q_i - q_j)(q_i -
    q_j)'] = (q_i - a)(q_i - a)' + S. Validation after each epoch does without the
    steps. Ratings are not read.

    Size and decay are those for MovieLens-1M of Jiang et al. (2025), appendix A.3.
    Their rate, 5e-4, is for its million interactions; a tenth of them give a tenth of
    the steps. Batches of 1024 at a quarter of this rate validate no better, and take
    twice as long.
    """

    key: ClassVar[str] = "bprmf"
    ordered: ClassVar[bool] = False

    batch: int = 4096
    rate: float = 8e-3
    decay: float = 1e-5
    length: int = 0

    def build(self, training: Training) -> Network:
        return _Factors(training.users, len(training.items), self.dim)


class _Factors(Network):
    prior_mean: Tensor
    prior_precision: Tensor
    average: Tensor
    spread: Tensor

    def __init__(self, users: int, items: int, dim: int) -> None:
        super().__init__()
        self.users = embedding(users, dim)
        self.items = embedding(items, dim)
        self.register_buffer("prior_mean", torch.zeros(dim, dtype=torch.float64))
        self.register_buffer("prior_precision", torch.eye(dim, dtype=torch.float64))
        self.register_buffer("average", torch.zeros(dim, dtype=torch.float64))
        self.register_buffer("spread", torch.zeros(dim, dim, dtype=torch.float64))

    def batches(
        self,
        training: Training,
        size: int,
        rng: np.random.Generator,
    ) -> Batches:
        return triples(training, size, rng)

    def loss(self, *batch: Tensor) -> Tensor:
        users, positive, negative = batch
        between = rows(positive, self.items) - rows(negative, self.items)
        return bpr((rows(users, self.users) * between).sum(1))

    @torch.no_grad()
    def freeze(self, training: Training) -> None:
        mean, covariance = _moments(self.users)
        # With fewer users than dimensions, some dimensions have no variance.
        least = 1e-3 * covariance.trace() / len(mean) + 1e-12
        self.prior_mean.copy_(mean)
        self.prior_precision.copy_(
            torch.linalg.inv(
                covariance + least * torch.eye(len(mean), device=mean.device),
            ),
        )
        self.average, self.spread = _moments(self.items)

    def fold_in(self, columns: Tensor) -> Tensor:
        """Vectors of the users of these histories, shape (n, dim), float64."""
        vectors = self._begun(columns)
        items = self.items.double()
        spaced = torch.linspace(
            0,
            len(items) - 1,
            min(OTHERS, len(items)),
            device=items.device,
        )
        others = spaced.long()
        for row, history in enumerate(columns):
            chosen = history[history != PAD]
            lacked = others[~torch.isin(others, chosen)]
            if len(chosen) and len(lacked):
                vectors[row] = self._best(vectors[row], items[chosen], items[lacked])
        return vectors

    def _best(self, vector: Tensor, chosen: Tensor, lacked: Tensor) -> Tensor:
        for _ in range(STEPS):
            margins = (chosen @ vector)[:, None] - lacked @ vector
            share = torch.sigmoid(-margins)
            curvature = share * (1 - share) / len(lacked)
            share /= len(lacked)
            slope = self.prior_precision @ (vector - self.prior_mean)
            slope += share.sum(0) @ lacked - share.sum(1) @ chosen
            across = chosen.T @ curvature @ lacked
            bend = self.prior_precision + (chosen.T * curvature.sum(1)) @ chosen
            bend += (lacked.T * curvature.sum(0)) @ lacked - across - across.T
            vector = vector - torch.linalg.solve(bend, slope)
        return vector

    def _begun(self, columns: Tensor) -> Tensor:
        known = columns != PAD
        # A last row of zeros for `PAD`: histories are large, and a mask would need
        # another pass.
        centred = functional.pad(self.items.double() - self.average, (0, 0, 0, 1))
        margins = functional.embedding(columns.where(known, len(self.items)), centred)
        pairs = margins.mT @ margins + known.sum(1)[:, None, None] * self.spread
        aim = self.prior_precision @ self.prior_mean + margins.sum(1) / 2
        vectors: Tensor = torch.linalg.solve(self.prior_precision + pairs / 4, aim)
        return vectors

    def score(self, columns: Tensor) -> Tensor:
        return self.fold_in(columns) @ self.items.double().T

    def preview(self, columns: Tensor, people: Tensor | None) -> Tensor:
        return self._begun(columns) @ self.items.double().T


def _moments(vectors: Tensor) -> tuple[Tensor, Tensor]:
    mean = vectors.double().mean(0)
    centred = vectors.double() - mean
    return mean, centred.T @ centred / len(vectors)
