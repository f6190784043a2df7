"""Earlier answers of a language model, judged without the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from pytest_recsys_mt.datasets import recordings
from pytest_recsys_mt.datasets.recordings import Recording
from pytest_recsys_mt.llm.reading.known_films import KnownFilms
from pytest_recsys_mt.llm.reading.parser import read
from pytest_recsys_mt.llm.reading.titles import TitleIndex
from pytest_recsys_mt.requests import Recommendation, Request, specs
from pytest_recsys_mt.safety.errors import DataError, NotApplicable, RecommenderError
from pytest_recsys_mt.safety.files import expanded
from pytest_recsys_mt.safety.sanitize import without_controls

PREFIX = "recorded:"
Ranked = Literal["all", "candidates"]


class Recorded:
    """Returns the recorded answer to a recorded question, and refuses any other
    question.

    A repeated question gets the next recorded answer. Answers no longer change, so it
    is not `live`.

    Args:
        path: Path of a file in the format of `pytest_recsys_mt.datasets.recordings`.
            The questions are those of this file as a dataset.
        ranked: Which entries take a place in the ranking: ``"all"`` that an answer
            names, or only the ``"candidates"``, as published evaluations rank.

    Raises:
        DataError: If the file cannot be read.
    """

    live = False

    def __init__(self, path: Path, ranked: Ranked = "all") -> None:
        self._recordings = recordings.read(path)
        self._name = path.name
        self._ranked = ranked
        items = recordings.catalogue(self._recordings.values())
        self._index = TitleIndex(items.values())
        self._known = KnownFilms(items.values())
        self.deterministic = all(
            len(each.replies) == 1 for each in self._recordings.values()
        )

    @classmethod
    def from_spec(cls, spec: str) -> Recorded:
        """The recommender in ``recorded:FILE.jsonl``.

        Raises:
            RecommenderError: If the file cannot be read, or a parameter is invalid; the
                text says why.
        """
        target, given = specs.split(spec)
        path = expanded(target.removeprefix(PREFIX))

        def make(ranked: Ranked = "all") -> Recorded:
            try:
                return cls(path, ranked)
            except DataError as error:
                raise RecommenderError(f"{spec!r}: {error}") from error

        made: Recorded = specs.build(make, given, spec)
        return made

    def same_question(self, one: Request, other: Request) -> bool:
        """Whether two requests have one answer: a shorter
        list is the start of the longer one.
        """
        return one.replace(k=1, replicate=0) == other.replace(k=1, replicate=0)

    def recommend(self, requests: Sequence[Request], /) -> list[Recommendation]:
        """The recorded answers, read by the parser of all text answers; raises
        `NotApplicable` if a request is not a recorded question.
        """
        return [self._answer(request) for request in requests]

    def _answer(self, request: Request) -> Recommendation:
        recording = self._recordings.get(request.user)
        if recording is None:
            raise NotApplicable(f"no question of this user is recorded in {self._name}")
        if difference := _difference(request, recording):
            raise NotApplicable(f"not recorded: {difference}")
        if request.replicate >= len(recording.replies):
            raise NotApplicable(f"recorded {len(recording.replies)} times only")
        reply = recording.replies[request.replicate]
        text = without_controls(reply.text)
        if not text.strip():
            return Recommendation((), text=text, error="the recorded answer is empty")
        found = read(
            text,
            request,
            self._index,
            truncated=reply.cut_off,
            exists=self._known.hold,
        )
        answer = found.recommendation(request.k, text)
        if self._ranked == "candidates":
            offered = {item.id for item in recording.request.candidates or ()}
            named = dict.fromkeys(
                entry.item for entry in found.entries if entry.item in offered
            )
            answer = replace(answer, items=tuple(filter(None, named))[: request.k])
        return answer


def _difference(request: Request, recording: Recording) -> str:
    recorded = recording.request
    if request.instruction or request.edits:
        return "the prompt differs"
    if request.candidates != recorded.candidates:
        return "the candidates differ"
    if len(request.history) != len(recorded.history):
        return f"the history has another length than the recorded {len(recorded.history)} items"
    if request.history != recorded.history or request.scale != recorded.scale:
        return "the history differs"
    return (
        ""
        if request.attributes == recorded.attributes
        else "the description of the user differs"
    )
