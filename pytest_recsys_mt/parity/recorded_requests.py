"""Requests of a log as requests to a recommender, and the answers to them as a log."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pytest_recsys_mt.datasets import Dataset
from pytest_recsys_mt.parity.log_rows import MAPPED, Paths, RowReader, facts_at
from pytest_recsys_mt.parity.request_logs import ANSWERS, Log, Numbered, finish, read
from pytest_recsys_mt.requests import Item, Rating, Request
from pytest_recsys_mt.requests.design import generator
from pytest_recsys_mt.safety.errors import DataError

NOT_ATTRIBUTES = {*MAPPED, "version"}
"""Fields of a row that are no attributes of the user."""


@dataclass(frozen=True)
class Recorded:
    """One request of each of some users of a log.

    Attributes:
        rows: The rows of each request: one, or two where the log has two answers.
        log: The log that they are of.
        users: How many users it has.
    """

    rows: Sequence[Sequence[Mapping[str, Any]]]
    log: Log
    users: int


def recorded(
    path: Path,
    paths: Paths,
    users: int,
    seed: int,
    *,
    answered: bool,
) -> Recorded:
    """One request of each of so many users of a log, drawn at random.

    Args:
        path: Of the log.
        paths: Where the fields of a row are; see `log_rows.paths_of`.
        users: The most users.
        seed: Of the draw.
        answered: Whether the rows must have the items of an answer.

    Raises:
        DataError: If the log cannot be read.
    """
    numbered = Numbered()
    log = read(path, RowReader(paths, answered), numbered)
    finish(log, numbered)
    draw = generator(seed, "recorded requests").permutation(len(log.users))
    _, first_of_each = np.unique(log.users[draw], return_index=True)
    chosen = draw[np.sort(first_of_each)][:users].tolist()
    numbers = [
        [int(log.rows_of(answer)[request]) for answer in range(ANSWERS)]
        for request in chosen
    ]
    facts = facts_at(path, paths, [row for both in numbers for row in both if row >= 0])
    texts = list(numbered.requests.by_text), list(numbered.users.by_text)
    items = list(numbered.items.by_text)
    rows = []
    for request, both in zip(chosen, numbers, strict=True):
        own = []
        for answer, number in enumerate(both):
            if number < 0:
                continue
            listed = log.lists(answer, np.array([request]), log.longest)[0]
            own.append(
                {
                    **facts[number],
                    "request": texts[0][request],
                    "user": texts[1][int(log.users[request])],
                    "items": [items[item] for item in listed if item >= 0],
                },
            )
        rows.append(own)
    return Recorded(rows, log, len(np.unique(log.users)))


@dataclass
class Histories:
    """The histories of requests, and where they came from.

    Attributes:
        dataset: The data of the run: its users' interactions stand in for a history that
            a row lacks.
        from_rows: How many requests have a history in the log.
        from_data: How many have that of the data.
        missing: How many have none.
        items: How many items the histories and the candidates name.
        unknown: How many of them the data lack.
    """

    dataset: Dataset
    from_rows: int = 0
    from_data: int = 0
    missing: int = 0
    items: int = 0
    unknown: int = 0
    _by_user: dict[str, tuple[Rating, ...]] | None = field(default=None, repr=False)

    def of(self, row: Mapping[str, Any]) -> tuple[Rating, ...]:
        """The history of a row's request."""
        given = row.get("history")
        if given is not None:
            if not isinstance(given, list):
                raise TypeError(f"history is {given!r}, not a list")
            history = tuple(self._rating(each) for each in given)
            self.from_rows += 1
            return history
        known = self._known().get(str(row["user"]), ())
        if known:
            self.from_data += 1
        else:
            self.missing += 1
        return known

    def _rating(self, entry: Any) -> Rating:
        facts = entry if isinstance(entry, dict) else {"id": entry}
        second = facts.get("time", facts.get("timestamp"))
        return Rating(
            self.item(facts),
            float(facts.get("rating", self.dataset.scale.high)),
            int(second) if isinstance(second, int | float) else None,
        )

    def item(self, given: object) -> Item:
        """The item with an id; one that the data lack has this id alone.

        Raises:
            TypeError: If it has no id.
        """
        facts = given if isinstance(given, dict) else {"id": given}
        name = facts.get("id", facts.get("item"))
        if isinstance(name, bool) or not isinstance(name, str | int):
            raise TypeError(f"{name!r} is no id of an item")
        self.items += 1
        known = self.dataset.items.get(str(name))
        if known is None:
            self.unknown += 1
            return Item(str(name), str(facts.get("title", "")))
        return known

    def _known(self) -> Mapping[str, tuple[Rating, ...]]:
        if self._by_user is None:
            found: dict[str, list[Rating]] = {}
            names = ("user", "item", "rating", "timestamp")
            columns = [self.dataset.interactions[name] for name in names]
            for user, item, value, second in zip(*columns, strict=True):
                rating = Rating(self.dataset.items[item], float(value), int(second))
                found.setdefault(str(user), []).append(rating)
            self._by_user = {user: tuple(each) for user, each in found.items()}
        return self._by_user


def request_of(
    row: Mapping[str, Any],
    histories: Histories,
    k: int,
    longest: int,
) -> Request:
    """The request of a row.

    Args:
        row: Of a log.
        histories: Finds the history.
        k: Items that are asked for if the row has no answer.
        longest: Items of a history that are read, the latest ones.

    Raises:
        DataError: If a field is of another kind.
    """
    dataset = histories.dataset
    candidates = row.get("candidates")
    try:
        history = histories.of(row)[-longest:]
        return Request(
            user=str(row["user"]),
            history=history,
            scale=dataset.scale,
            candidates=None
            if candidates is None
            else tuple(histories.item(each) for each in candidates),
            k=_size(row.get("k", len(row["items"]) or k)),
            attributes={
                name: value
                for name, value in row.items()
                if name not in NOT_ATTRIBUTES and isinstance(value, str | int | float)
            },
        )
    except (TypeError, ValueError) as error:
        raise DataError(
            f"the row of request {row['request']!r} is no request: {error}; history and candidates are lists of ids, or of "
            f"objects with an id, and k is a number",
        ) from error


def _size(given: object) -> int:
    """The number of items that are asked for.

    Raises:
        ValueError: If it is no whole number from 1.
    """
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise ValueError(f"k is {given!r}, not a whole number from 1")
    return given


def write_log(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows as a log."""
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
