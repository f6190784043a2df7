"""Reads the rows of a log: JSON lines or Parquet, a row for each answer.

A row holds the id of a ``request``, its ``user``, and the ``items`` that were shown,
best first::

    {"request": "7f3a", "user": "u17", "items": ["sku-5", "sku-9"], "version":
    "2026-11-30"}

It may have the ``scores`` of the items, and the ``history``, ``candidates``, ``k`` and
``time`` of the request. Further fields of plain values are facts about the request, such
as its country or its version.
"""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from pytest_recsys_mt.safety.errors import DataError, MissingExtraError
from pytest_recsys_mt.safety.sanitize import one_line

ENDINGS = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz", ".parquet")

FIELDS = ("request", "user", "items")
"""The fields of an answer. Without ``user``, each request counts as a user of its own."""

MAPPED = (*FIELDS, "scores", "history", "candidates", "k", "time")
"""The fields that ``--map`` finds in a row."""

_BLOCK = 20_000  # rows of a Parquet file that are read at a time

Paths = Mapping[str, Sequence[str]]
"""Where each field of `MAPPED` is in a row: the names on the way to it."""


def is_log(spec: str) -> bool:
    """Whether a side of a comparison is named by a file of answers."""
    return spec.endswith(ENDINGS)


def paths_of(text: str | None) -> dict[str, list[str]]:
    """Where the fields of a row are, from the text of ``--map``:
    ``items=response.items.sku``.

    Raises:
        DataError: If it is no list of ``field=path``, or names another field.
    """
    paths = {name: [name] for name in MAPPED}
    for part in filter(None, (text or "").split(",")):
        name, found, path = part.partition("=")
        if name.strip() not in MAPPED or not found or not path.strip():
            raise DataError(
                f"--map: {part!r} says no place of a field; write field=path, separated by commas, as in "
                f"request=id,items=response.items.sku; the fields are {', '.join(MAPPED)}",
            )
        paths[name.strip()] = path.strip().split(".")
    return paths


class Fields(NamedTuple):
    """The fields of one answer.

    Attributes:
        request: The id of the request.
        user: The id of its user; None without one.
        items: The ids of the items, best first.
        scores: Their scores; None if they are not given, or not one number an item.
    """

    request: str
    user: str | None
    items: list[str]
    scores: list[float] | None


@dataclass
class RowReader:
    """Finds the fields of rows.

    Attributes:
        paths: Where they are.
        answered: Whether a row without the items of an answer is unreadable.
        decimals: How many ids were numbers such as ``17.0``, which are read as ``17``.
        scored: How many rows have scores, one finite number for each item.
        unscored: How many have others.
        unseen: The fields that ``--map`` looks for elsewhere, and that no row had so far.
    """

    paths: Paths
    answered: bool = True
    decimals: int = 0
    scored: int = 0
    unscored: int = 0
    unseen: set[str] = field(init=False)

    def __post_init__(self) -> None:
        mapped = {name for name, path in self.paths.items() if list(path) != [name]}
        self.unseen = mapped

    def fields_of(self, row: object) -> Fields:
        """The fields of a row, which is text or an object.

        Raises:
            DataError: If it lacks one, or one is of another kind.
            ValueError: If it is not JSON.
        """
        if not isinstance(row, dict):
            row = json.loads(str(row))
        if not isinstance(row, dict):
            raise DataError(f"it is {_short(row)}, not an object")
        for name in list(self.unseen):
            if at(row, self.paths[name]) is not None:
                self.unseen.discard(name)
        request = self._id("request", at(row, self.paths["request"]))
        user = at(row, self.paths["user"])
        items = at(row, self.paths["items"])
        if items is None and not self.answered:
            items = []
        if not isinstance(items, list):
            raise DataError(
                f"{'.'.join(self.paths['items'])} is {_short(items)}, not a list of items",
            )
        ids = []
        for item in items:
            if item.__class__ is str:
                ids.append(item)
            else:
                named = item.get("id") if isinstance(item, dict) else item
                ids.append(self._id("items", named))
        no_user = user is None or (isinstance(user, float) and math.isnan(user))
        user_id = None if no_user else self._id("user", user)
        return Fields(request, user_id, ids, self._scores_of(row, len(ids)))

    def _scores_of(self, row: Mapping[str, Any], count: int) -> list[float] | None:
        scores = at(row, self.paths["scores"])
        if scores is None:
            return None
        if isinstance(scores, list) and len(scores) == count:
            plain = [
                isinstance(score, int | float)
                and not isinstance(score, bool)
                and math.isfinite(score)
                for score in scores
            ]
            if all(plain):
                self.scored += 1
                return [float(score) for score in scores]
        self.unscored += 1
        return None

    def _id(self, name: str, value: object) -> str:
        # A column of numbers with a gap is one of decimals to pandas.
        if isinstance(value, float) and value.is_integer():
            self.decimals += 1
            return str(int(value))
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise DataError(
                f"{'.'.join(self.paths[name])} is {_short(value)}, not an id"
            )
        return str(value)


def at(row: object, path: Sequence[str]) -> Any:
    """The value at a path; of a list, the values there in each of its entries."""
    for place, name in enumerate(path):
        if isinstance(row, dict):
            row = row.get(name)
        elif isinstance(row, list):
            return [at(each, path[place:]) for each in row]
        else:
            return None
    return row


def _short(value: object) -> str:
    return one_line(repr(value))[:60]


def rows_of(path: Path) -> Iterator[tuple[int, str | dict[str, Any]]]:
    """The rows of a file, each as text or as an object, with the number of its line or
    row from 1; empty lines are no rows.

    Raises:
        DataError: If the file cannot be read.
        MissingExtraError: If it is a Parquet file and pyarrow is not installed.
    """
    try:
        if path.suffix == ".parquet":
            yield from enumerate(_of_parquet(path), 1)
            return
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt", encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, 1):
                if not line.isspace():
                    yield number, line
    except UnicodeDecodeError as error:
        raise DataError(
            f"the log {str(path)!r} cannot be read: it is not UTF-8 ({error.reason}); convert it first, as in "
            f"iconv -f latin1 -t utf-8 {path.name} > utf8-{path.name}",
        ) from error
    except (OSError, EOFError) as error:
        cause = getattr(error, "strerror", None) or error
        raise DataError(
            f"the log {str(path)!r} cannot be read: {cause}; name a file that ends in {', '.join(ENDINGS)}",
        ) from error


def place_of(path: Path, number: int) -> str:
    """What a report calls a row: its line in a text, its number in a table."""
    return f"{'row' if path.suffix == '.parquet' else 'line'} {number}"


def facts_at(
    path: Path, paths: Paths, wanted: Sequence[int]
) -> dict[int, dict[str, Any]]:
    """The rows of these numbers (from 0, empty lines not counted), by number, with the
    fields of `MAPPED` by their own names; no other row is parsed.
    """
    needed = set(wanted)
    found: dict[int, dict[str, Any]] = {}
    for number, (_, row) in enumerate(rows_of(path)):
        if number in needed:
            parsed = row if isinstance(row, dict) else json.loads(row)
            found[number] = _by_own_names(parsed, paths)
            if len(found) == len(needed):
                break
    return found


def _by_own_names(row: dict[str, Any], paths: Paths) -> dict[str, Any]:
    elsewhere = {
        name: at(row, path) for name, path in paths.items() if list(path) != [name]
    }
    given = {name: value for name, value in elsewhere.items() if value is not None}
    return {**row, **given}


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
