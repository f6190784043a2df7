"""Factorisation machines over history, user, item and genres; and DeepFM, which adds layers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.errors import RecommenderError
from pytest_recsys_mt.recommenders.ranking import Ints
from pytest_recsys_mt.recommenders.trained.base import TrainedRecommender
from pytest_recsys_mt.recommenders.trained.data import PAD, Training
from pytest_recsys_mt.recommenders.trained.losses import bce
from pytest_recsys_mt.recommenders.trained.network import Network, embedding, rows, shuffled
from pytest_recsys_mt.recommenders.trained.people import People
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

    With `user_attributes`, what the data say of users (age, occupation) are features too, each
    1 / their number: in training those of ``Dataset.users``, in an answer ``Request.attributes``.
    Missing and unknown ones are left out. An empty history is then answered by them alone.

    Attributes:
        negatives: Items not chosen to each one chosen.
        user_attributes: Whether attributes of users are read.
    """

    key: ClassVar[str] = "fm"
    ordered: ClassVar[bool] = False
    # Whether users are read is told by what is known of them, which then is part of the identity.
    apart: ClassVar[frozenset[str]] = TrainedRecommender.apart | {"user_attributes"}

    negatives: int = 4
    user_attributes: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.negatives < 1:
            raise RecommenderError(
                f"{self.key}: negatives must be at least 1, got {self.negatives!r}"
            )

    def people(self, dataset: Dataset) -> People | None:
        """The features of users, where they are read.

        Raises:
            RecommenderError: If they are to be read and the data have none.
        """
        if not self.user_attributes:
            return None
        known = dataset.interactions["user"].unique()
        people = People.of(dataset.users.get(user, {}) for user in known)
        if not people.features:
            raise RecommenderError(
                f"{self.key}: user_attributes=true, but dataset {dataset.name!r} has no attributes "
                f"of users; leave it out, or use data that have them, such as ml-100k or ml-1m"
            )
        return people

    def build(self, training: Training) -> Network:
        """A vector and a weight for each feature."""
        return _Machine(training, self.dim, self.length or LONGEST, self.negatives)


@dataclass(eq=False)
class DeepFM(FM):
    """DeepFM (Guo et al., IJCAI 2017): a factorisation machine and layers over the same vectors.

    The score is the sum of both (their equation 1). The layers read the vectors of the fields side
    by side: the mean of the history, the item, the mean of its genres, and with `user_attributes`
    the mean of these. All else is as in `FM`.

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
            training,
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

    @classmethod
    def joined(cls, fields: Sequence[_Field]) -> _Field:
        """The features of all of `fields`, which have one shape, as those of one."""
        first, *others = fields
        for field in others:
            pairs = (first.vector * field.vector).sum(-1)
            first = cls(first.vector + field.vector, first.own + field.own + pairs)
        return first


class _Machine(Network):
    """The factorisation machine.

    Training runs in float32. Answers are summed in float64, so that the order of a sum, which
    differs with the shape of a batch, is far below what is rounded off.
    """

    genres_of: Tensor
    people: nn.Parameter | None

    def __init__(self, training: Training, dim: int, length: int, negatives: int) -> None:
        super().__init__()
        items = training.items
        self.length = length
        self.negatives = negatives
        genres_of, count = _genres(items)
        self.register_buffer("genres_of", torch.from_numpy(genres_of), persistent=False)
        self.bias = nn.Parameter(torch.zeros(()))
        self.history = embedding(len(items), dim + 1)
        self.items = embedding(len(items), dim + 1)
        self.genres = embedding(max(1, count), dim + 1)
        if training.people is None:
            self.register_parameter("people", None)
        else:
            self.people = embedding(1 + int(training.people.max()), dim + 1)

    def batches(
        self, training: Training, size: int, rng: np.random.Generator
    ) -> Iterator[tuple[Tensor, ...]]:
        for chosen in shuffled(len(training), size, rng):
            others = training.negatives(training.owners[chosen], self.negatives, rng)
            history = training.items_at(training.preceding(chosen, self.length))
            shown = np.concatenate([training.columns[chosen, None], others], axis=1)
            batch = torch.from_numpy(history), torch.from_numpy(shown)
            if training.people is None:
                yield batch
            else:
                yield *batch, torch.from_numpy(training.people[training.owners[chosen]])

    def loss(self, *batch: Tensor) -> Tensor:
        columns, shown, *rest = batch
        asking = self.asking(columns, rest[0] if rest else None, torch.float32)
        logits = self._logits(asking, shown)
        labels = torch.zeros_like(logits)
        labels[:, 0] = 1
        return bce(logits, labels)

    def score(self, columns: Tensor, units: Tensor) -> Tensor:
        return self.answer(columns, units, None)

    def answer(
        self,
        columns: Tensor,
        units: Tensor,
        people: Tensor | None,
        candidates: Tensor | None = None,
    ) -> Tensor:
        asking = self.asking(columns, people, torch.float64)
        return self.every(asking) if candidates is None else self.some(asking, candidates)

    def every(self, asking: Sequence[_Field]) -> Tensor:
        """Scores of the whole catalogue, shape (n, items)."""
        before = _Field.joined(asking)
        item, genres = self.sides(torch.arange(len(self.items), device=self.device), torch.float64)
        own = item.own + genres.own + (item.vector * genres.vector).sum(-1)
        together = before.vector @ (item.vector + genres.vector).T
        return self.bias.double() + before.own[:, None] + own + together

    def some(self, asking: Sequence[_Field], candidates: Tensor) -> Tensor:
        """Scores of some items, shape (n, c)."""
        return self.every(asking).gather(1, candidates)

    def asking(
        self, columns: Tensor, people: Tensor | None, dtype: torch.dtype
    ) -> tuple[_Field, ...]:
        """The fields of who asks: of the histories, and where they are read, of the users."""
        history = _Field.mean(columns, self.history.to(dtype))
        if self.people is None:
            return (history,)
        if people is None:
            people = columns.new_full((len(columns), 1), PAD)
        return history, _Field.mean(people, self.people.to(dtype))

    def sides(self, columns: Tensor, dtype: torch.dtype) -> tuple[_Field, _Field]:
        """The fields of items, of any shape, and of their genres."""
        item = _Field.one(columns, self.items.to(dtype))
        return item, _Field.mean(self.genres_of[columns], self.genres.to(dtype))

    def _logits(self, asking: Sequence[_Field], shown: Tensor) -> Tensor:
        """Scores of items, shape (n, c), for who asks."""
        return self.pairs(asking, *self.sides(shown, asking[0].own.dtype))

    def pairs(self, asking: Sequence[_Field], item: _Field, genres: _Field) -> Tensor:
        """Scores of pairs of who asks, one a row, and an item; shape (n, c).

        Args:
            asking: Each of shape (n,).
            item: Shape (n, c), or (c,) for the same items in each row.
            genres: The same.
        """
        before = _Field.joined(asking)
        user = before.vector[:, None, :]
        across = (user * (item.vector + genres.vector)).sum(-1)
        within = item.own + genres.own + (item.vector * genres.vector).sum(-1)
        return self.bias.to(user.dtype) + before.own[:, None] + within + across


class _DeepMachine(_Machine):
    """The factorisation machine with layers beside it."""

    def __init__(
        self,
        training: Training,
        dim: int,
        length: int,
        negatives: int,
        layers: int,
        width: int,
        dropout: float,
    ) -> None:
        super().__init__(training, dim, length, negatives)
        self.dropout = dropout
        # One matrix a field: what it makes of an item is worked out once for all histories.
        fields = 3 if self.people is None else 4
        self.first = nn.ModuleList(
            nn.Linear(dim, width, bias=field == 0) for field in range(fields)
        )
        self.further = nn.ModuleList(nn.Linear(width, width) for _ in range(layers - 1))
        self.last = nn.Linear(width, 1, bias=False)

    def every(self, asking: Sequence[_Field]) -> Tensor:
        wide = super().every(asking)
        every = torch.arange(len(self.items), device=self.device)
        step = max(1, PAIRS // len(asking[0].own))
        deep = [
            self._deep(asking, *self.sides(part, torch.float64))
            for part in torch.split(every, step)
        ]
        return wide + torch.cat(deep, 1)

    def score_some(self, columns: Tensor, units: Tensor, candidates: Tensor) -> Tensor:
        return self.answer(columns, units, None, candidates)

    def some(self, asking: Sequence[_Field], candidates: Tensor) -> Tensor:
        return self._logits(asking, candidates)

    def pairs(self, asking: Sequence[_Field], item: _Field, genres: _Field) -> Tensor:
        return super().pairs(asking, item, genres) + self._deep(asking, item, genres)

    def _deep(self, asking: Sequence[_Field], item: _Field, genres: _Field) -> Tensor:
        history, *people = asking
        user = self._through(self.first[0], history.vector)[:, None, :]
        for field in people:
            user = user + self._through(self.first[3], field.vector)[:, None, :]
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
