"""The options of LRWorld: its questions come from a
file, or are made as a setting says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_recsys_mt.extensions import SuiteOption
from pytest_recsys_mt.safety.errors import DataError, RecommenderError
from pytest_recsys_mt.safety.files import expanded

if TYPE_CHECKING:
    from pytest_recsys_mt.suites.lrworld.question_file import QuestionFile


def _file(text: str | None) -> QuestionFile | None:
    if text is None:
        return None
    from pytest_recsys_mt.suites.lrworld.question_file import QuestionFile

    try:
        return QuestionFile.read(expanded(text))
    except DataError as error:
        raise ValueError(f"--recsys-questions: {error}") from None


def _changed(texts: tuple[str, ...]) -> tuple[str, ...]:
    """The settings that differ from the defaults."""
    if not texts:
        return ()
    from pytest_recsys_mt.suites.lrworld.generator_settings import Settings

    try:
        return Settings.of(texts).changed
    except RecommenderError as error:
        raise ValueError(f"recsys_question_setting: {error}") from None


OPTIONS = (
    SuiteOption(
        "questions",
        "file of questions that suites/lrworld asks in place of making them; recsys-mt questions writes one",
        "FILE",
        in_ini=False,
        make=_file,
        is_data=True,
    ),
    SuiteOption(
        "question-setting",
        "how suites/lrworld makes its questions, such as support=0.02, with blanks between several",
        "NAME=VALUE",
        default=(),
        repeatable=True,
        make=_changed,
        without={
            "questions": "says how questions are made, and --recsys-questions asks those that are made; leave one of them out",
        },
    ),
)
