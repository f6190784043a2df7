"""The questions of a measure in a run: from its data,
made once per process, or from a file.
"""

import math
from collections.abc import Collection, Sequence
from typing import Any, Protocol

from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.safety.errors import NotApplicable
from pytest_recsys_mt.suites.lrworld.generator import generate, having
from pytest_recsys_mt.suites.lrworld.generator_settings import Settings
from pytest_recsys_mt.suites.lrworld.histories import Histories
from pytest_recsys_mt.suites.lrworld.question import Measure, Question
from pytest_recsys_mt.suites.lrworld.question_file import QuestionFile

_made: dict[
    tuple[str, str, str, int, int, Settings],
    tuple[tuple[Question, ...], str],
] = {}


class Tested(Protocol):
    """The part of a run that a test receives: the fixture ``recsys``."""

    dataset: Dataset
    seed: int
    design: Any  # its ``users``: ``--recsys-users``

    def option(self, name: str) -> Any:
        """The value of an option."""


def file_of(recsys: Tested) -> QuestionFile | None:
    """The file of questions to send in place of making them: ``--recsys-questions``."""
    found: QuestionFile | None = recsys.option("questions")
    return found


def settings_of(recsys: Tested) -> Settings:
    """How questions are made: ``recsys_question_setting``."""
    return Settings.of(recsys.option("question-setting"))


def questions_of(recsys: Tested, measure: Measure) -> tuple[Question, ...]:
    """The questions of a measure in a run: all of its file, or made from its data.

    Raises:
        NotApplicable: As in `questions_for`, or if the file has no such questions.
    """
    file = file_of(recsys)
    if file is not None:
        return file.of(measure)
    return questions_for(
        measure,
        recsys.dataset.known,
        recsys.design.users,
        recsys.seed,
        settings_of(recsys),
    )


def questions_for(
    measure: Measure,
    dataset: Dataset,
    count: int,
    seed: int,
    settings: Settings | None = None,
) -> tuple[Question, ...]:
    """At most `count` questions of a measure, made once per process; a dataset without
    a family serves any.

    Raises:
        NotApplicable: If the data are of another family, or insufficient for the
            questions, or if a package for training embeddings is not installed.
    """
    if dataset.family != measure.dataset and dataset.family:
        raise NotApplicable(
            f"needs data in the format of {measure.dataset}, and {dataset.name} is in that of "
            f"{dataset.family}",
        )
    settings = settings or Settings()
    domain = dataset.thing or measure.domain
    key = (dataset.digest, measure.name, domain, count, seed, settings)
    if key not in _made:
        try:
            found = generate(
                dataset,
                [measure.name],
                count=count,
                seed=seed,
                domain=domain,
                settings=settings,
            )
        except ImportError as error:
            raise NotApplicable(
                f"needs {error.name} to train embeddings: pip install 'pytest-recsys-mt[train]'",
            ) from error
        _made[key] = found.questions, found.skipped.get(measure.name, "")
    questions, lack = _made[key]
    if not questions:
        raise NotApplicable(f"{dataset.name}: {lack}")
    return questions


def rare(
    questions: Sequence[Question],
    source: Dataset | QuestionFile,
    settings: Settings | None = None,
) -> Collection[str]:
    """Names of the questions about less popular items: below the mean logarithm of all
    items' in the dataset, as far as the settings leave it, or the file.

    Raises:
        NotApplicable: If the questions are about users, or the file does not say the
            mean.
    """
    if any(question.popularity is None for question in questions):
        raise NotApplicable("needs questions about items")
    if isinstance(source, QuestionFile):
        mean = source.mean_log_popularity
        if mean is None:
            raise NotApplicable(
                f"{source.path.name} does not say how popular items are",
            )
    else:
        mean = Histories.of(
            having(source, settings or Settings()),
            1,
        ).mean_log_popularity
    return {
        question.id
        for question in questions
        if question.popularity is not None
        and math.log(max(question.popularity, 1)) < mean
    }
