"""A recommender under test that answers requests."""

import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from pytest_recsys_mt.calls.answer import (
    Answer,
    failure,
    plain_recommendation,
    refusing_titles,
)
from pytest_recsys_mt.calls.call import Call, Content, Part, key_of
from pytest_recsys_mt.calls.contract import RECOMMEND
from pytest_recsys_mt.calls.patience import Patience
from pytest_recsys_mt.calls.sending import as_they_arrive, together_or_apart
from pytest_recsys_mt.calls.subject import Subject
from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.requests import Recommendation, Recommender, Request, abilities
from pytest_recsys_mt.safety.errors import NotApplicable


class RecommenderSubject(Subject):
    """A recommender that answers requests.

    Args:
        recommender: The object that answers.
        name: Its name in reports and in the record.
        fixture: The fixture that gave it, if several fixtures may give objects of one
            name; else empty.
        timeout: Most seconds for one call of a method; None for no limit.
    """

    def __init__(
        self,
        recommender: Recommender,
        name: str,
        fixture: str = "",
        timeout: float | None = None,
    ) -> None:
        super().__init__(name)
        self._patience = Patience(timeout)
        self.deterministic = abilities.declares(recommender, "deterministic")
        self.seeded = abilities.declares(recommender, "seeded")
        self.reads_text = abilities.declares(recommender, "reads_text")
        self.promises = abilities.promises_of(recommender)
        self.stages = abilities.stages_of(recommender)
        self.any_length = abilities.declares(recommender, "any_length")
        self.live = abilities.declares(recommender, "live")
        self.waits = abilities.method_of(recommender, "recommend_each") is not None
        self.defined = _defined(type(recommender))
        self._recommender = recommender
        self._fixture = fixture
        self._model = Part({})
        if abilities.method_of(recommender, "fit") is None:
            self.unfit = f"{name} has no fit(dataset, seed)"

    def fit(self, training: Dataset, seed: int) -> None:
        recommender = self._recommender
        fit = abilities.method_of(recommender, "fit")
        if fit is not None:
            fit(training.apart(), seed)
        self.ignores = abilities.ignored_by(recommender)
        self.reads_latest = abilities.latest_read_by(recommender)
        fingerprint = abilities.fingerprint_of(recommender)
        self.durable = fingerprint is not None
        self.fingerprint = (
            key_of({"fingerprint": fingerprint}) if self.durable else None
        )
        identity = self._identity_in_key()
        identity["fingerprint"] = fingerprint
        identity["seed"] = seed
        if fit is not None:
            identity["training"] = training.digest
        self._model = Part(identity)

    def stand_for(self, fit: str) -> None:
        """Stand for one fit while planning: `fit` distinguishes its calls."""
        identity = self._identity_in_key()
        identity["fit"] = fit
        self._model = Part(identity)

    def _identity_in_key(self) -> dict[str, Any]:
        return abilities.identity_in_key(self._recommender, self.name, self._fixture)

    def same_question(self, one: Request, other: Request) -> bool:
        same_question = abilities.method_of(self._recommender, "same_question")
        if one == other:
            return True
        if same_question is None:
            return False
        return bool(same_question(one, other))

    def call(self, request: Request, repeat: bool) -> Call:
        content = Content(self._model, request, repeat)
        return Call(key_of(content), content, request)

    def ask(self, calls: Sequence[Call]) -> Iterator[list[tuple[int, Answer]]]:
        """Send the calls as one batch; if that fails, one by one, so that each fails
        alone.

        A recommender with a `recommend_each` does both itself, and yields answers as
        they arrive.
        """
        requests = [call.request for call in calls if call.request is not None]
        recommend_each = abilities.method_of(self._recommender, "recommend_each")
        if recommend_each is None:
            return together_or_apart(self._recommend, requests)

        def plain(position: int, arrived: Recommendation | NotApplicable) -> Answer:
            if isinstance(arrived, NotApplicable):
                return failure(arrived)
            return _plain_answer(arrived, requests[position])

        return as_they_arrive(recommend_each, requests, plain)

    def _recommend(self, requests: Sequence[Request]) -> list[Answer]:
        returned = self._patience.call(self._recommender.recommend, requests)
        recommendations = RECOMMEND.held(returned, len(requests))
        pairs = zip(recommendations, requests, strict=False)
        return [
            _plain_answer(recommendation, request) for recommendation, request in pairs
        ]


def _plain_answer(recommendation: Recommendation, request: Request) -> Answer:
    return refusing_titles(plain_recommendation(recommendation), request)


def _defined(kind: type) -> str:
    """The file and the name of a class; empty for one of this
    package, which answers for many recommenders.
    """
    if kind.__module__.partition(".")[0] == __name__.partition(".")[0]:
        return ""
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return f"{os.path.realpath(file)}:{kind.__qualname__}" if file else ""
