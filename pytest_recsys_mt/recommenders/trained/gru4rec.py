"""GRU4Rec: a recurrent network over the history."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from pytest_recsys_mt.recommenders.scoring import Ints
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
class GRU4Rec(TrainedRecommender):
    """A GRU that reads the history item by item and predicts the next one.

    The score of item j is (W h + c)'q_j + b_j, with h the state of the GRU after the
    embeddings q of the history, oldest first. The network is that of Hidasi et al.,
    "Session-based recommendations with recurrent neural networks" (ICLR 2016), with the
    output tied to the input embeddings. The loss is that of Hidasi and Karatzoglou,
    "Recurrent neural networks with top-k gains" (CIKM 2018), section 3: cross entropy
    over the next item and negatives that a batch shares, drawn uniformly (their alpha =
    0). Ratings are not read.

    The sizes are those for MovieLens-1M of Jiang et al. (2025), appendix A.3. Their
    rate, 0.001, and decay, 5e-5, are for batches of single predictions. Here an example
    is a stretch of `length` interactions of one user, so an epoch has far fewer steps.
    Between two steps that touch an item the decay would undo what the first one
    learned.
    """

    key: ClassVar[str] = "gru4rec"
    least: ClassVar[Mapping[str, int]] = {"hidden": 1, "negatives": 1, "length": 1}

    dim: int = 128
    batch: int = 64
    rate: float = 5e-3
    decay: float = 0.0
    hidden: int = 100  # size of the state
    negatives: int = 256  # items drawn for each batch
    # Share of embeddings and states that a training step leaves out.
    dropout: float = 0.0

    def build(self, training: Training) -> Network:
        return _Recurrent(self, len(training.items))


class _Recurrent(Network):
    def __init__(self, model: GRU4Rec, items: int) -> None:
        super().__init__()
        self.length, self.negatives = model.length, model.negatives
        self.items = embedding(items, model.dim)
        self.bias = nn.Parameter(torch.zeros(items))
        self.dropout = nn.Dropout(model.dropout)
        self.gru = nn.GRU(model.dim, model.hidden, batch_first=True)
        self.out = nn.Linear(model.hidden, model.dim)

    def batches(
        self,
        training: Training,
        size: int,
        rng: np.random.Generator,
    ) -> Batches:
        ends = stretches(training, self.length, rng)
        for part in shuffled(len(ends), size, rng):
            last = ends[part]
            rows = np.concatenate(
                [training.preceding(last, self.length - 1), last[:, None]],
                1,
            )
            drawn = rng.integers(len(training.items), size=self.negatives)
            yield torch.from_numpy(training.items_at(rows)), torch.from_numpy(drawn)

    def loss(self, *batch: Tensor) -> Tensor:
        columns, negatives = batch
        columns = _padded_right(columns)
        known = columns != PAD
        users = self.out(self.dropout(self._states(columns)[:, :-1][known]))
        targets = columns[known]
        positive = (users * embed(targets, self.items)).sum(1) + self.bias[targets]
        negative = users @ embed(negatives, self.items).T + self.bias[negatives]
        # Other items of the user stay in: the next item must beat the later ones too.
        same = targets[:, None] == negatives
        return sampled_cross_entropy(positive, negative.masked_fill(same, -torch.inf))

    def score(self, columns: Tensor) -> Tensor:
        states = self._states(_padded_right(columns))
        rows = torch.arange(len(columns), device=columns.device)
        users: Tensor = self.out(states[rows, (columns != PAD).sum(1)])
        return users @ self.items.T + self.bias

    def _states(self, columns: Tensor) -> Tensor:
        after, _ = self.gru(self.dropout(embed(columns, self.items)))
        before = after.new_zeros(len(columns), 1, self.gru.hidden_size)
        return torch.cat([before, after], 1)


def _padded_right(columns: Tensor) -> Tensor:
    return columns.gather(1, torch.argsort((columns == PAD).long(), dim=1, stable=True))


def stretches(training: Training, length: int, rng: np.random.Generator) -> Ints:
    """Rows that end stretches of at most `length` interactions, every interaction in
    one or two.

    The end of a user's first stretch is newly drawn each time, so that no place in a
    history is always predicted from little.
    """
    places = np.arange(len(training)) - training.starts[training.owners]
    offsets = rng.integers(length, size=training.users)[training.owners]
    cut = (places - offsets) % length == length - 1
    cut[training.starts[1:] - 1] = True
    return np.flatnonzero(cut)
