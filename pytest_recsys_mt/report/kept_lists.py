"""The lists that a kept run, or a record, holds of one model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_recsys_mt.gate.baseline import other_questions, read
from pytest_recsys_mt.gate.changed_lists import varies
from pytest_recsys_mt.gate.document import Document
from pytest_recsys_mt.gate.store import called, record_named
from pytest_recsys_mt.safety.errors import DataError

KEPT = re.compile(r"(\d+|accepted|.+\.json)(?::(.+))?")
"""A number of a kept run, ``accepted``, or a record; and a model, of several."""

OPTIONS = ("users", "history", "candidates", "k", "prompt")
"""Settings of a run that its requests depend on, each of which is an option."""

QUESTION = tuple(f"--recsys-{name}" for name in ("data", "seed", *OPTIONS, "prompts"))
"""The options that say what is asked."""


@dataclass(frozen=True)
class Kept:
    """The lists of one model of a kept run.

    Attributes:
        model: The model.
        run: The name of the run.
        record: The whole record.
        lists: The first titles of each user's list.
    """

    model: str
    run: str
    record: Document
    lists: Mapping[str, Sequence[str]]

    @property
    def name(self) -> str:
        """The name of the model and of the run."""
        return f"{self.model} of {self.run}"

    @property
    def places(self) -> int:
        """How many titles of a list are kept."""
        return max(map(len, self.lists.values()), default=0)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Its lists as the rows of a log."""
        for user, titles in self.lists.items():
            yield {"request": user, "user": user, "items": list(titles)}

    def options(self) -> list[str]:
        """The options with which another recommender is asked the same; see
        `QUESTION`.
        """
        settings = self.record["settings"]
        given = [f"--recsys-data={self.record['data']}"]
        given.append(f"--recsys-seed={self.record['seed']}")
        for name in OPTIONS:
            if settings.get(name) is not None:
                given.append(f"--recsys-{name}={settings[name]}")
        return given


def is_kept(spec: str) -> bool:
    """Whether a side of a comparison is a kept run or a record."""
    return KEPT.fullmatch(spec) is not None


def kept(spec: str) -> Kept:
    """The lists of a kept run.

    Raises:
        DataError: If it has no lists, lists of several models, or lists that vary.
        PolicyError: If there is no such run.
    """
    parts = KEPT.fullmatch(spec)
    assert parts is not None
    path = record_named(parts[1])
    record = read(path)
    lists = record.get("lists", {})
    models = sorted(lists)
    model = parts[2] or (models[0] if len(models) == 1 else "")
    if model not in lists:
        choices = ", ".join(f"{parts[1]}:{name}" for name in models)
        advice = (
            f"name one of {choices}" if models else "it holds no lists: run it again"
        )
        raise DataError(f"{spec!r} names no lists of one model; {advice}")
    if varies(record, model):
        raise DataError(
            f"{model} varies by itself in {called(path)}, of which one list of each user is kept, so no change shows: name both "
            f"recommenders, as in recsys-mt parity {model} OTHER",
        )
    return Kept(model, called(path), record, lists[model])


def require_one_question(first: Kept, second: Kept) -> None:
    """Refuse two kept runs that asked other questions: their lists differ for that alone.

    Raises:
        DataError: If they did; says what differs.
    """
    found = other_questions(first.record, second.record, first.run, second.run)
    names = (first.record["data"], second.record["data"])
    if names[0] != names[1] and not first.record.get("data_digest"):
        found.append(
            f"other data: {names[0]} in {first.run}, {names[1]} in {second.run}"
        )
    if found:
        raise DataError(
            f"{first.name} and {second.name} answered other questions, so their lists are not compared: {'; '.join(found)}",
        )
