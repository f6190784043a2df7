"""A file of questions that a run sends in place of making
them: the same ones wherever it is asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_recsys_mt.safety.errors import DataError, NotApplicable
from pytest_recsys_mt.suites.lrworld.question import (
    LASTFM,
    MEASURES,
    Measure,
    Question,
    read_file,
)


def measures_of(family: str) -> tuple[Measure, ...]:
    """The measures that can be asked about data of a
    family; all of them about data of none.
    """
    return tuple(each for each in (*MEASURES, *LASTFM) if family in ("", each.dataset))


@dataclass(frozen=True)
class QuestionFile:
    """The questions of a file, which was found unchanged, and its first line.

    The digest is the SHA-256 of the questions and of how they were made.
    """

    digest: str
    path: Path = field(compare=False)
    about: Mapping[str, Any] = field(compare=False)
    questions: tuple[Question, ...] = field(compare=False)

    @classmethod
    def read(cls, path: Path | str) -> QuestionFile:
        """The file at `path`; raises `DataError` if it cannot be read, was changed, has
        another format, or has no question that a test asks.
        """
        about, questions = read_file(Path(path))
        found = cls(about["digest"], Path(path), about, questions)
        if not questions:
            raise DataError(
                f"{str(path)!r} has no question; make one with recsys-mt questions",
            )
        never = sorted({each.measure for each in questions} - found._asked.keys())
        if never:
            format_ = (
                f"in the format of {found._family}"
                if found._family
                else "without a format"
            )
            raise DataError(
                f"{str(path)!r} has questions of the kind {never[0]!r}, which no test asks about data "
                f"{format_}; make the file anew with recsys-mt questions",
            )
        return found

    @property
    def dataset(self) -> str:
        """The name of the data that the questions are about."""
        return str(self._made.get("dataset", ""))

    @property
    def data(self) -> str:
        """SHA-256 of these data, in hexadecimal; empty if unknown."""
        return str(self._made.get("data", ""))

    @property
    def mean_log_popularity(self) -> float | None:
        """The mean logarithm of the interactions of an item
        of these data; None if unknown.
        """
        found = self._made.get("mean_log_popularity")
        return None if found is None else float(found)

    @property
    def recorded(self) -> dict[str, object]:
        """Its entry in the record: equal for equal
        questions, wherever the file lies.
        """
        return {
            "digest": self.digest,
            "dataset": self.dataset,
            "data": self.data,
            "seed": self.about.get("seed"),
            "settings": self._made,
            "questions": dict(Counter(each.measure for each in self.questions)),
        }

    def of(self, measure: Measure) -> tuple[Question, ...]:
        """The questions of a measure.

        Raises:
            NotApplicable: If it has none; data without a format are asked once, as the
                first measure that fits.
        """
        if self._family not in ("", measure.dataset):
            raise NotApplicable(
                f"needs data in the format of {measure.dataset}, and {self.dataset} is in that of "
                f"{self._family}",
            )
        found = tuple(each for each in self.questions if each.measure == measure.name)
        if not found:
            raise NotApplicable(
                f"{self.path.name} has no question of the kind {measure.name!r}",
            )
        asked = self._asked[measure.name]
        if asked != measure:
            raise NotApplicable(
                f"{self.path.name}: asked as {asked.dataset}-{asked.name}",
            )
        return found

    @property
    def _made(self) -> dict[str, Any]:
        made = self.about.get("settings")
        return made if isinstance(made, dict) else {}

    @property
    def _family(self) -> str:
        return str(self._made.get("family", ""))

    @property
    def _asked(self) -> dict[str, Measure]:
        words = {(each.measure, each.domain) for each in self.questions}
        measures = measures_of(self._family)
        fitting = [each for each in measures if (each.name, each.domain) in words]
        # Backwards, so that the first measure of a kind stays.
        return {measure.name: measure for measure in (*fitting, *measures)[::-1]}
