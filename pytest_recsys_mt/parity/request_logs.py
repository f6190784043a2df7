"""Reads logs of answered requests: JSON lines or Parquet, a row for each answer.

A row holds the id of a ``request``, its ``user``, and the ``items`` that were shown,
best first::

    {"request": "7f3a", "user": "u17", "items": ["sku-5", "sku-9"], "version":
    "2026-11-30"}

Further fields of plain values are facts about the request, such as its country or its
version.
"""

from __future__ import annotations

import gzip
import json
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_recsys_mt.oracles.arrays import PAD, Integers
from pytest_recsys_mt.safety.errors import DataError, MissingExtraError
from pytest_recsys_mt.safety.sanitize import one_line

ENDINGS = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz", ".parquet")
FIELDS = ("request", "user", "items")
"""The fields that a log has, or that ``--map`` finds in it. Without ``user``, each
request counts as a user of its own.
"""

ANSWERS = 2
"""How many answers to one request are read: two show the noise of the recommender."""

MOST_LOST = 0.05
"""The largest share of requests that only one log answers, or that have two users, and
of rows that are not read, at which something is claimed.
"""

EXAMPLES = 3
_BLOCK = 20_000  # rows of a Parquet file that are read at a time


def is_log(spec: str) -> bool:
    """Whether a side of a comparison is named by a file of answers."""
    return spec.endswith(ENDINGS)


def paths_of(text: str | None) -> dict[str, list[str]]:
    """Where the fields of a row are, from the text of ``--map``:
    ``items=response.items.sku``.

    Raises:
        DataError: If it is no list of ``field=path``, or names another field.
    """
    paths = {name: [name] for name in FIELDS}
    for part in filter(None, (text or "").split(",")):
        name, found, path = part.partition("=")
        if name.strip() not in FIELDS or not found or not path.strip():
            raise DataError(
                f"--map: {part!r} says no place of a field; write field=path, separated by commas, as in "
                f"request=id,items=response.items.sku; the fields are {', '.join(FIELDS)}",
            )
        paths[name.strip()] = path.strip().split(".")
    return paths


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
        repeats: How many kept lists named an item twice; its first place counts.
        longest: How many items the longest list has.
    """

    path: Path
    name: str = ""
    rows: int = 0
    row_of: list[array[int]] = field(default_factory=list)
    user: array[int] = field(default_factory=lambda: array("i"))
    unreadable: int = 0
    examples: list[str] = field(default_factory=list)
    further: int = 0
    other_user: int = 0
    without_user: int = 0
    repeats: int = 0
    longest: int = 0
    _items: array[int] = field(default_factory=lambda: array("i"))
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
    def has_items(self) -> NDArray[np.bool_]:
        """Which requests have an answer that names an item, ``(requests,)``."""
        lengths = [np.frombuffer(each, np.int32) for each in self._lengths]
        named: NDArray[np.bool_] = np.logical_or.reduce([each > 0 for each in lengths])
        return named

    def lists(self, answer: int, requests: Integers, k: int) -> Integers:
        """The first `k` items of an answer to some requests,
        ``(n, k)``, padded with -1 at the end.
        """
        starts = np.frombuffer(self._starts[answer], np.int64)[requests]
        lengths = np.minimum(
            np.frombuffer(self._lengths[answer], np.int32)[requests],
            k,
        )
        places = np.arange(k)
        inside = places < lengths[:, None]
        at = np.where(inside, starts[:, None] + places, 0)
        items = (
            np.frombuffer(self._items, np.int32)
            if self._items
            else np.zeros(1, np.int32)
        )
        return np.where(inside, items[at], PAD)

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

    def _keep(self, request: int, user: int, items: Sequence[int]) -> None:
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
        self.user[request] = user
        self.row_of[answer][request] = self.rows
        self._starts[answer][request] = len(self._items)
        self._lengths[answer][request] = len(items)
        self._items.extend(items)
        self.longest = max(self.longest, len(items))


@dataclass
class Numbered:
    """The numbers that two logs share."""

    requests: Numbers = field(default_factory=Numbers)
    users: Numbers = field(default_factory=Numbers)
    items: Numbers = field(default_factory=Numbers)


def read(
    path: Path,
    paths: Mapping[str, Sequence[str]],
    numbered: Numbered,
    *,
    answered: bool = True,
) -> Log:
    """Read a log.

    Args:
        path: Of the file.
        paths: Where each field of `FIELDS` is in a row.
        numbered: The numbers of requests, users and items; new ones are added.
        answered: Whether a row without the items of an answer is unreadable.

    Returns:
        The log; `finish` must follow once both are read.

    Raises:
        DataError: If the file cannot be read, or no row of it can.
    """
    log = Log(path)
    for place, row in _rows(path):
        try:
            request, named, items = _fields_of(row, paths, answered)
        except (DataError, ValueError, RecursionError) as error:
            log.unreadable += 1
            if len(log.examples) < EXAMPLES:
                log.examples.append(f"{place} {log.rows + 1}: {one_line(str(error))}")
        else:
            distinct = list(dict.fromkeys(items))
            log.repeats += len(distinct) < len(items)
            log.without_user += named is None
            user = request if named is None else named
            number_of = numbered.items.of
            numbers = [number_of(item) for item in distinct]
            log._keep(numbered.requests.of(request), numbered.users.of(user), numbers)
        log.rows += 1
    if log.rows == log.unreadable:
        reason = "; ".join(log.examples) or "it is empty"
        raise DataError(f"{str(path)!r} has no row that can be read: {reason}")
    return log


def finish(log: Log, numbered: Numbered) -> None:
    """Fit a log to all requests of both logs."""
    log._trim(len(numbered.requests))


def facts_at(log: Log, wanted: Sequence[int]) -> dict[int, dict[str, Any]]:
    """The whole rows of these numbers, by number; the file is
    read once more, and no other row is parsed.
    """
    needed = set(wanted)
    found: dict[int, dict[str, Any]] = {}
    for number, (_, row) in enumerate(_rows(log.path)):
        if number in needed:
            parsed = row if isinstance(row, dict) else json.loads(row)
            found[number] = parsed
            if len(found) == len(needed):
                break
    return found


def _fields_of(
    row: object,
    paths: Mapping[str, Sequence[str]],
    answered: bool,
) -> tuple[str, str | None, list[str]]:
    """The request, the user and the items of a row.

    Raises:
        DataError: If it lacks one, or one is of another kind.
        ValueError: If it is not JSON.
    """
    if not isinstance(row, dict):
        row = json.loads(str(row))
    if not isinstance(row, dict):
        raise DataError(f"it is {_short(row)}, not an object")
    request = _id("request", _at(row, paths["request"]), paths)
    user = _at(row, paths["user"])
    items = _at(row, paths["items"])
    if items is None and not answered:
        items = []
    if not isinstance(items, list):
        raise DataError(
            f"{'.'.join(paths['items'])} is {_short(items)}, not a list of items",
        )
    ids = []
    for item in items:
        if item.__class__ is str:
            ids.append(item)
        else:
            ids.append(
                _id("items", item.get("id") if isinstance(item, dict) else item, paths),
            )
    return request, None if user is None else _id("user", user, paths), ids


def _at(row: object, path: Sequence[str]) -> object:
    """The value at a path; of a list, the values there in each of its entries."""
    for place, name in enumerate(path):
        if isinstance(row, dict):
            row = row.get(name)
        elif isinstance(row, list):
            return [_at(each, path[place:]) for each in row]
        else:
            return None
    return row


def _id(name: str, value: object, paths: Mapping[str, Sequence[str]]) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise DataError(f"{'.'.join(paths[name])} is {_short(value)}, not an id")
    return str(value)


def _short(value: object) -> str:
    return one_line(repr(value))[:60]


def _rows(path: Path) -> Iterator[tuple[str, str | dict[str, Any]]]:
    """The rows of a file, each as text or as an object, with the name of one."""
    try:
        if path.suffix == ".parquet":
            for row in _of_parquet(path):
                yield "row", row
            return
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                yield "line", line
    except (OSError, EOFError, UnicodeDecodeError) as error:
        cause = getattr(error, "strerror", None) or error
        raise DataError(
            f"the log {str(path)!r} cannot be read: {cause}; name a file that ends in {', '.join(ENDINGS)}",
        ) from error


def _of_parquet(path: Path) -> Iterator[dict[str, Any]]:
    try:
        from pyarrow import ArrowInvalid  # type: ignore[import-untyped]
        from pyarrow.parquet import ParquetFile  # type: ignore[import-untyped]
    except ImportError as error:
        raise MissingExtraError(
            f"{str(path)!r} is a Parquet file, and pyarrow is not installed: pip install pyarrow",
        ) from error
    try:
        with ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=_BLOCK):
                yield from batch.to_pylist()
    except ArrowInvalid as error:
        raise DataError(
            f"the log {str(path)!r} cannot be read: {one_line(str(error))}",
        ) from error
