"""The class of a Ray actor, which makes a recommender and sends it calls."""

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_recsys_mt.calls.answer import Answer, describe_failure
from pytest_recsys_mt.calls.call import Call
from pytest_recsys_mt.calls.remote import recipe as recipes
from pytest_recsys_mt.calls.remote.recipe import Recipe
from pytest_recsys_mt.calls.subject import Subject
from pytest_recsys_mt.calls.subjects import subject
from pytest_recsys_mt.datasets.dataset import Dataset


class Asker:
    """Makes a recommender and sends it calls."""

    def __init__(self) -> None:
        self._subject: Subject | None = None

    def prepare(
        self,
        recipe: bytes,
        training: Dataset,
        call: bytes,
        folder: str,
        path: Sequence[str],
    ) -> str:
        """Make the recommender and fit it; returns why this actor cannot answer, empty
        if it can.

        File names are relative to `folder`, in which the run started. The `call` shows
        whether the recommender here is the one of the driver.
        """
        try:
            _enter(folder, path)
            unpacked: Recipe = recipes.unpack(recipe)
            made = _made(unpacked)
            made.fit(training, unpacked.seed)
            (wanted,) = recipes.unpack(call)
            # Answers are stored under the driver's keys, so the model must be the
            # driver's.
            here = recipes.same_call(made, wanted)
            if here.key != wanted.key:
                return f"it is another recommender there: {recipes.difference(wanted, here)}"
        except Exception as error:  # noqa: BLE001 - the driver reports any error
            return describe_failure(error)
        self._subject = made
        return ""

    def ask(self, packed: bytes) -> Iterator[list[tuple[int, Answer]]]:
        """Answer packed calls; yields as `Subject.ask` does."""
        calls: list[Call] = recipes.unpack(packed)
        assert self._subject is not None, "prepare() comes first"
        yield from self._subject.ask(calls)


def _made(recipe: Recipe) -> Subject:
    return subject(
        recipe.make(),
        recipe.name,
        recipe.prompt,
        recipe.fixture,
        recipe.timeout,
    )


def _enter(folder: str, path: Sequence[str]) -> None:
    """Let this process find the files and the modules that the
    driver finds, where this machine has them.
    """
    if Path(folder).is_dir():
        os.chdir(folder)
    sys.path += [
        place for place in path if place not in sys.path and Path(place).exists()
    ]
