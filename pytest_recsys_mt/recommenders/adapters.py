"""Bases of adapters to libraries of recommenders, with the parts that all adapters
share.

An adapter is a dataclass with two methods: `learn` hands the training data to the
library, and `score` returns the library's scores of all items for the histories of
requests, shape (requests, items), items in the columns of `self.catalogue.ids`; an item
without a score has ``-inf``. The base does the rest, by the rules of
`pytest_recsys_mt.recommenders.scoring`: it ranks the candidates, or the items that
the user is not known to have; equal scores are ordered by popularity and item id, never
by the order of the candidates; a rating is read on the scale of its request; an item
that a history repeats counts once, with its last rating, unless the library counts.

`Adapter` is for models that answer for any history. `StoredUsers` is for models that
know only the users that they were fitted to.
"""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.recommenders.scoring import (
    Catalogue,
    Floats,
    ScoringRecommender,
    Sparse,
    weigh,
)
from pytest_recsys_mt.requests import Aspect, Promised, Recommendation, Request
from pytest_recsys_mt.requests.design import Design
from pytest_recsys_mt.safety.errors import NotApplicable, RecommenderError

__all__ = ["Adapter", "StoredUsers"]

SAME = 1e-6
"""Two ratings are the same if they differ by less than this share of their scale:
rounding is no other history.
"""


@dataclass(eq=False)
class Adapter(ScoringRecommender):
    """Base of adapters to models that answer for the history in a request.

    Nothing is promised, nothing is taken to be unread, and answers may differ from call
    to call, because only the library knows; set ``promises``, ``ignores``,
    ``reads_latest`` and ``deterministic`` where its documentation says so. Training
    data are handed on as they are, invalid ratings included.

    Attributes:
        counts: Whether the library reads a history as counts: then an item that it
            repeats is the sum of its ratings, as in a table that is built from all
            interactions.
    """

    key: ClassVar[str] = ""
    counts: ClassVar[bool] = False
    _looked = False
    deterministic: ClassVar[bool] = False
    # A plain attribute here, which the base derives from `weights`.
    ignores: ClassVar[tuple[Aspect, ...]] = ()  # pyright: ignore
    promises: ClassVar[tuple[Promised, ...]] = ()  # pyright: ignore
    reads_latest: ClassVar[int | None] = None

    def fit(self, dataset: Dataset, seed: int) -> None:
        """Learn from the training interactions, in the order of their rows."""
        self._catalogue, self._scale = Catalogue.of(dataset), dataset.scale
        self.learn(dataset, seed)

    def history(self, request: Request) -> dict[str, float]:
        """The ratings of a request by item, on the scale of the training data, oldest
        first.

        An item that is repeated stands where it was last. Items outside the catalogue
        are left out.
        """
        low, high = self._scale.low, self._scale.high
        found: dict[str, float] = {}
        for rating in request.history:
            if rating.item.id in self.catalogue.column:
                value = low + (high - low) * round(request.scale.unit(rating.value), 9)
                before = found.pop(rating.item.id, 0.0)
                found[rating.item.id] = value + before * self.counts
        return found

    def profiles(self, requests: Sequence[Request]) -> Sparse:
        """Weights of the requests' histories: requests in rows, items in the columns of
        the catalogue.

        They are the weights of `Catalogue.interactions`, from `LEAST_WEIGHT` for the
        lowest rating to 1.
        """
        if not self.counts:
            return self.catalogue.profiles(requests, "ratings")
        entries = [
            (
                row,
                self.catalogue.column[rating.item.id],
                request.scale.unit(rating.value),
            )
            for row, request in enumerate(requests)
            for rating in request.history
            if rating.item.id in self.catalogue.column
        ]
        rows, columns, units = np.array(entries, dtype=np.float64).reshape(-1, 3).T
        return csr_array(  # adds up entries of one place
            (
                weigh(units, "ratings"),
                (rows.astype(np.int64), columns.astype(np.int64)),
            ),
            (len(requests), len(self.catalogue)),
        )

    def _scores(self, requests: Sequence[Request]) -> Floats:
        given: Any = self.score(requests)
        table = np.asarray(given.toarray() if hasattr(given, "toarray") else given)
        shape = len(requests), len(self.catalogue)
        if table.dtype.kind not in "biuf" or table.shape != shape:
            raise RecommenderError(
                f"{self.name}: score() returned {type(given).__name__} of shape {table.shape} and type "
                f"{table.dtype} for {shape[0]} requests; return numbers of shape {shape}: a row for each "
                f"request, a column for each of self.catalogue.ids",
            )
        table = table.astype(np.float64, copy=False)
        rows, columns = np.nonzero(np.isnan(table))
        if rows.size:
            raise RecommenderError(
                f"{self.name}: {rows.size} of the {table.size} scores that score() returned are NaN, the first "
                f"for user {requests[rows[0]].user!r} and item {self.catalogue.ids[columns[0]]!r}; if an item "
                f"has no score, return -inf",
            )
        has_history = [bool(request.history) for request in requests]
        if sum(has_history) > 1 and not self._looked:
            self._looked = True
            self._warn_if_nobody_is_known(requests[0], table[has_history])
        return table

    def _warn_if_nobody_is_known(self, request: Request, scores: Floats) -> None:
        if (scores == scores[:, :1]).all():
            warnings.warn(
                f"{self.name}: score() returned one and the same number for all {len(self.catalogue)} items, for each of "
                f"{len(scores)} requests, so the most popular items are recommended. Does the model know these "
                f"users and items? Their ids are text in the data: {request.user!r}, {self.catalogue.ids[0]!r}",
                stacklevel=2,
            )

    @property
    def name(self) -> str:
        """The name of the class, or its ``key``, and the
        fields that are not as by default.
        """
        own = super().name
        return own if self.key else "?".join(filter(None, [type(self).__name__, own]))


@dataclass(eq=False)
class StoredUsers(Adapter):
    """Base of adapters to models that answer for a user that they were fitted to,
    with any history of the request.

    A request is served if its history is all that the user's training data hold, or the
    latest ``shown`` of them, in any order. For any other history, such as that of a
    relation that changes it, `NotApplicable` says that the model cannot be asked.

    Attributes:
        shown: Length of the histories in requests; it must be that of
            ``--recsys-history``.
    """

    ignores: ClassVar[tuple[Aspect, ...]] = ("history", "ratings")
    shown: int = field(default=Design().history, kw_only=True)

    def fit(self, dataset: Dataset, seed: int) -> None:
        """Learn, and remember the histories."""
        self._histories: dict[str, dict[str, tuple[float, float]]] = {}
        frame = dataset.interactions
        columns = (
            frame[name].tolist() for name in ("user", "item", "rating", "timestamp")
        )
        for user, item, rating, moment in zip(*columns, strict=True):
            stored = self._histories.setdefault(user, {})
            stored[item] = dataset.scale.unit(rating), moment
        super().fit(dataset, seed)

    def recommend(self, requests: Sequence[Request], /) -> list[Recommendation]:
        """The answers, in the order of the requests.

        Raises:
            NotApplicable: If a user is not stored, or the request's history is another
                than the stored one.
        """
        for request in requests:
            self._require_stored(request)
        return super().recommend(requests)

    def _require_stored(self, request: Request) -> None:
        stored = self._histories.get(request.user)
        if stored is None:
            raise NotApplicable(
                f"{self.name} knows only the users that it was fitted to",
            )
        requested = {
            rating.item.id: request.scale.unit(rating.value)
            for rating in request.history
        }
        # Of ratings of one moment, a request may show any.
        shown = [moment for item, (_, moment) in stored.items() if item in requested]
        hidden = [
            moment for item, (_, moment) in stored.items() if item not in requested
        ]
        if (
            any(
                item not in stored or not abs(stored[item][0] - unit) < SAME
                for item, unit in requested.items()
            )
            or len(requested) not in (min(len(stored), self.shown), len(stored))
            or max(hidden, default=-math.inf) > min(shown, default=math.inf)
        ):
            raise NotApplicable(
                f"{self.name} answers for the history that it was fitted to, all or the latest {self.shown}, "
                f"and this request has another; with --recsys-history=N, say ?shown=N",
            )
