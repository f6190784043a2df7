"""Common code of recommenders that score a catalogue: profiles of requests, ranking by
score.

Equal scores are ordered by training popularity, then by item id. The user's name, the
order of a history and the other requests of a batch never affect an answer, to the last
bit.
"""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array

from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.requests import Aspect, Recommendation, Request
from pytest_recsys_mt.safety.errors import RecommenderError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# A text, because only types of SciPy from 1.16 on can be indexed when a program runs.
Sparse: TypeAlias = "csr_array[np.float64]"

BLOCK_CELLS = 2**22
"""Cells of the largest block of scores in memory: 32 MiB of float64."""

DECIMALS = 10
"""Scores that differ only by rounding errors must tie, or
the order of a sum decides a ranking.
"""


def settle(values: Floats) -> Floats:
    """`values` rounded to `DECIMALS`, so that mathematically equal values are equal."""
    return np.round(values, DECIMALS)


def block_rows(columns: int) -> int:
    """How many rows of `columns` cells fit into `BLOCK_CELLS`; at least one."""
    return max(1, BLOCK_CELLS // max(1, columns))


def largest(scores: Floats, k: int) -> tuple[Ints, Ints, Floats]:
    """The entries of a dense block that are among the `k` largest of their row; never
    -inf.

    Args:
        scores: The block, ``(rows, columns)``.
        k: How many entries of each row to choose at most; at least 1.

    Returns:
        Rows, columns and values, each ``(entries,)``, sorted by row, then value
        (descending), then column.
    """
    bars = _kth_largest(scores, k)
    # Row by row, and in each row from the left, as `_choose` needs them.
    rows, columns = np.nonzero(scores >= bars[:, None])
    values = scores[rows, columns]
    rows, columns, values = _choose(rows, columns, values, bars, k)
    finite = values > -np.inf
    return rows[finite], columns[finite], values[finite]


def keep_largest(matrix: Sparse, k: int) -> Sparse:
    """`matrix` without the stored entries that are not among the `k` largest of their
    row.

    Args:
        matrix: Any sparse matrix, ``(rows, columns)``.
        k: How many stored entries of each row to keep at most; at least 1.

    Returns:
        A matrix of the same shape, whose column numbers are sorted in each row.
    """
    stored_by_row = np.split(matrix.data, matrix.indptr[1:-1])
    bars = _kth_largest(stored_by_row, k)
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))

    # Sorting the entries that reach the bar is cheap; sorting the whole matrix is not.
    reaching = np.flatnonzero(matrix.data >= bars[rows])
    by_row_and_column = np.lexsort((matrix.indices[reaching], rows[reaching]))
    reaching = reaching[by_row_and_column]

    columns = matrix.indices[reaching].astype(np.int64)
    values = matrix.data[reaching]
    rows, columns, values = _choose(rows[reaching], columns, values, bars, k)
    kept = csr_array((values, (rows, columns)), shape=matrix.shape)
    kept.sort_indices()
    return kept


def _kth_largest(rows: Iterable[Floats], k: int) -> Floats:
    """The bar of each row, ``(rows,)``: its `k`-th largest
    value; -inf if it has no more than `k` values.
    """
    bars = []
    for row in rows:
        has_more = row.size > k
        bars.append(np.partition(row, -k)[-k] if has_more else -np.inf)
    return np.array(bars)


def _choose(
    rows: Ints,
    columns: Ints,
    values: Floats,
    bars: Floats,
    k: int,
) -> tuple[Ints, Ints, Floats]:
    """The `k` largest entries of each row, of those that reach its bar; of entries at
    the bar, the leftmost.

    Args:
        rows: Of each entry, sorted.
        columns: Of each entry, ``(entries,)``, sorted within each row.
        values: Of each entry, none below the bar of its row.
        bars: The `k`-th largest value of each row, ``(number of rows,)``.
        k: How many entries of each row to choose at most.

    Returns:
        Rows, columns and values, sorted by row, then value (descending), then column.
    """
    bar_of_entry = bars[rows]
    above = np.flatnonzero(values > bar_of_entry)
    at_bar = np.flatnonzero(values == bar_of_entry)

    # All entries above the bar are chosen; those at it tie, and share the places that
    # are left.
    places_left = k - np.bincount(rows[above], minlength=bars.size)
    rows_at_bar = rows[at_bar]
    first_of_row = np.searchsorted(rows_at_bar, rows_at_bar)
    rank_in_row = np.arange(at_bar.size) - first_of_row
    still_fits = rank_in_row < places_left[rows_at_bar]

    chosen = np.concatenate([above, at_bar[still_fits]])
    order = np.lexsort((columns[chosen], -values[chosen], rows[chosen]))
    chosen = chosen[order]
    return rows[chosen], columns[chosen], values[chosen]


Weights = Literal["ratings", "binary"]
"""The weight of an interaction: by its rating, or 1."""

LEAST_WEIGHT = 0.1
"""Weight of a rating at the low anchor. It is above 0, so that a history with only low
ratings still shows the chosen items, and gets an answer.
"""


def weigh(units: Floats, weights: Weights) -> Floats:
    """Weights of ratings given as shares of their scale, from `LEAST_WEIGHT` to 1.

    Shares are rounded to nine decimals first, so the same rating on another scale has
    the same weight to the last bit. A rating outside the scale counts as its nearer
    end.
    """
    if weights == "binary":
        return np.ones_like(units)
    shares = np.clip(np.round(units, 9), 0.0, 1.0)
    return LEAST_WEIGHT + (1 - LEAST_WEIGHT) * shares


@dataclass(frozen=True)
class Catalogue:
    """The items that a recommender knows, as columns, in the order that resolves ties."""

    ids: tuple[
        str,
        ...,
    ]  # by column: the most popular first, equally popular ones by id
    popularity: Ints  # training interactions by column

    @classmethod
    def of(cls, dataset: Dataset) -> Catalogue:
        """The catalogue of a dataset."""
        counts = dataset.popularity
        ids = tuple(sorted(dataset.items, key=lambda item: (-counts[item], item)))
        return cls(ids, np.array([counts[item] for item in ids], dtype=np.int64))

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def column(self) -> Mapping[str, int]:
        """Columns by item id."""
        return {item: column for column, item in enumerate(self.ids)}

    def interactions(self, dataset: Dataset, weights: Weights) -> Sparse:
        """Weights of the dataset's interactions: users (sorted
        by name) in rows, items in columns.
        """
        frame = dataset.interactions
        users, names = frame["user"].factorize(sort=True)
        # Millions of rows name few items; an item that is missing fails here, not as
        # the last one.
        codes, items = pd.factorize(frame["item"], use_na_sentinel=False)
        columns = pd.Index(items).map(self.column).to_numpy(dtype=np.int32)[codes]
        scale = dataset.scale
        units = (frame["rating"].to_numpy(dtype=np.float64) - scale.low) / (
            scale.high - scale.low
        )
        cells = (
            users.astype(np.int32),
            columns,
        )  # products with indices of 64 bits are slower
        matrix = csr_array((weigh(units, weights), cells), (len(names), len(self)))
        matrix.sort_indices()
        return matrix

    def profiles(self, requests: Sequence[Request], weights: Weights) -> Sparse:
        """Weights of the requests' histories: requests in rows,
        items in columns, which are sorted.
        """
        units: list[float] = []
        columns: list[int] = []
        starts = [0]
        for request in requests:
            known = {
                self.column[rating.item.id]: request.scale.unit(rating.value)
                for rating in request.history
                if rating.item.id in self.column
            }
            columns += sorted(known)
            units += [known[column] for column in sorted(known)]
            starts.append(len(columns))
        data = weigh(np.array(units, dtype=np.float64), weights)
        return csr_array((data, columns, starts), shape=(len(requests), len(self)))


@dataclass(eq=False)
class ScoringRecommender(ABC):
    """Base of recommenders that score every item of the catalogue for a request.

    Subclasses are dataclasses: their fields are the parameters that a spec can set.
    """

    key: ClassVar[str]
    """Name in specs. The registry reads it in the source, as the line ``key:
    ClassVar[str] = "itemknn"``.
    """
    deterministic: ClassVar[bool] = True
    reads_text: ClassVar[bool] = False

    @property
    def ignores(self) -> tuple[Aspect, ...]:
        """Ratings, unless it has `weights` that follow them:
        most models learn from the chosen items.
        """
        return () if getattr(self, "weights", "binary") == "ratings" else ("ratings",)

    def fit(self, dataset: Dataset, seed: int) -> None:
        """Learn from the training interactions; `seed` is that of all draws while
        fitting or answering.

        Raises:
            RecommenderError: If a rating is not a finite number; one would spoil all
                sums it is in.
        """
        frame = dataset.interactions
        wrong = ~np.isfinite(frame["rating"].to_numpy(dtype=np.float64))
        if wrong.any():
            row = frame.iloc[int(wrong.argmax())]
            raise RecommenderError(
                f"{self.name!r} cannot learn from {int(wrong.sum())} ratings that are not finite numbers; "
                f"the first is {float(row['rating'])!r}, of user {row['user']!r} for item "
                f"{row['item']!r}; remove these rows",
            )
        self._catalogue = Catalogue.of(dataset)
        self.learn(dataset, seed)

    @abstractmethod
    def learn(self, dataset: Dataset, seed: int) -> None:
        """Learn what `score` needs; `catalogue` exists already."""

    @abstractmethod
    def score(self, requests: Sequence[Request]) -> Floats:
        """Scores of shape (requests, items), higher is better,
        items in the catalogue's columns.
        """

    @property
    def catalogue(self) -> Catalogue:
        """The items this recommender was fitted on."""
        try:
            return self._catalogue
        except AttributeError:
            raise RecommenderError(
                f"{self.name!r} is asked before it is fitted; call fit(dataset, seed) first",
            ) from None

    @property
    def promises(self) -> tuple[str, ...]:
        """Its further promises: to use ratings,
        if it weighs them, and not their unit.
        """
        return (
            ("ratings", "scale")
            if getattr(self, "weights", "") == "ratings"
            else ("scale",)
        )

    @property
    def name(self) -> str:
        """The spec that builds this recommender: ``itemknn?neighbours=10``."""
        changed = [
            f"{field.name}={getattr(self, field.name)}"
            for field in dataclasses.fields(self)
            if getattr(self, field.name) != field.default
        ]
        return "?".join(filter(None, [self.key, "&".join(changed)]))

    def recommend(self, requests: Sequence[Request], /) -> list[Recommendation]:
        """The answers to `requests`, in their order; only
        a block of scores is in memory.
        """
        size = block_rows(len(self.catalogue))
        answers: list[Recommendation] = []
        for start in range(0, len(requests), size):
            answers += self._answer(requests[start : start + size])
        return answers

    def _answer(self, requests: Sequence[Request]) -> list[Recommendation]:
        scores = self._scores(requests)
        open_ = [
            row for row, request in enumerate(requests) if request.candidates is None
        ]
        unseen = self._rank_unseen(open_, requests, scores)
        return [
            _recommendation(
                request,
                unseen[row]
                if request.candidates is None
                else self._rank(request, scores[row]),
            )
            for row, request in enumerate(requests)
        ]

    def _scores(self, requests: Sequence[Request]) -> Floats:
        return self.score(requests)

    def _rank(self, request: Request, scores: Floats) -> list[str]:
        column = self.catalogue.column
        offered = {item.id for item in request.candidates or ()}
        # Not `offered - column.keys()`, which iterates over the catalogue.
        unknown = sorted(item for item in offered if item not in column)
        known = np.array(
            sorted(column[item] for item in offered if item in column),
            dtype=np.int64,
        )
        best = known[np.argsort(-scores[known], kind="stable")]
        return ([self.catalogue.ids[item] for item in best[: request.k]] + unknown)[
            : request.k
        ]

    def _rank_unseen(
        self,
        rows: list[int],
        requests: Sequence[Request],
        scores: Floats,
    ) -> dict[int, list[str]]:
        if not rows:
            return {}
        column, ids = self.catalogue.column, self.catalogue.ids
        unseen = scores[rows]
        for place, row in enumerate(rows):
            known = requests[row].known
            unseen[place, [column[item] for item in known if item in column]] = -np.inf
        ranked: dict[int, list[str]] = {row: [] for row in rows}
        places, columns, _ = largest(unseen, max(requests[row].k for row in rows))
        for place, item in zip(places.tolist(), columns.tolist(), strict=True):
            ranked[rows[place]].append(ids[item])
        return {row: items[: requests[row].k] for row, items in ranked.items()}


def _recommendation(request: Request, items: list[str]) -> Recommendation:
    for rating in request.history:
        if not math.isfinite(rating.value):
            return Recommendation(
                (),
                error=f"rating {rating.value!r} of item {rating.item.id!r} is not a finite number",
            )
    if not items:
        return Recommendation((), error="the request leaves nothing to recommend")
    return Recommendation(tuple(items))
