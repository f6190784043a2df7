"""Logs of answered requests, held as arrays: a million requests fit in memory."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pytest_recsys_mt.oracles.arrays import PAD, Floats, Integers
from pytest_recsys_mt.parity.log_rows import Fields, RowReader, place_of, rows_of
from pytest_recsys_mt.safety.errors import DataError
from pytest_recsys_mt.safety.sanitize import one_line

ANSWERS = 2
"""How many answers to one request are read: two show the noise of the recommender."""

MOST_LOST = 0.05
"""The largest share of requests that only one log answers, or that have two users, and
of rows that are not read, at which something is claimed.
"""

EXAMPLES = 3


@dataclass
class Numbers:
    """Numbers for texts, in the order in which they first come."""

    by_text: dict[str, int] = field(default_factory=dict)

    def of(self, text: str) -> int:
        """The number of a text."""
        return self.by_text.setdefault(text, len(self.by_text))

    def __len__(self) -> int:
        return len(self.by_text)


@dataclass
class Log:
    """The answers of one recommender, by the number of their request.

    Attributes:
        path: The file.
        name: What a report calls it; empty for the file.
        rows: How many rows it has.
        row_of: For each answer kept, the number of its row, from 0; by request, then by
            answer; -1 for none.
        user: The user of each request, as the first of its rows names it; -1 for
            requests that the log lacks.
        unreadable: How many rows could not be read.
        examples: Some of them, each with its place and its error.
        further: How many rows are answers beyond `ANSWERS` to a request.
        other_user: How many rows name another user than an earlier row of the same
            request.
        without_user: How many rows name no user: each of their requests counts as a user
            of its own.
        empty_repeats: How many rows have no item, where another row of the same request
            has some: that one counts as the only answer, since a failure is no noise.
        repeats: How many kept lists named an item twice; its first place counts.
        longest: How many items the longest list has.
        reader: What found the fields of its rows, with counts of what it made of them.
    """

    path: Path
    reader: RowReader
    name: str = ""
    rows: int = 0
    row_of: list[array[int]] = field(default_factory=list)
    user: array[int] = field(default_factory=lambda: array("i"))
    unreadable: int = 0
    examples: list[str] = field(default_factory=list)
    further: int = 0
    other_user: int = 0
    without_user: int = 0
    empty_repeats: int = 0
    repeats: int = 0
    longest: int = 0
    _items: array[int] = field(default_factory=lambda: array("i"))
    _scores: array[float] | None = None
    _starts: list[array[int]] = field(default_factory=list)
    _lengths: list[array[int]] = field(default_factory=list)

    def answered(self, answer: int) -> NDArray[np.bool_]:
        """Which requests have the first answer (0), or the second (1),
        ``(requests,)``.
        """
        return self.rows_of(answer) >= 0

    def rows_of(self, answer: int) -> Integers:
        """The number of the row of each request's first answer (0), or second (1),
        ``(requests,)``; -1 for none.
        """
        return np.frombuffer(self.row_of[answer], np.int32).astype(np.int64)

    @property
    def users(self) -> Integers:
        """The number of each request's user, ``(requests,)``."""
        return np.frombuffer(self.user, np.int32).astype(np.int64)

    @property
    def unread(self) -> float:
        """The share of rows that could not be read, or name another user than an earlier
        row of the same request.
        """
        return (self.unreadable + self.other_user) / self.rows

    @cached_property
    def varies(self) -> bool:
        """Whether two answers to one request differ; a row that was only delivered
        twice is no other answer.
        """
        twice = np.flatnonzero(self.answered(1))
        if not len(twice):
            return False
        one, other = (self.lists(answer, twice, self.longest) for answer in range(2))
        return bool((one != other).any())

    @property
    def has_scores(self) -> bool:
        """Whether a row has scores."""
        return self._scores is not None

    @cached_property
    def has_doubles(self) -> bool:
        """Whether it has two answers to a request."""
        return bool(self.answered(1).any())

    @property
    def has_items(self) -> NDArray[np.bool_]:
        """Which requests have an answer that names an item, ``(requests,)``."""
        lengths = [np.frombuffer(each, np.int32) for each in self._lengths]
        named: NDArray[np.bool_] = np.logical_or.reduce([each > 0 for each in lengths])
        return named

    def lists(self, answer: int, requests: Integers, k: int) -> Integers:
        """The first `k` items of an answer to some requests,
        ``(n, k)``, padded with -1 at the end.
        """
        at, inside = self._places(answer, requests, k)
        items = (
            np.frombuffer(self._items, np.int32)
            if self._items
            else np.zeros(1, np.int32)
        )
        return np.where(inside, items[at], PAD)

    def scores(self, answer: int, requests: Integers, k: int) -> Floats | None:
        """The scores of the first `k` items of an answer to some requests, ``(n, k)``;
        NaN where there is none. None if the log has no scores.
        """
        if self._scores is None:
            return None
        at, inside = self._places(answer, requests, k)
        return np.where(inside, np.frombuffer(self._scores, np.float64)[at], np.nan)

    def _places(
        self,
        answer: int,
        requests: Integers,
        k: int,
    ) -> tuple[Integers, NDArray[np.bool_]]:
        """Where the first `k` items of an answer to some requests are in `_items`, and
        which of these places are of the list, both ``(n, k)``.
        """
        starts = np.frombuffer(self._starts[answer], np.int64)[requests]
        lengths = np.frombuffer(self._lengths[answer], np.int32)[requests]
        places = np.arange(k)
        inside = places < lengths[:, None]
        return np.where(inside, starts[:, None] + places, 0), inside

    def _grow(self, requests: int) -> None:
        """Make place for requests that the log has not named yet."""
        if not self.row_of:
            for _ in range(ANSWERS):
                self.row_of.append(array("i"))
                self._starts.append(array("q"))
                self._lengths.append(array("i"))
        more = requests - len(self.user)
        if more <= 0:
            return
        more = max(more, len(self.user) // 8)
        self.user.extend([-1] * more)
        for rows, starts, lengths in zip(
            self.row_of,
            self._starts,
            self._lengths,
            strict=True,
        ):
            rows.extend([-1] * more)
            starts.extend([0] * more)
            lengths.extend([0] * more)

    def _trim(self, requests: int) -> None:
        """Cut the arrays to the number of requests."""
        self._grow(requests)
        del self.user[requests:]
        for arrays in (self.row_of, self._starts, self._lengths):
            for each in arrays:
                del each[requests:]

    def _keep(
        self,
        request: int,
        user: int,
        items: Sequence[int],
        scores: Sequence[float] | None,
    ) -> None:
        self._grow(request + 1)
        answer = next(
            (at for at in range(ANSWERS) if self.row_of[at][request] < 0),
            None,
        )
        if answer is None:
            self.further += 1
            return
        if self.user[request] not in (-1, user):
            self.other_user += 1
            return
        if answer == 1 and bool(items) != bool(self._lengths[0][request]):
            self.empty_repeats += 1
            if not items:
                return
            answer = 0
        self.user[request] = user
        self.row_of[answer][request] = self.rows
        self._starts[answer][request] = len(self._items)
        self._lengths[answer][request] = len(items)
        self._items.extend(items)
        self.longest = max(self.longest, len(items))
        self._keep_scores(scores, len(items))

    def _keep_scores(self, scores: Sequence[float] | None, count: int) -> None:
        """Add the scores of the items that were added last."""
        if self._scores is None:
            if scores is None:
                return
            self._scores = array("d", [np.nan]) * (len(self._items) - count)
        self._scores.extend([np.nan] * count if scores is None else scores)


@dataclass
class Numbered:
    """The numbers that two logs share."""

    requests: Numbers = field(default_factory=Numbers)
    users: Numbers = field(default_factory=Numbers)
    items: Numbers = field(default_factory=Numbers)


def read(path: Path, reader: RowReader, numbered: Numbered) -> Log:
    """Read a log.

    Args:
        path: Of the file.
        reader: Finds the fields of its rows.
        numbered: The numbers of requests, users and items; new ones are added.

    Returns:
        The log; `finish` must follow once both are read.

    Raises:
        DataError: If the file cannot be read, or no row of it can.
    """
    log = Log(path, reader)
    for number, row in rows_of(path):
        try:
            fields = reader.fields_of(row)
        except (DataError, ValueError, RecursionError) as error:
            log.unreadable += 1
            if len(log.examples) < EXAMPLES:
                place = place_of(path, number)
                log.examples.append(f"{place}: {one_line(str(error))}")
        else:
            _add(log, fields, numbered)
        log.rows += 1
    if reader.unseen and log.rows > log.unreadable:
        name = min(reader.unseen)
        raise DataError(
            f"--map: {name}={'.'.join(reader.paths[name])} is in no row of {str(path)!r}; name the place where the rows have it, or "
            f"leave it out",
        )
    if log.rows == log.unreadable:
        reason = "; ".join(log.examples) or "it is empty"
        raise DataError(f"{str(path)!r} has no row that can be read: {reason}")
    return log


def _add(log: Log, fields: Fields, numbered: Numbered) -> None:
    """Add the answer of a row to a log."""
    distinct = list(dict.fromkeys(fields.items))
    scores = fields.scores
    if len(distinct) < len(fields.items):
        log.repeats += 1
        if scores is not None:
            by_item = dict(zip(reversed(fields.items), reversed(scores), strict=True))
            scores = [by_item[item] for item in distinct]
    log.without_user += fields.user is None
    user = fields.request if fields.user is None else fields.user
    number_of = numbered.items.of
    log._keep(
        numbered.requests.of(fields.request),
        numbered.users.of(user),
        [number_of(item) for item in distinct],
        scores,
    )


def finish(log: Log, numbered: Numbered) -> None:
    """Fit a log to all requests of both logs."""
    log._trim(len(numbered.requests))
