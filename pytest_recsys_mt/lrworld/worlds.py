"""The questions of a measure from the data of a run, made once a process."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.errors import NotApplicable
from pytest_recsys_mt.lrworld.generator import generate
from pytest_recsys_mt.lrworld.question import Measure, Question

_made: dict[tuple[str, str, str, int, int], tuple[tuple[Question, ...], str]] = {}


def questions_for(
    measure: Measure, dataset: Dataset, count: int, seed: int
) -> tuple[Question, ...]:
    """The questions of a measure.

    Args:
        measure: One of the 31, or of the two on Last.fm.
        dataset: Of the run; those that are in no family's format can serve any measure.
        count: Questions at most.
        seed: Of the run.

    Raises:
        NotApplicable: If the data are of another family, or lack what the questions need, or a
            package that trains embeddings is not installed.
    """
    if dataset.family != measure.dataset and dataset.family:
        raise NotApplicable(
            f"needs data in the format of {measure.dataset}, and {dataset.name} is in that of "
            f"{dataset.family}"
        )
    key = (dataset.digest, measure.name, measure.domain, count, seed)
    if key not in _made:
        try:
            found = generate(dataset, [measure.name], count=count, seed=seed, domain=measure.domain)
        except ImportError as error:
            raise NotApplicable(
                f"needs {error.name} to train embeddings: pip install 'pytest-recsys-mt[train]'"
            ) from error
        _made[key] = found.questions, found.skipped.get(measure.name, "")
    questions, lack = _made[key]
    if not questions:
        raise NotApplicable(f"{dataset.name}: {lack}")
    return questions


def rare(questions: Sequence[Question], dataset: Dataset) -> Collection[str]:
    """Names of the questions about less popular items: below the mean logarithm of all items'.

    Args:
        questions: Those without a popularity are in neither group, and must not be judged by it.
        dataset: Whose items count, those with interactions.

    Raises:
        NotApplicable: If the questions are about users.
    """
    if any(question.popularity is None for question in questions):
        raise NotApplicable("needs questions about items")
    logarithms = [math.log(count) for count in dataset.popularity.values() if count]
    mean = sum(logarithms) / len(logarithms)
    return {
        question.id
        for question in questions
        if question.popularity is not None and math.log(max(question.popularity, 1)) < mean
    }
