"""Factorisation machines over history, user, item and
genres; and DeepFM, with further layers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.recommenders.trained.base import TrainedRecommender
from pytest_recsys_mt.recommenders.trained.data import PAD, People, Training, numbered
from pytest_recsys_mt.recommenders.trained.losses import Batches
from pytest_recsys_mt.recommenders.trained.network import (
    Network,
    dropped,
    embedding,
    rows,
    shuffled,
)
from pytest_recsys_mt.recommenders.trained.trainer import LONGEST
from pytest_recsys_mt.requests import Item
from pytest_recsys_mt.safety.errors import RecommenderError

GENRES = ("genres", "categories")
"""Attributes of items that are features, besides the item itself."""

PAIRS = 2**13
"""Pairs of a history and an item that DeepFM's layers process at once."""


@dataclass(eq=False)
class FM(TrainedRecommender):
    """A factorisation machine (Rendle, ICDM 2010, equation 1) that predicts clicks.

    Features: the items of the history, each 1 / their number; the scored item; its
    genres or categories, each 1 / their number. Items of a history and the scored item
    have separate vectors. It is trained to predict whether a user chose an item. The
    other items are drawn uniformly from those that the user never chose; the history of
    an example holds the earlier interactions. It reads neither ratings nor, within the
    latest `length` items, the order of a history.

    With `user_attributes`, attributes of users (age, occupation) are features too, each
    1 / their number: in training those of ``Dataset.users``, in an answer
    ``Request.attributes``. Missing and unknown ones are left out. An empty history is
    then answered only by them.
    """

    key: ClassVar[str] = "fm"
    ordered: ClassVar[bool] = False
    least: ClassVar[Mapping[str, int]] = {"negatives": 1}
    # Whether users are read follows from their features, which then are part of the
    # identity.
    apart: ClassVar[frozenset[str]] = TrainedRecommender.apart | {"user_attributes"}

    negatives: int = 4  # items not chosen per chosen item
    user_attributes: bool = False  # whether attributes of users are read

    def people(self, dataset: Dataset) -> People | None:
        """The features of users, if they are read;
        RecommenderError if the data have none.
        """
        if not self.user_attributes:
            return None
        known = dataset.interactions["user"].unique()
        people = People.of(dataset.users.get(user, {}) for user in known)
        if not people.numbers:
            raise RecommenderError(
                f"{self.key}: user_attributes=true, but dataset {dataset.name!r} has no attributes "
                f"of users; leave it out, or use data that have them, such as ml-100k or ml-1m",
            )
        return people

    def build(self, training: Training) -> Network:
        return Machine(training, self)


@dataclass(eq=False)
class DeepFM(FM):
    """DeepFM (Guo et al., IJCAI 2017): a factorisation machine and layers over the same
    vectors.

    The score is the sum of both (their equation 1). The layers read the vectors of the
    fields side by side: the mean of the history, the item, the mean of its genres, and
    with `user_attributes` the mean of these. It learns at a higher rate, with which it
    needs fewer epochs and ranks better. Everything else is as in `FM`.

    It has three layers as in the paper, but narrower than the paper's 400: here the
    whole catalogue is ranked, not a few advertisements. ``deepfm?width=400`` has the
    paper's width.
    """

    key: ClassVar[str] = "deepfm"
    least: ClassVar[Mapping[str, int]] = {**FM.least, "layers": 1, "width": 1}

    rate: float = 1e-2
    layers: int = 3  # number of hidden layers
    width: int = 64  # units per layer
    dropout: float = 0.2  # share of the units that a training step leaves out

    def build(self, training: Training) -> Network:
        return DeepMachine(training, self)


@dataclass(frozen=True)
class Field:
    """The active features of one field, each times its value."""

    vector: Tensor  # their sum, shape (..., dim)
    own: Tensor  # their weights, and products of pairs, summed; shape (...)

    @classmethod
    def mean(cls, columns: Tensor, weight: Tensor) -> Field:
        """The features in the last dimension of `columns`
        except `PAD`, each 1 / their number.
        """
        known = columns != PAD
        count = known.sum(-1)
        share = (1 / count.clamp(min=1).to(weight.dtype))[..., None].expand(
            known.shape,
        )[known]
        starts = functional.pad(count.flatten().cumsum(0), (1, 0))[:-1]

        def summed(values: Tensor, shares: Tensor) -> Tensor:
            bags = functional.embedding_bag(
                columns[known],
                values,
                starts,
                mode="sum",
                per_sample_weights=shares,
            )
            return bags.view(*count.shape, -1)

        found = summed(weight, share)
        vector = found[..., :-1]
        # Rendle 2010, lemma 3.1: the pairs in linear time.
        squares = summed(weight[:, :-1].square().sum(1, keepdim=True), share.square())[
            ...,
            0,
        ]
        return cls(vector, found[..., -1] + (vector.square().sum(-1) - squares) / 2)

    @classmethod
    def joined(cls, fields: Sequence[Field]) -> Field:
        """The features of all of `fields`, which have one shape, as one field."""
        first, *others = fields
        for field in others:
            pairs = (first.vector * field.vector).sum(-1)
            first = cls(first.vector + field.vector, first.own + field.own + pairs)
        return first


class Machine(Network):
    """The factorisation machine.

    Training runs in float32. Answers are summed in float64, so that the order of a sum,
    which depends on the shape of a batch, has an effect far below the rounding.
    """

    genres_of: Tensor
    people: nn.Parameter | None

    def __init__(self, training: Training, model: FM) -> None:
        super().__init__()
        items, dim = training.items, model.dim
        self.length = model.length or LONGEST
        self.negatives = model.negatives
        genres_of, count = numbered(
            [list(dict.fromkeys(_values(item))) for item in items],
        )
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
        self,
        training: Training,
        size: int,
        rng: np.random.Generator,
    ) -> Batches:
        """Histories, the chosen item and items not chosen
        after each, and features of users.
        """
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
        return functional.binary_cross_entropy_with_logits(logits, labels)

    def score(self, columns: Tensor) -> Tensor:
        """Scores of the whole catalogue for histories of users without attributes."""
        return self.answer(columns, None)

    def answer(
        self,
        columns: Tensor,
        people: Tensor | None,
        candidates: Tensor | None = None,
    ) -> Tensor:
        asking = self.asking(columns, people, torch.float64)
        return (
            self.every(asking) if candidates is None else self.some(asking, candidates)
        )

    def every(self, asking: Sequence[Field]) -> Tensor:
        """Scores of the whole catalogue, shape (n, items)."""
        before = Field.joined(asking)
        item, genres = self.sides(
            torch.arange(len(self.items), device=self.device),
            before.own.dtype,
        )
        own = item.own + genres.own + (item.vector * genres.vector).sum(-1)
        together = before.vector @ (item.vector + genres.vector).T
        return self.bias.to(own.dtype) + before.own[:, None] + own + together

    def some(self, asking: Sequence[Field], candidates: Tensor) -> Tensor:
        """Scores of some items, shape (n, c)."""
        return self.every(asking).gather(1, candidates)

    def asking(
        self,
        columns: Tensor,
        people: Tensor | None,
        dtype: torch.dtype,
    ) -> tuple[Field, ...]:
        """The fields of the asking side: of the histories,
        and of the users if they are read.
        """
        history = Field.mean(columns, self.history.to(dtype))
        if self.people is None:
            return (history,)
        if people is None:
            people = columns.new_full((len(columns), 1), PAD)
        return history, Field.mean(people, self.people.to(dtype))

    def sides(self, columns: Tensor, dtype: torch.dtype) -> tuple[Field, Field]:
        """The fields of items, of any shape, and of their genres."""
        found = rows(columns, self.items.to(dtype))  # the weight follows each vector
        item = Field(found[..., :-1], found[..., -1])
        return item, Field.mean(self.genres_of[columns], self.genres.to(dtype))

    def _logits(self, asking: Sequence[Field], shown: Tensor) -> Tensor:
        return self.pairs(asking, *self.sides(shown, asking[0].own.dtype))

    def pairs(self, asking: Sequence[Field], item: Field, genres: Field) -> Tensor:
        """Scores of pairs of the asking side, one per row, and items of shape (n, c),
        or (c,) for all rows; shape (n, c).
        """
        before = Field.joined(asking)
        user = before.vector[:, None, :]
        across = (user * (item.vector + genres.vector)).sum(-1)
        within = item.own + genres.own + (item.vector * genres.vector).sum(-1)
        return self.bias.to(user.dtype) + before.own[:, None] + within + across


class DeepMachine(Machine):
    """The factorisation machine with further layers."""

    selects: ClassVar[bool] = True

    def __init__(self, training: Training, model: DeepFM) -> None:
        super().__init__(training, model)
        self.dropout = model.dropout
        # One matrix per field: its result for an item is computed once for all
        # histories.
        fields = 3 if self.people is None else 4
        self.first = nn.ModuleList(
            nn.Linear(model.dim, model.width, bias=field == 0)
            for field in range(fields)
        )
        further = (nn.Linear(model.width, model.width) for _ in range(model.layers - 1))
        self.further = nn.ModuleList(further)
        self.last = nn.Linear(model.width, 1, bias=False)

    def preview(self, columns: Tensor, people: Tensor | None) -> Tensor:
        """Scores of the whole catalogue in float32, in half the time."""
        return self.every(self.asking(columns, people, torch.float32))

    def every(self, asking: Sequence[Field]) -> Tensor:
        """Scores of the whole catalogue, shape (n, items), some items at a time."""
        wide = super().every(asking)
        every = torch.arange(len(self.items), device=self.device)
        step = max(1, PAIRS // len(asking[0].own))
        deep = [
            self._deep(asking, *self.sides(part, asking[0].own.dtype))
            for part in torch.split(every, step)
        ]
        return wide + torch.cat(deep, 1)

    def some(self, asking: Sequence[Field], candidates: Tensor) -> Tensor:
        return self._logits(asking, candidates)

    def pairs(self, asking: Sequence[Field], item: Field, genres: Field) -> Tensor:
        return super().pairs(asking, item, genres) + self._deep(asking, item, genres)

    def _deep(self, asking: Sequence[Field], item: Field, genres: Field) -> Tensor:
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
        if not self.training:
            return hidden.relu_()
        return dropped(hidden.relu(), self.dropout)

    @staticmethod
    def _through(layer: nn.Module, values: Tensor) -> Tensor:
        assert isinstance(layer, nn.Linear)
        bias = None if layer.bias is None else layer.bias.to(values.dtype)
        return functional.linear(values, layer.weight.to(values.dtype), bias)


def _values(item: Item) -> list[str]:
    found = [item.attributes.get(name, ()) for name in GENRES]
    return [
        value
        for each in found
        for value in ([each] if isinstance(each, str) else map(str, each))
    ]
