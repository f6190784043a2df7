"""A recommender under test that answers requests."""

from collections.abc import Iterator, Sequence

from pytest_recsys_mt import abilities
from pytest_recsys_mt.calls.answer import Answer, failure, plain_recommendation, refusing_titles
from pytest_recsys_mt.calls.call import Call, Content, Part, key_of
from pytest_recsys_mt.calls.contract import RECOMMEND
from pytest_recsys_mt.calls.patience import Patience
from pytest_recsys_mt.calls.sending import as_they_arrive, together_or_apart
from pytest_recsys_mt.calls.subject import Subject
from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.errors import NotApplicable
from pytest_recsys_mt.requests import Recommendation, Recommender, Request


class RecommenderSubject(Subject):
    """A recommender that answers requests."""

    def __init__(
        self, recommender: Recommender, name: str, fixture: str = "", timeout: float | None = None
    ) -> None:
        super().__init__(name)
        self._patience = Patience(timeout)
        self.deterministic = abilities.declares(recommender, "deterministic")
        self.seeded = abilities.declares(recommender, "seeded")
        self.reads_text = abilities.declares(recommender, "reads_text")
        self.promises = abilities.promises_of(recommender)
        self.live = abilities.declares(recommender, "live")
        self.waits = abilities.method_of(recommender, "recommend_each") is not None
        self._recommender = recommender
        self._fixture = fixture
        self._model = Part({})
        if abilities.method_of(recommender, "fit") is None:
            self.unfit = f"{name} has no fit(dataset, seed)"

    def fit(self, training: Dataset, seed: int) -> None:
        fit = abilities.method_of(self._recommender, "fit")
        if fit is not None:
            fit(training.apart(), seed)
        self.ignores = abilities.ignored_by(self._recommender)
        self.reads_latest = abilities.latest_read_by(self._recommender)
        fingerprint = abilities.fingerprint_of(self._recommender)
        self.durable = fingerprint is not None
        self.fingerprint = key_of({"fingerprint": fingerprint}) if self.durable else None
        identity = abilities.identity_in_key(self._recommender, self.name, self._fixture)
        identity |= {"fingerprint": fingerprint, "seed": seed}
        if fit is not None:
            identity["training"] = training.digest
        self._model = Part(identity)

    def stand_for(self, fit: str) -> None:
        """Be one of several fits in a plan, which makes none: its calls are told apart by `fit`."""
        self._model = Part(
            {**abilities.identity_in_key(self._recommender, self.name, self._fixture), "fit": fit}
        )

    def same_question(self, one: Request, other: Request) -> bool:
        same = abilities.method_of(self._recommender, "same_question")
        return one == other or (same is not None and bool(same(one, other)))

    def call(self, request: Request, repeat: bool) -> Call:
        content = Content(self._model, request, repeat)
        return Call(key_of(content), content, request)

    def ask(self, calls: Sequence[Call]) -> Iterator[list[tuple[int, Answer]]]:
        """Send the calls as one batch; if that fails, one by one, so that each fails alone.

        A recommender with a `recommend_each` does both itself, and yields answers as they arrive.
        """
        requests = [call.request for call in calls if call.request is not None]
        each = abilities.method_of(self._recommender, "recommend_each")
        if each is None:
            return together_or_apart(self._recommend, requests)

        def plain(place: int, answer: Recommendation | NotApplicable) -> Answer:
            if isinstance(answer, NotApplicable):
                return failure(answer)
            return refusing_titles(plain_recommendation(answer), requests[place])

        return as_they_arrive(each, requests, plain)

    def _recommend(self, requests: Sequence[Request]) -> list[Answer]:
        answers = self._patience.call(self._recommender.recommend, requests)
        held = map(plain_recommendation, RECOMMEND.held(answers, len(requests)))
        return [*map(refusing_titles, held, requests)]
