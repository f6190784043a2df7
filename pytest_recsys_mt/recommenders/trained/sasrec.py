"""SASRec: self-attention over the sequence of the history."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from pytest_recsys_mt.recommenders.trained.base import TrainedRecommender
from pytest_recsys_mt.recommenders.trained.data import PAD, Training
from pytest_recsys_mt.recommenders.trained.losses import Batches, sampled_cross_entropy
from pytest_recsys_mt.recommenders.trained.network import (
    Network,
    embed,
    embedding,
    shuffled,
)


@dataclass(eq=False)
class SASRec(TrainedRecommender):
    """Self-attentive sequential recommendation (Kang and McAuley, ICDM 2018).

    Item embeddings plus learned positions, counted from the end of the history, pass
    `layers` blocks of causal self-attention and a two-layer network, each with layer
    normalisation before, dropout and a residual connection. The score of item j is the
    last output times the embedding of j. Ratings are not read.

    Every place of a sequence predicts the next item. The paper contrasts that item with
    one drawn item by binary cross entropy. Here it is in a softmax with `negatives`
    drawn items that a batch shares: the same cost, and better rankings (Klenitskiy and
    Vasilev, RecSys 2023).
    """

    key: ClassVar[str] = "sasrec"
    least: ClassVar[Mapping[str, int]] = {
        "layers": 1,
        "heads": 1,
        "length": 1,
        "negatives": 0,
    }

    batch: int = 16
    patience: int = 20
    layers: int = 2  # blocks of attention
    heads: int = 1  # of each block; they divide `dim`
    dropout: float = 0.3  # share of the activations dropped while training
    # Items drawn for each batch; 0 contrasts with the whole catalogue.
    negatives: int = 256

    def build(self, training: Training) -> Network:
        return _Transformer(self, len(training.items))


class _Transformer(Network):
    def __init__(self, model: SASRec, items: int) -> None:
        super().__init__()
        self.negatives = model.negatives
        self.items = embedding(items, model.dim, 0.02)
        self.positions = embedding(model.length, model.dim, 0.02)
        self.dropout = nn.Dropout(model.dropout)
        self.blocks = nn.ModuleList(
            _Block(model.dim, model.heads, model.dropout) for _ in range(model.layers)
        )
        self.last = nn.LayerNorm(model.dim)

    def batches(
        self,
        training: Training,
        size: int,
        rng: np.random.Generator,
    ) -> Batches:
        length = len(self.positions)
        ends = window_ends(training, length)
        for chosen in shuffled(len(ends), size, rng):
            rows = ends[chosen]
            history = training.items_at(training.preceding(rows, length))
            targets = np.concatenate(
                [history[:, 1:], training.columns[rows][:, None]],
                1,
            )
            drawn = rng.integers(len(training.items), size=self.negatives)
            yield tuple(map(torch.from_numpy, (history, targets, drawn)))

    def loss(self, *batch: Tensor) -> Tensor:
        history, targets, drawn = batch
        examples, places = torch.nonzero(history != PAD, as_tuple=True)
        states = self.states(history)[examples, places]
        target = targets[examples, places]
        if not self.negatives:
            return functional.cross_entropy(states @ self.items.T, target)
        positive = (states * embed(target, self.items)).sum(1)
        itself = target[:, None] == drawn
        negative = (states @ embed(drawn, self.items).T).masked_fill(itself, -torch.inf)
        return sampled_cross_entropy(positive, negative)

    def states(self, columns: Tensor) -> Tensor:
        """The output of the network at each place of the
        histories, shape (n, length, dim).
        """
        length = columns.shape[1]
        known = columns != PAD
        earlier = torch.ones(
            length,
            length,
            dtype=torch.bool,
            device=columns.device,
        ).tril()
        # Padding attends to itself: a softmax over nothing is not a number.
        itself = torch.eye(length, dtype=torch.bool, device=columns.device)
        seen = (earlier & (known[:, None, :] | itself)).unsqueeze(1)
        states = self.dropout(
            embed(columns, self.items) * math.sqrt(self.items.shape[1])
            + self.positions[-length:],
        )
        for block in self.blocks:
            states = block(states, seen)
        out: Tensor = self.last(states)
        return out

    def score(self, columns: Tensor) -> Tensor:
        return self.states(columns)[:, -1] @ self.items.T


class _Block(nn.Module):
    def __init__(self, dim: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.before = nn.LayerNorm(dim)
        self.project = nn.Linear(dim, 3 * dim)
        self.mix = nn.Linear(dim, dim)
        self.between = nn.LayerNorm(dim)
        self.inner = nn.Linear(dim, dim)
        self.outer = nn.Linear(dim, dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, states: Tensor, seen: Tensor) -> Tensor:
        shape = states.shape
        parts = self.project(self.before(states)).view(*shape[:2], 3, self.heads, -1)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        rate = self.dropout.p if self.training else 0.0
        attended = functional.scaled_dot_product_attention(
            query,
            key,
            value,
            attn_mask=seen,
            dropout_p=rate,
        )
        states = states + self.dropout(
            self.mix(attended.transpose(1, 2).reshape(shape)),
        )
        inner = self.dropout(functional.relu(self.inner(self.between(states))))
        out: Tensor = states + self.dropout(self.outer(inner))
        return out


def window_ends(
    training: Training,
    length: int,
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Rows at which sequences end that together predict every interaction once, except
    a user's first.

    They go back from each user's latest interaction in steps of `length`.
    """
    rows = np.arange(len(training))
    from_end = training.starts[1:][training.owners] - 1 - rows
    has_history = rows > training.starts[training.owners]
    return np.flatnonzero((from_end % length == 0) & has_history)
