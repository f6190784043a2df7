"""LightGCN: embeddings propagated over the graph of users and items."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor

from pytest_recsys_mt.recommenders.trained.base import TrainedRecommender
from pytest_recsys_mt.recommenders.trained.data import PAD, Training
from pytest_recsys_mt.recommenders.trained.losses import Batches, bpr
from pytest_recsys_mt.recommenders.trained.network import (
    Network,
    embed,
    embedding,
    rows,
    triples,
)


@dataclass(eq=False)
class LightGCN(TrainedRecommender):
    """Light graph convolution (He et al., "LightGCN", SIGIR 2020, equations 3 to 8).

    Layer k + 1 of a node is the sum of layer k of its neighbours, each divided by the
    root of both numbers of neighbours; layer 0 is learned; a node's embedding is the
    mean of its layers 0 to K, and a score the product of two embeddings. Trained with
    Bayesian personalised ranking.

    An answer adds a node for the history to the trained graph, whose items keep their
    layers. Its layers 1 to K are the sums over the history. Only training could learn
    its layer 0, so that is the mean of all users'. For a user of the training data with
    the same history, the result is the trained embedding except for layer 0. Ratings
    are not read.

    The sizes and the decay are those for MovieLens-1M of Jiang et al. (2025), appendix
    A.3. A step processes the whole graph for any batch, so the batch is large, and the
    rate ten times theirs.
    """

    key: ClassVar[str] = "lightgcn"
    ordered: ClassVar[bool] = False
    least: ClassVar[Mapping[str, int]] = {"layers": 1}

    dim: int = 128
    batch: int = 8192
    rate: float = 1e-2
    length: int = 0
    layers: int = 4  # the number K

    def build(self, training: Training) -> Network:
        return _Graph(training.users, len(training.items), self.dim, self.layers)


class _Graph(Network):
    average: Tensor
    senders: Tensor
    receivers: Tensor

    def __init__(self, users: int, items: int, dim: int, layers: int) -> None:
        super().__init__()
        self.users, self.layers = users, layers
        self.nodes = embedding(users + items, dim, deviation=0.1)
        self.register_buffer("average", torch.zeros(dim, dtype=torch.float64))
        self.register_buffer("senders", torch.zeros(items, dim, dtype=torch.float64))
        self.register_buffer("receivers", torch.zeros(items, dim, dtype=torch.float64))
        self._training: Training | None = None

    def batches(
        self,
        training: Training,
        size: int,
        rng: np.random.Generator,
    ) -> Batches:
        self._connect(training)
        return triples(training, size, rng)

    def loss(self, *batch: Tensor) -> Tensor:
        users, positive, negative = batch
        nodes = torch.stack(self._propagated(self.nodes)).mean(0)
        between = rows(positive + self.users, nodes) - rows(
            negative + self.users,
            nodes,
        )
        return bpr((rows(users, nodes) * between).sum(1))

    @torch.no_grad()
    def freeze(self, training: Training) -> None:
        self._connect(training)
        found = [layer[self.users :].double() for layer in self._propagated(self.nodes)]
        neighbours = np.bincount(training.columns, minlength=len(training.items))
        roots = torch.from_numpy(np.sqrt(np.maximum(1, neighbours))).to(self.device)
        self.average.copy_(self.nodes[: self.users].double().mean(0))
        self.senders.copy_(torch.stack(found[:-1]).sum(0) / roots[:, None])
        self.receivers.copy_(torch.stack(found).mean(0))

    def score(self, columns: Tensor) -> Tensor:
        count = (columns != PAD).sum(1, keepdim=True).clamp(min=1)
        received = embed(columns, self.senders).sum(1) / count.double().sqrt()
        return (self.average + received) / (self.layers + 1) @ self.receivers.T

    def _propagated(self, nodes: Tensor) -> list[Tensor]:
        found = [nodes]
        for _ in range(self.layers):
            found.append(_Step.apply(self._links, found[-1]))  # type: ignore[no-untyped-call]
        return found

    def _connect(self, training: Training) -> None:
        if self._training is training:
            return
        self._training = training
        items = training.columns + self.users
        ends = (
            np.concatenate([training.owners, items]),
            np.concatenate([items, training.owners]),
        )
        roots = np.sqrt(np.bincount(ends[0], minlength=len(self.nodes)))
        values = 1 / (roots[ends[0]] * roots[ends[1]])
        links = csr_array(
            (values.astype(np.float32), ends),
            (len(self.nodes), len(self.nodes)),
        )
        links.sort_indices()
        with warnings.catch_warnings():
            # Both are said of every tensor of this kind, the second on a GPU.
            about = "Sparse (CSR tensor support is in beta|invariant checks are implicitly disabled)"
            warnings.filterwarnings("ignore", about, UserWarning)
            self._links = torch.sparse_csr_tensor(
                torch.from_numpy(links.indptr.astype(np.int64)),
                torch.from_numpy(links.indices.astype(np.int64)),
                torch.from_numpy(links.data),
                links.shape,
                device=self.device,
                check_invariants=True,
            )


class _Step(torch.autograd.Function):
    """One step over the graph: the product with a symmetric
    matrix, whose gradient is the same.
    """

    @staticmethod
    def forward(ctx: Any, links: Tensor, nodes: Tensor) -> Tensor:
        ctx.links = links
        return links @ nodes

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor]:
        return None, ctx.links @ gradients[0]
