"""Factorisation machines over the history, the item and its genres; and DeepFM, which adds layers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from pytest_recsys_mt.errors import RecommenderError
from pytest_recsys_mt.recommenders.ranking import Ints
from pytest_recsys_mt.recommenders.trained.base import TrainedRecommender
from pytest_recsys_mt.recommenders.trained.data import PAD, Training
from pytest_recsys_mt.recommenders.trained.losses import bce
from pytest_recsys_mt.recommenders.trained.network import Network, embedding, rows, shuffled
from pytest_recsys_mt.recommenders.trained.trainer import LONGEST
from pytest_recsys_mt.requests import Item

GENRES = ("genres", "categories")
"""Attributes of items that are features, beside the item itself."""

PAIRS = 2**13
"""Pairs of a history and an item that go through the layers of DeepFM at once."""


@dataclass(eq=False)
class FM(TrainedRecommender):
    """A factorisation machine (Rendle, ICDM 2010, equation 1) that predicts clicks.

    Features: the items of the history, each 1 / their number; the item in question; its genres or
    categories, each 1 / their number. Items of a history and the item in question have vectors of
    their own. It is trained on whether a user chose an item, with items drawn uniformly from those
    that the user never chose as the others; the history of an example is what came before it.
    Neither ratings nor, within the latest `length` items, the order of a history are read.

    Attributes:
        negatives: Items not chosen to each one chosen.
    """

    key: ClassVar[str] = "fm"
    ordered: ClassVar[bool] = False

    negatives: int = 4

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.negatives < 1:
            raise RecommenderError(
                f"{self.key}: negatives must be at least 1, got {self.negatives!r}"
            )

    def build(self, training: Training) -> Network:
        """A vector and a weight for each feature."""
        return _Machine(training.items, self.dim, self.length or LONGEST, self.negatives)


@dataclass(eq=False)
class DeepFM(FM):
    """DeepFM (Guo et al., IJCAI 2017): a factorisation machine and layers over the same vectors.

    The score is the sum of both (their equation 1). The layers read the vectors of the three fields
    side by side: the mean of the history, the item, the mean of its genres. All else is as in `FM`.

    Three layers as in the paper, but narrower than its 400: the catalogue here is ranked whole, not
    a few advertisements; ``deepfm?width=400`` has the paper's.

    Attributes:
        layers: Hidden layers.
        width: Units of each.
        dropout: Share of the units that a training step leaves out.
    """

    key: ClassVar[str] = "deepfm"

    layers: int = 3
    width: int = 64
    dropout: float = 0.2

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("layers", "width"):
            if getattr(self, name) < 1:
                raise RecommenderError(
                    f"{self.key}: {name} must be at least 1, got {getattr(self, name)!r}"
                )
        if not 0 <= self.dropout < 1:
            raise RecommenderError(
                f"{self.key}: dropout is a share from 0 to below 1, got {self.dropout!r}"
            )

    def build(self, training: Training) -> Network:
        """A vector and a weight for each feature, and the layers."""
        return _DeepMachine(
            training.items,
            self.dim,
            self.length or LONGEST,
            self.negatives,
            self.layers,
            self.width,
            self.dropout,
        )


@dataclass(frozen=True)
class _Field:
    """The active features of one field, each times its value.

    Attributes:
        vector: Their sum, shape (..., dim).
        own: Their weights, and the products of pairs of them, summed; shape (...).
    """

    vector: Tensor
    own: Tensor

    @classmethod
    def one(cls, columns: Tensor, weight: Tensor) -> _Field:
        """One feature a row, of value 1, shape `columns`; the weight stands behind each vector."""
        found = rows(columns, weight)
        return cls(found[..., :-1], found[..., -1])

    @classmethod
    def mean(cls, columns: Tensor, weight: Tensor) -> _Field:
        """The features in the last dimension of `columns` but for `PAD`, each 1 / their number."""
        known = columns != PAD
        count = known.sum(-1)
        share = (1 / count.clamp(min=1).to(weight.dtype))[..., None].expand(known.shape)[known]
        starts = functional.pad(count.flatten().cumsum(0), (1, 0))[:-1]

        def summed(values: Tensor, shares: Tensor) -> Tensor:
            bags = functional.embedding_bag(
                columns[known], values, starts, mode="sum", per_sample_weights=shares
            )
            return bags.view(*count.shape, -1)

        found = summed(weight, share)
        vector = found[..., :-1]
        # Rendle 2010, lemma 3.1: the pairs in linear time.
        squares = summed(weight[:, :-1].square().sum(1, keepdim=True), share.square())[..., 0]
        return cls(vector, found[..., -1] + (vector.square().sum(-1) - squares) / 2)


class _Machine(Network):
    """The factorisation machine.

    Training runs in float32. Answers are summed in float64, so that the order of a sum, which
    differs with the shape of a batch, is far below what is rounded off.
    """

    genres_of: Tensor

    def __init__(self, items: Sequence[Item], dim: int, length: int, negatives: int) -> None:
        super().__init__()
        self.length = length
        self.negatives = negatives
        genres_of, count = _genres(items)
        self.register_buffer("genres_of", torch.from_numpy(genres_of), persistent=False)
        self.bias = nn.Parameter(torch.zeros(()))
        self.history = embedding(len(items), dim + 1)
        self.items = embedding(len(items), dim + 1)
        self.genres = embedding(max(1, count), dim + 1)

    def batches(
        self, training: Training, size: int, rng: np.random.Generator
    ) -> Iterator[tuple[Tensor, ...]]:
        for chosen in shuffled(len(training), size, rng):
            others = training.negatives(training.owners[chosen], self.negatives, rng)
            history = training.items_at(training.preceding(chosen, self.length))
            shown = np.concatenate([training.columns[chosen, None], others], axis=1)
            yield torch.from_numpy(history), torch.from_numpy(shown)

    def loss(self, *batch: Tensor) -> Tensor:
        columns, shown = batch
        logits = self._logits(columns, shown, torch.float32)
        labels = torch.zeros_like(logits)
        labels[:, 0] = 1
        return bce(logits, labels)

    def score(self, columns: Tensor, units: Tensor) -> Tensor:
        before = self.before(columns, torch.float64)
        item, genres = self.sides(torch.arange(len(self.items), device=self.device), torch.float64)
        own = item.own + genres.own + (item.vector * genres.vector).sum(-1)
        together = before.vector @ (item.vector + genres.vector).T
        return self.bias.double() + before.own[:, None] + own + together

    def before(self, columns: Tensor, dtype: torch.dtype) -> _Field:
        """The field of the histories, of shape (n, width)."""
        return _Field.mean(columns, self.history.to(dtype))

    def sides(self, columns: Tensor, dtype: torch.dtype) -> tuple[_Field, _Field]:
        """The fields of items, of any shape, and of their genres."""
        item = _Field.one(columns, self.items.to(dtype))
        return item, _Field.mean(self.genres_of[columns], self.genres.to(dtype))

    def _logits(self, columns: Tensor, shown: Tensor, dtype: torch.dtype) -> Tensor:
        """Scores of items, shape (n, c), for histories, shape (n, width)."""
        before = self.before(columns, dtype)
        return self.pairs(before, *self.sides(shown, dtype))

    def pairs(self, before: _Field, item: _Field, genres: _Field) -> Tensor:
        """Scores of pairs of a history, one a row, and an item; shape (n, c).

        Args:
            before: Shape (n,).
            item: Shape (n, c), or (c,) for the same items in each row.
            genres: The same.
        """
        user = before.vector[:, None, :]
        across = (user * (item.vector + genres.vector)).sum(-1)
        within = item.own + genres.own + (item.vector * genres.vector).sum(-1)
        return self.bias.to(user.dtype) + before.own[:, None] + within + across


class _DeepMachine(_Machine):
    """The factorisation machine with layers beside it."""

    def __init__(
        self,
        items: Sequence[Item],
        dim: int,
        length: int,
        negatives: int,
        layers: int,
        width: int,
        dropout: float,
    ) -> None:
        super().__init__(items, dim, length, negatives)
        self.dropout = dropout
        # One matrix a field: what it makes of an item is worked out once for all histories.
        self.first = nn.ModuleList(nn.Linear(dim, width, bias=field == 0) for field in range(3))
        self.further = nn.ModuleList(nn.Linear(width, width) for _ in range(layers - 1))
        self.last = nn.Linear(width, 1, bias=False)

    def score(self, columns: Tensor, units: Tensor) -> Tensor:
        wide = super().score(columns, units)
        before = self.before(columns, torch.float64)
        every = torch.arange(len(self.items), device=self.device)
        step = max(1, PAIRS // len(columns))
        deep = [
            self._deep(before, *self.sides(part, torch.float64))
            for part in torch.split(every, step)
        ]
        return wide + torch.cat(deep, 1)

    def score_some(self, columns: Tensor, units: Tensor, candidates: Tensor) -> Tensor:
        return self._logits(columns, candidates, torch.float64)

    def pairs(self, before: _Field, item: _Field, genres: _Field) -> Tensor:
        return super().pairs(before, item, genres) + self._deep(before, item, genres)

    def _deep(self, before: _Field, item: _Field, genres: _Field) -> Tensor:
        user = self._through(self.first[0], before.vector)[:, None, :]
        hidden = user + self._through(self.first[1], item.vector)
        hidden = self._active(hidden + self._through(self.first[2], genres.vector))
        for layer in self.further:
            hidden = self._active(self._through(layer, hidden))
        return self._through(self.last, hidden).squeeze(-1)

    def _active(self, hidden: Tensor) -> Tensor:
        return functional.dropout(hidden.relu(), self.dropout, self.training)

    @staticmethod
    def _through(layer: nn.Module, values: Tensor) -> Tensor:
        assert isinstance(layer, nn.Linear)
        bias = None if layer.bias is None else layer.bias.to(values.dtype)
        return functional.linear(values, layer.weight.to(values.dtype), bias)


def _genres(items: Sequence[Item]) -> tuple[Ints, int]:
    """The numbers of each item's genres, shape (items, most), `PAD` behind; and how many there are."""
    named = [dict.fromkeys(_values(item)) for item in items]
    numbers = {value: number for number, value in enumerate(sorted(set().union(*named)))}
    table = np.full((len(items), max([1, *map(len, named)])), PAD, dtype=np.int64)
    for row, values in enumerate(named):
        table[row, : len(values)] = [numbers[value] for value in values]
    return table, len(numbers)


def _values(item: Item) -> list[str]:
    found = [item.attributes.get(name, ()) for name in GENRES]
    return [
        value for each in found for value in ([each] if isinstance(each, str) else map(str, each))
    ]
