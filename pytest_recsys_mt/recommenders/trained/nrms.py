"""NRMS: news, or films, by the words of their titles."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from pytest_recsys_mt.recommenders.scoring import Ints
from pytest_recsys_mt.recommenders.trained.base import TrainedRecommender
from pytest_recsys_mt.recommenders.trained.data import PAD, Training, numbered
from pytest_recsys_mt.recommenders.trained.losses import Batches, sampled_cross_entropy
from pytest_recsys_mt.recommenders.trained.network import (
    Network,
    dropped,
    embed,
    embedding,
    rows,
    shuffled,
)
from pytest_recsys_mt.recommenders.trained.trainer import LONGEST
from pytest_recsys_mt.requests import Item

TOGETHER = 512
"""Titles encoded at once."""


@dataclass(eq=False)
class NRMS(TrainedRecommender):
    """Neural news recommendation with multi-head self-attention (Wu et al., EMNLP
    2019).

    A title's words attend to one another and are pooled into the item's vector; the
    vectors of the history attend to one another and are pooled into the user's; the
    score is their product. An item without interactions is read like any other.
    Training distinguishes each item that a user chose, after the earlier ones, from
    others drawn uniformly. (The paper draws those from the same impression, which only
    data of impressions have.) Up to `targets` choices in a row share one history, as
    the clicks of one impression do; a step learns from `batch` histories. Word vectors
    are learned, not pretrained.

    Neither ratings nor, within the latest `length` items, the order of a history are
    read: as in the paper, there are no positions. A title is read without its year, in
    lower case; an item without a title is read by its id.

    The paper's sizes (16 heads, 300 numbers a word, 200 hidden, histories of 50) are
    for a GPU and millions of clicks; these train on a CPU in minutes.
    """

    key: ClassVar[str] = "nrms"
    ordered: ClassVar[bool] = False
    least: ClassVar[Mapping[str, int]] = dict.fromkeys(
        ("heads", "words", "query", "title", "negatives", "targets"),
        1,
    )

    length: int = 20
    rate: float = 4e-3
    heads: int = 4  # of ``dim / heads`` numbers each
    words: int = 64  # size of the word vectors
    query: int = 64  # size of the hidden layer that weighs words, and items
    title: int = 20  # first words of a title that are read
    negatives: int = 4  # items not chosen per chosen item
    targets: int = 5  # chosen items in a row that are learned from one history
    # Share of word and item vectors that a training step leaves out.
    dropout: float = 0.2

    @property
    def promises(self) -> tuple[str, ...]:
        """Its further promises: an item is the words of its title."""
        return (*super().promises, "titles")

    def build(self, training: Training) -> Network:
        return _Encoders(training.items, self)


class _Encoder(nn.Module):
    """Multi-head self-attention and additive attention: many vectors become one
    (section 2.1).

    Equation 1 weighs a pair of vectors with one matrix per head. Here it is the product
    of two narrower ones, scaled, as is usual since Vaswani et al. (2017).
    """

    def __init__(self, size: int, dim: int, heads: int, query: int) -> None:
        super().__init__()
        self.heads = heads
        self.mixed = nn.Linear(size, 3 * dim, bias=False)
        self.hidden = nn.Linear(dim, query)
        self.query = nn.Linear(query, 1, bias=False)

    def forward(self, vectors: Tensor, known: Tensor, dropout: float) -> Tensor:
        """One vector per row of (n, width, size), zeros if
        nothing in the row is `known`, (n, width).
        """
        count, width, _ = vectors.shape
        parts = (
            self.mixed(vectors)
            .view(count, width, 3, self.heads, -1)
            .permute(2, 0, 3, 1, 4)
        )
        query, key, value = parts.unbind(0)
        affinity = query @ key.mT / query.shape[-1] ** 0.5
        weights = affinity.masked_fill(~known[:, None, None, :], -1e9).softmax(-1)
        found = (weights @ value).transpose(1, 2).reshape(count, width, -1)
        if self.training:
            found = dropped(found, dropout)
        # Equations 3 to 5.
        weight = self.query(self.hidden(found).tanh()).squeeze(-1)
        share = weight.masked_fill(~known, -1e9).softmax(-1) * known
        pooled: Tensor = (share[:, None] @ found).squeeze(1)
        return pooled


class _Encoders(Network):
    words_of: Tensor
    lengths: Tensor
    vectors: Tensor

    def __init__(self, items: Sequence[Item], settings: NRMS) -> None:
        super().__init__()
        self.length = settings.length or LONGEST
        self.negatives = settings.negatives
        self.targets = settings.targets
        self.dropout = settings.dropout
        words_of, count = numbered([words(item)[: settings.title] for item in items])
        self.register_buffer("words_of", torch.from_numpy(words_of), persistent=False)
        self.register_buffer("lengths", (self.words_of != PAD).sum(1), persistent=False)
        self.register_buffer("vectors", torch.zeros(len(items), settings.dim))
        self.words = embedding(count, settings.words, deviation=0.1)
        self.titles = _Encoder(
            settings.words,
            settings.dim,
            settings.heads,
            settings.query,
        )
        self.histories = _Encoder(
            settings.dim,
            settings.dim,
            settings.heads,
            settings.query,
        )

    def batches(
        self,
        training: Training,
        size: int,
        rng: np.random.Generator,
    ) -> Batches:
        begins, ends = _stretches(training, self.targets, rng)
        for drawn in shuffled(len(begins), size, rng):
            first, end = begins[drawn], ends[drawn]
            which = np.repeat(np.arange(len(drawn)), end - first)
            chosen = np.concatenate(list(map(np.arange, first, end)))
            others = training.negatives(training.owners[chosen], self.negatives, rng)
            history = training.items_at(training.preceding(first, self.length))
            shown = np.concatenate([training.columns[chosen, None], others], axis=1)
            batch = (history, shown, which)
            yield tuple(map(torch.from_numpy, batch))

    def loss(self, *batch: Tensor) -> Tensor:
        # Histories; chosen items, each before its negatives; the history of each.
        columns, shown, which = batch
        # Each title of the batch is read once.
        everything = torch.cat([columns.flatten(), shown.flatten()])
        items, places = torch.unique(everything.clamp(min=0), return_inverse=True)
        vectors = self._encode(items)
        before, offered = places.split([columns.numel(), shown.numel()])
        known = columns != PAD
        history = rows(before.view(columns.shape), vectors)
        users = self.histories(history, known, self.dropout)
        found = rows(offered.view(shown.shape), vectors)
        scores = (found @ users[which][:, :, None]).squeeze(-1)
        return sampled_cross_entropy(scores[:, 0], scores[:, 1:])

    @torch.no_grad()
    def freeze(self, training: Training) -> None:
        self.eval()
        self.vectors.copy_(
            self._encode(torch.arange(len(self.vectors), device=self.device)),
        )

    def score(self, columns: Tensor) -> Tensor:
        users: Tensor = self.histories(
            embed(columns, self.vectors),
            columns != PAD,
            0.0,
        )
        return users.double() @ self.vectors.double().T

    def _encode(self, items: Tensor) -> Tensor:
        # Group titles by length: most have a few words, and the longest has many.
        lengths = self.lengths[items]
        order = torch.argsort(lengths, stable=True)
        parts: list[Tensor] = []
        for part in torch.split(order, TOGETHER):
            table = self.words_of[items[part], : int(lengths[part[-1]])]
            vectors = embed(table, self.words)
            if self.training:
                vectors = dropped(vectors, self.dropout)
            parts.append(self.titles(vectors, table != PAD, self.dropout))
        return torch.cat(parts)[torch.argsort(order)]


def _stretches(
    training: Training,
    targets: int,
    rng: np.random.Generator,
) -> tuple[Ints, Ints]:
    """The rows at which stretches of at most `targets` interactions of one user begin,
    and those behind their ends.

    Each interaction but a user's first is in one stretch. The first stretch of a user
    has a drawn length, so that an interaction has another history in another epoch.
    """
    places = np.arange(len(training)) - training.starts[training.owners]
    first = rng.integers(targets, size=training.users)[training.owners]
    is_next = (places > 1) & ((places - 1 - first) % targets == 0)
    # An empty history scores everything 0 with any weights: there is nothing to learn
    # from a user's first interaction.
    begins = np.flatnonzero((places == 1) | is_next)
    ends = training.starts[training.owners[begins] + 1]
    ends[:-1] = np.minimum(ends[:-1], begins[1:])
    return begins, ends


def words(item: Item) -> list[str]:
    """The words of an item: of its title in lower case, or of its id without a title."""
    return re.findall(r"\w+", item.title.casefold()) or [item.id]
