"""BPRMF: matrix factorisation for ranking, with the user folded in from the request's history."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from pytest_recsys_mt.recommenders.trained.base import TrainedRecommender
from pytest_recsys_mt.recommenders.trained.data import PAD, Training
from pytest_recsys_mt.recommenders.trained.losses import bpr
from pytest_recsys_mt.recommenders.trained.network import Network, embedding, rows, triples


@dataclass(eq=False)
class BPRMF(TrainedRecommender):
    """Matrix factorisation trained with Bayesian personalised ranking (Rendle et al., UAI 2009).

    The score of item j is u'q_j. Training learns a vector for each user and item. An answer uses
    only the history: it solves for the u of its user, with fixed items.

    Fold-in: to second order around 0, the loss of a pair is -ln sigmoid(x) = (x - 2)^2 / 8 + const,
    so BPR aims each margin u'(q_i - q_j) of a history item i over any other item j at 2. With the
    mean m and covariance C of the trained users' vectors as prior, u solves

        (C^-1 + 1/4 sum_i E_j[(q_i - q_j)(q_i - q_j)']) u = C^-1 m + 1/2 sum_i (q_i - E_j q_j)

    where E_j is the mean over the catalogue: a short history gives nearly m, the average user. With a
    and S the mean and covariance of all q_j, E_j[(q_i - q_j)(q_i - q_j)'] = (q_i - a)(q_i - a)' + S.
    Ratings are not read.

    Size and decay are those for MovieLens-1M of Jiang et al. (2025), appendix A.3. Their rate, 5e-4,
    is for its million interactions. With a tenth of them it leaves the plateau of pure popularity
    only after early stopping. Batches of 1024 at a quarter of this rate validate no better, and
    take twice as long.
    """

    key: ClassVar[str] = "bprmf"
    ordered: ClassVar[bool] = False

    batch: int = 4096
    rate: float = 8e-3
    decay: float = 1e-5
    length: int = 0

    def build(self, training: Training) -> Network:
        """User and item vectors."""
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
        self, training: Training, size: int, rng: np.random.Generator
    ) -> Iterator[tuple[Tensor, ...]]:
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
            torch.linalg.inv(covariance + least * torch.eye(len(mean), device=mean.device))
        )
        self.average, self.spread = _moments(self.items)

    def fold_in(self, columns: Tensor) -> Tensor:
        """Vectors of the users of these histories, shape (n, dim), float64."""
        known = columns != PAD
        # A last row of zeros for `PAD`: histories are large, and a mask would need another pass.
        centred = functional.pad(self.items.double() - self.average, (0, 0, 0, 1))
        margins = functional.embedding(columns.where(known, len(self.items)), centred)
        pairs = margins.mT @ margins + known.sum(1)[:, None, None] * self.spread
        aim = self.prior_precision @ self.prior_mean + margins.sum(1) / 2
        vectors: Tensor = torch.linalg.solve(self.prior_precision + pairs / 4, aim)
        return vectors

    def score(self, columns: Tensor, units: Tensor) -> Tensor:
        return self.fold_in(columns) @ self.items.double().T


def _moments(vectors: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and covariance of vectors, shape (n, dim), in float64."""
    mean = vectors.double().mean(0)
    centred = vectors.double() - mean
    return mean, centred.T @ centred / len(vectors)
