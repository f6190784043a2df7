"""The code of a Ray actor: makes and fits one recommender there, and answers calls."""

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_recsys_mt.calls.answer import Answer, describe_failure
from pytest_recsys_mt.calls.call import Call
from pytest_recsys_mt.calls.remote import recipe as recipes
from pytest_recsys_mt.calls.remote.recipe import Recipe
from pytest_recsys_mt.calls.subject import Subject, subject
from pytest_recsys_mt.datasets.dataset import Dataset


class Asker:
    """Makes a recommender and asks it."""

    def __init__(self) -> None:
        self._subject: Subject | None = None

    def prepare(
        self, recipe: bytes, training: Dataset, call: bytes, folder: str, path: Sequence[str]
    ) -> str:
        """Make the recommender and fit it; returns why this actor cannot answer, empty if it can.

        File names are relative to `folder`, in which the run started. The `call` shows whether the
        recommender here is the one of the driver.
        """
        try:
            if Path(folder).is_dir():
                os.chdir(folder)
            sys.path += [place for place in path if place not in sys.path and Path(place).exists()]
            made: Recipe = recipes.unpack(recipe)
            known = subject(made.make(), made.name, made.prompt, made.fixture, made.timeout)
            known.fit(training, made.seed)
            (wanted,) = recipes.unpack(call)
            # Answers are stored under the driver's keys, so the model must be the driver's.
            here = recipes.same_call(known, wanted)
            if here.key != wanted.key:
                return f"it is another recommender there: {recipes.difference(wanted, here)}"
        except Exception as error:  # noqa: BLE001 - the driver reports any error
            return describe_failure(error)
        self._subject = known
        return ""

    def ask(self, packed: bytes) -> Iterator[list[tuple[int, Answer]]]:
        """Answer packed calls; yields as `Subject.ask` does."""
        calls: list[Call] = recipes.unpack(packed)
        assert self._subject is not None, "prepare() comes first"
        yield from self._subject.ask(calls)
