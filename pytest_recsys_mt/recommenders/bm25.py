"""BM25 over the texts of the items."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array

from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.recommenders.scoring import (
    Floats,
    ScoringRecommender,
    Sparse,
    Weights,
    settle,
)
from pytest_recsys_mt.requests import Item, Request, specs

WORD = re.compile(r"\w+")


def terms(item: Item) -> Iterator[str]:
    """The terms of an item's document.

    They are words of the title and of text attributes (``logline``). Attributes that
    are lists of names (``genres``, ``cast``) give whole names, marked with the
    attribute, so that a director does not match an actor, nor John Ford John Wayne.
    Numbers and images give no terms.
    """
    yield from WORD.findall(item.title.casefold())
    for key, value in item.attributes.items():
        if key == "image":
            continue
        if isinstance(value, str):
            yield from WORD.findall(value.casefold())
        elif isinstance(value, list | tuple):
            yield from (
                f"{key}:{name.casefold()}" for name in value if isinstance(name, str)
            )


@dataclass(eq=False)
class BM25(ScoringRecommender):
    r"""Okapi BM25: items whose documents match those of the history.

    Every history item is a query of its distinct terms, weighted by its rating; an item
    scores

    .. math:: \sum_i w_i \sum_{t \in d_i} \ln\Bigl(1 + \frac{N - n_t + .5}{n_t +
              .5}\Bigr) \frac{f_{tj} (k_1 + 1)}{f_{tj} + k_1 (1 - b + b |d_j| /
              \overline{|d|})}

    (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond",
    FnTIR 2009, section 3, with the 1 that keeps the weight of a very frequent term
    positive, as in Lucene).
    """

    key: ClassVar[str] = "bm25"

    k1: float = 1.5  # saturation of term frequency, 0 or more
    b: float = 0.75  # normalisation by document length, from 0 (none) to 1
    weights: Weights = "ratings"  # or ``binary`` to ignore ratings

    def __post_init__(self) -> None:
        specs.check(self.key, *specs.at_least(0, self, "k1"))
        specs.check(self.key, ("b", self.b, 0 <= self.b <= 1, "from 0 to 1"))

    def learn(self, dataset: Dataset, seed: int) -> None:
        """Count the terms of the catalogue's documents; interactions only break ties."""
        counts = _counts([dataset.items[item] for item in self.catalogue.ids])
        rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
        lengths = np.bincount(rows, weights=counts.data, minlength=counts.shape[0])
        spread = np.bincount(counts.indices, minlength=counts.shape[1])
        rarity = np.log1p((counts.shape[0] - spread + 0.5) / (spread + 0.5))
        pivot = 1 - self.b + self.b * lengths / max(lengths.mean(), 1.0)
        weights = counts.data * (self.k1 + 1) / (counts.data + self.k1 * pivot[rows])
        weights *= rarity[counts.indices]
        self._queries = csr_array(
            (np.ones_like(counts.data), counts.indices, counts.indptr),
            counts.shape,
        )
        self._index = csr_array(
            (weights, counts.indices, counts.indptr),
            counts.shape,
        ).T.tocsr()

    def score(self, requests: Sequence[Request]) -> Floats:
        queries = self.catalogue.profiles(requests, self.weights) @ self._queries
        return settle((queries @ self._index).toarray())


def _counts(items: Sequence[Item]) -> Sparse:
    documents = [Counter(terms(item)) for item in items]
    column = {term: place for place, term in enumerate(sorted(set().union(*documents)))}
    rows = np.repeat(np.arange(len(items)), [len(document) for document in documents])
    columns = [column[term] for document in documents for term in document]
    data = [float(count) for document in documents for count in document.values()]
    counts = csr_array((data, (rows, columns)), (len(items), len(column)))
    counts.sort_indices()
    return counts
