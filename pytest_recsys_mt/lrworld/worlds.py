"""The questions of a measure from the data of a run, made once per process."""

import math
from collections.abc import Collection, Sequence

import numpy as np

from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.errors import NotApplicable
from pytest_recsys_mt.lrworld.generator import generate
from pytest_recsys_mt.lrworld.histories import Histories
from pytest_recsys_mt.lrworld.question import Measure, Question

_made: dict[tuple[str, str, str, int, int], tuple[tuple[Question, ...], str]] = {}


def questions_for(
    measure: Measure, dataset: Dataset, count: int, seed: int
) -> tuple[Question, ...]:
    """The questions of a measure.

    Args:
        measure: One of the 31, or of the two on Last.fm.
        dataset: The dataset of the run; one without a family can serve any measure.
        count: Most questions.
        seed: The seed of the run.

    Raises:
        NotApplicable: If the data are of another family, or insufficient for the questions, or if a
            package for training embeddings is not installed.
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
        questions: The questions; those without a popularity are in neither group, so do not judge
            them by it.
        dataset: The dataset whose items with interactions count.

    Raises:
        NotApplicable: If the questions are about users.
    """
    if any(question.popularity is None for question in questions):
        raise NotApplicable("needs questions about items")
    counts = Histories.of(dataset, 1).popularity
    mean = float(np.log(counts[counts > 0]).mean())
    return {
        question.id
        for question in questions
        if question.popularity is not None and math.log(max(question.popularity, 1)) < mean
    }
