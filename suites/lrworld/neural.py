"""Neural matrix factorisation: embeddings of users and items, and the prototypes among
them.

The network is NeuMF of He, Liao, Zhang, Nie, Hu and Chua, "Neural collaborative
filtering" (WWW 2017), section 3.4, trained as there with binary cross entropy against
drawn negatives.
"""

import math
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from scipy.cluster.vq import kmeans2
from torch import Tensor, nn
from torch.nn import functional

from pytest_recsys_mt.recommenders.trained.data import Training
from pytest_recsys_mt.recommenders.trained.losses import Batches
from pytest_recsys_mt.recommenders.trained.network import (
    Network,
    embed,
    embedding,
    shuffled,
    threads,
)
from pytest_recsys_mt.recommenders.trained.store import obtain
from pytest_recsys_mt.recommenders.trained.trainer import Settings, train
from pytest_recsys_mt.safety.errors import RecommenderError
from pytest_recsys_mt.suites.lrworld.histories import Floats, Histories, Ints

TOWER = 16
"""Size of the perceptron's embeddings; its layers are 2, 1 and 1/2 times as wide."""

SMALLEST = 64
"""Least interactions per step."""

DECIMALS = 6
"""Decimals of cosines: values that differ only by rounding errors are equally right."""


@dataclass(frozen=True)
class Factors:
    """How the factorisation is trained."""

    dim: int = 64  # of the embeddings, as in the paper
    epochs: int = 5  # at least; more if the data are too few for `steps`
    steps: int = 600  # approximately; more data have larger batches
    rate: float = 3e-3  # of Adam
    negatives: int = 4  # drawn for each interaction
    users: int = 20_000  # at most, drawn uniformly; questions are only about them


@dataclass(frozen=True, eq=False)
class Embeddings:
    """Unit vectors, shape (n, dim), whose products are the cosines."""

    people: Ints  # the users of the training, as rows of the histories
    users: Floats
    items: Floats


def learn(
    histories: Histories,
    factors: Factors,
    seed: int,
    digest: str,
    folder: Path,
) -> Embeddings:
    """Train the factorisation, or load it from `folder`, where
    it is known by the `digest` of its data.
    """
    rng = np.random.default_rng([seed % 2**64, 2])
    people = np.arange(histories.users)
    if len(people) > factors.users:
        people = np.sort(rng.choice(people, factors.users, replace=False))
    training = _training(histories, people)
    batch = max(SMALLEST, factors.epochs * len(training) // factors.steps)
    settings = Settings(
        epochs=max(factors.epochs, factors.steps * batch // len(training)),
        batch=batch,
        rate=factors.rate,
        decay=0.0,
        patience=0,
        length=0,
    )
    with torch.random.fork_rng([]), threads(1):
        torch.manual_seed(seed % 2**64)
        network = _NeuMF(
            len(people),
            len(histories.items),
            factors.dim,
            factors.negatives,
        )
        identity = {
            "network": f"{_NeuMF.__module__}:{_NeuMF.__qualname__}",
            "factors": asdict(factors),
            "training": digest,
            "items": len(histories.items),
            "seed": seed,
            "torch": torch.__version__,
        }
        obtain(
            folder,
            identity,
            network,
            lambda: train(network, training, settings, seed),
        )
    return Embeddings(people, *map(_unit, network.vectors()))


def prototypes(
    vectors: Floats,
    allowed: Ints,
    clusters: int,
    count: int,
    rng: np.random.Generator,
) -> Ints:
    """The `allowed` rows nearest to the centroids of their k-means: the nearest of all
    clusters, then the second.
    """
    points = vectors[allowed]
    clusters = min(clusters, len(np.unique(points, axis=0)))
    with warnings.catch_warnings():
        # A cluster that loses its last point keeps its centroid and gets no prototype.
        warnings.filterwarnings("ignore", "One of the clusters is empty", UserWarning)
        centroids, labels = kmeans2(
            points,
            min(clusters, len(points)),
            minit="++",
            rng=rng,
        )
    distances = np.linalg.norm(points - centroids[labels], axis=1)
    rank = pd.Series(distances).groupby(labels).rank("first")
    return allowed[np.lexsort((labels, rank))[:count]]


class _NeuMF(Network):
    """Neural matrix factorisation, trained for its embeddings: it serves no requests."""

    def __init__(self, users: int, items: int, dim: int, negatives: int) -> None:
        super().__init__()
        self.negatives = negatives
        self.users = embedding(users, dim)
        self.items = embedding(items, dim)
        self.user_tower = embedding(users, TOWER)
        self.item_tower = embedding(items, TOWER)
        self.perceptron = nn.Sequential(
            nn.Linear(2 * TOWER, TOWER),
            nn.ReLU(),
            nn.Linear(TOWER, TOWER // 2),
            nn.ReLU(),
        )
        self.output = nn.Linear(dim + TOWER // 2, 1)
        # The share of positives; otherwise all vectors learn it as one common
        # direction.
        nn.init.constant_(self.output.bias, -math.log(negatives))

    def batches(
        self,
        training: Training,
        size: int,
        rng: np.random.Generator,
    ) -> Batches:
        for rows in shuffled(len(training), size, rng):
            users = training.owners[rows]
            negatives = training.negatives(users, self.negatives, rng)
            items = np.concatenate([training.columns[rows][:, None], negatives], 1)
            yield torch.from_numpy(users), torch.from_numpy(items)

    def loss(self, *batch: Tensor) -> Tensor:
        users, items = batch
        logits = self.pairs(users[:, None].expand_as(items), items)
        labels = torch.zeros_like(logits)
        labels[:, 0] = 1.0
        return functional.binary_cross_entropy_with_logits(logits, labels)

    def pairs(self, users: Tensor, items: Tensor) -> Tensor:
        """Logits of pairs, in the shape of both arguments."""
        product = embed(users, self.users) * embed(items, self.items)
        tower = torch.cat(
            [embed(users, self.user_tower), embed(items, self.item_tower)],
            -1,
        )
        logits: Tensor = self.output(torch.cat([product, self.perceptron(tower)], -1))
        return logits.squeeze(-1)

    def score(self, columns: Tensor) -> Tensor:
        raise RecommenderError(
            "NeuMF scores the users it was trained with, not histories; train it with patience=0",
        )

    @torch.no_grad()
    def vectors(self) -> tuple[Floats, Floats]:
        """Vectors of users and of items whose product is the factorisation's part of
        the logit, with its weights.
        """
        weights = self.output.weight[0, : self.users.shape[1]].double()
        users = self.users.double() * weights.abs().sqrt()
        items = self.items.double() * weights.abs().sqrt() * weights.sign()
        return users.numpy(), items.numpy()


def cosines(vectors: Floats, others: Floats) -> Floats:
    """Cosines of unit vectors, shape (len(vectors),
    len(others)), rounded to `DECIMALS`.
    """
    return np.round(vectors @ others.T, DECIMALS)


def _unit(vectors: Floats) -> Floats:
    unit: Floats = vectors / np.maximum(
        np.linalg.norm(vectors, axis=1, keepdims=True),
        1e-12,
    )
    return unit


def _training(histories: Histories, people: Ints) -> Training:
    lengths = histories.lengths[people]
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    rows = np.repeat(histories.starts[people] - starts[:-1], lengths) + np.arange(
        starts[-1],
    )
    return Training(histories.items, histories.columns[rows], starts)
