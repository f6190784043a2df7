"""Questions to a language model with its answers: JSON, one object a line.

=================== ===============================================================================
key                 value
=================== ===============================================================================
``user``            the user of the question
``history``         titles, oldest first
``candidates``      titles, in the order of the prompt
``target``          the title that the user chose next, which the answer should rank high
``text``            the text of the model's answer
``finish_reason``   why it ended, as the provider says: ``"length"``, ``"MAX_TOKENS"``
                    or ``"SAFETY"`` if it was cut off, ``"stop"`` or ``"end_turn"`` if
                    not (may be left out)
=================== ===============================================================================

Other keys, such as the prompt, are ignored. Lines with the same question are
replicates, in their order. A title is its item's id; if a list names one twice, the
second is a separate item. There are no ratings, so every rating is 1 on a scale from 0
to 1.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from pytest_recsys_mt.datasets.catalogue import split_title
from pytest_recsys_mt.datasets.dataset import COLUMNS, Dataset
from pytest_recsys_mt.datasets.json_lines import records
from pytest_recsys_mt.requests import Item, Rating, Request, Scale, is_cut_off
from pytest_recsys_mt.safety.errors import DataError

SCALE = Scale(0, 1)
SUFFIX = ".jsonl"
KEYS = frozenset({"history", "candidates", "target", "text"})
"""Keys of which a line has one at least, if the file is no table."""


@dataclass(frozen=True)
class Reply:
    """One recorded answer."""

    text: str
    cut_off: bool = False


@dataclass(frozen=True)
class Recording:
    """One question, and every answer to it, by replicate;
    its `k` is the number of candidates.
    """

    request: Request
    target: Item
    replies: tuple[Reply, ...]

    @property
    def history(self) -> tuple[Item, ...]:
        """The items of the question's history."""
        return tuple(rating.item for rating in self.request.history)


def read(path: Path) -> dict[str, Recording]:
    """The questions and answers of a file, by user in the order of the file.

    Raises:
        DataError: If there is no such file, a line is malformed, or a user has two
            questions; the text names the file and the line.
    """
    recordings: dict[str, Recording] = {}
    for number, row in records(path, json.loads):
        where = f"{str(path)!r}, line {number}"
        request, target = _question(row, where)
        text = row.get("text")
        if not isinstance(text, str):
            raise DataError(f"{where}: 'text' is the answer as text, got {text!r}")
        reply = Reply(text, is_cut_off(row.get("finish_reason")))
        known = recordings.setdefault(request.user, Recording(request, target, ()))
        if (known.request, known.target) != (request, target):
            raise DataError(
                f"{where}: user {request.user!r} has another question in an earlier line; give each "
                f"question its own user",
            )
        recordings[request.user] = Recording(request, target, (*known.replies, reply))
    if not recordings:
        raise DataError(f"{str(path)!r} holds no recorded answers")
    return recordings


def load(path: Path, name: str) -> Dataset:
    """The users, histories, candidates and targets of a file,
    as a dataset; raises as `read` does.
    """
    recordings = read(path)
    rows = []
    offered = {}
    for user, recording in recordings.items():
        offered[user] = recording.request.candidates or ()
        for place, item in enumerate([*recording.history, recording.target]):
            rows.append((user, item.id, SCALE.high, place))
    frame = pd.DataFrame(rows, columns=pd.Index(COLUMNS))
    return Dataset(name, catalogue(recordings.values()), frame, SCALE, offered=offered)


def catalogue(recordings: Iterable[Recording]) -> dict[str, Item]:
    """Every item that some recordings name, by id."""
    items_by_id = {}
    for recording in recordings:
        candidates = recording.request.candidates or ()
        for item in (*recording.history, *candidates, recording.target):
            items_by_id[item.id] = item
    return items_by_id


def _question(row: dict[str, Any], where: str) -> tuple[Request, Item]:
    """The question of a record, and the item that the user chose."""
    if not isinstance(row.get("user"), str | int):
        raise DataError(f"{where}: 'user' is the user's name, got {row.get('user')!r}")
    history = _items(_titles(row, "history", where))
    candidates = _items(_titles(row, "candidates", where))
    target = row.get("target")
    if not isinstance(target, str) or not target.strip():
        raise DataError(
            f"{where}: 'target' is the title that the user chose, got {target!r}",
        )
    chosen = _items([target])[0]
    if chosen in history:
        raise DataError(f"{where}: the target {target!r} stands in the history")
    # There are no times: the places in the history keep its order.
    ratings = tuple(
        Rating(item, SCALE.high, place) for place, item in enumerate(history)
    )
    user = str(row["user"])
    return Request(user, ratings, SCALE, tuple(candidates), k=len(candidates)), chosen


def _titles(row: dict[str, Any], key: str, where: str) -> list[str]:
    titles = row.get(key)
    if isinstance(titles, list) and titles and all(map(_is_title, titles)):
        return titles
    raise DataError(f"{where}: {key!r} is a list of titles, got {titles!r:.60}")


def _is_title(value: object) -> bool:
    return isinstance(value, str) and value.strip() != ""


def _items(titles: Sequence[str]) -> list[Item]:
    """An item for each title; its id is the title as written,
    and ``#2`` behind it the second time.
    """
    times_seen: Counter[str] = Counter()
    items = []
    for written in titles:
        times_seen[written] += 1
        times = times_seen[written]
        title, year = split_title(written)
        suffix = f"#{times}" if times > 1 else ""
        items.append(Item(written + suffix, title, year))
    return items
