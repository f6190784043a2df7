"""A recommender with a fault planted around it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import cast

from pytest_recsys_mt.calls.answer import (
    FAILURES,
    Answer,
    failure,
    plain_recommendation,
)
from pytest_recsys_mt.calls.call import (
    AGAIN,
    COUNTED_APART,
    Call,
    Content,
    Part,
    key_of,
)
from pytest_recsys_mt.calls.executor import Executor
from pytest_recsys_mt.calls.subject import Subject, Wrapped
from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.engine.settings import Settings
from pytest_recsys_mt.faults import Dose, Fault, Known
from pytest_recsys_mt.faults.comparing import Compared
from pytest_recsys_mt.gate.document import Planted
from pytest_recsys_mt.requests import Message, Recommendation, Request
from pytest_recsys_mt.safety.errors import NotApplicable


class Faulty(Wrapped):
    """A subject that sends calls to another one, and changes its request, its answer,
    or both.

    The answers of the sound recommender come through the executor, so from the cache
    where it has them. The answers of this subject are cached for the run only: its keys
    are those of the sound one with the fault.

    Args:
        sound: The recommender without the fault.
        dose: The fault and its strength.
        training: The data that the recommender is fitted to; a fault may use its
            catalogue and popularity.
        settings: The settings of the run.
        executor: Sends the calls to the sound recommender.

    Attributes:
        behind: The sound recommender. Only its calls count.
        dose: The fault and its strength.
        probed: Whether the present calls are of no test, and look for an effect of the
            fault elsewhere.
    """

    def __init__(
        self,
        sound: Subject,
        dose: Dose,
        training: Dataset,
        settings: Settings,
        executor: Executor,
    ) -> None:
        super().__init__(sound)
        self.behind = sound
        self.dose = dose
        users = frozenset(training.interactions["user"])
        known = Known(training.items, training.popularity, users, settings.seed)
        self._fault: Fault = dose.planted(known)
        declared = self._fault.deterministic
        self.deterministic = sound.deterministic if declared is None else declared
        self.durable = False
        self.fingerprint = sound.fingerprint
        if sound.fingerprint:
            self.fingerprint = key_of({"sound": sound.fingerprint, "fault": dose.spec})
        self.probed = False
        self._executor = executor
        self._replicates = settings.design.replicates
        fit = [training.digest, settings.seed, id(sound)]
        self._model = Part({"model": self.name, "fault": dose.spec, "fit": fit})
        # If it only gets the requests of the tests, the fault changes the very answers
        # that it is compared with.
        exact = sound.deterministic or not self._fault.costs()
        self._compared = Compared(exact)
        self._elsewhere = Compared(exact)

    def messages(self, request: Request) -> Sequence[Message]:
        return self.origin.messages(self._fault.request(request))

    def call(self, request: Request, repeat: bool) -> Call:
        content = Content(self._model, request, repeat)
        return Call(key_of(content), content, request)

    def prompt_tokens(self, call: Call) -> int | None:
        return None  # it sends nothing itself

    def ask(self, calls: Sequence[Call]) -> Iterator[list[tuple[int, Answer]]]:
        requests = [call.request for call in calls if call.request is not None]
        sound = _SoundAnswers(self, calls)
        try:
            recommendations = self._fault.recommend(requests, sound)
            _require_lists(recommendations, len(requests), self.dose.name)
            answers = [
                sound.plain(recommendation) for recommendation in recommendations
            ]
        except FAILURES as error:
            answers = [failure(error)] * len(calls)
        else:
            self._compare(calls, requests, recommendations, sound)
        yield list(enumerate(answers))

    def _compare(
        self,
        calls: Sequence[Call],
        requests: Sequence[Request],
        recommendations: Sequence[Recommendation],
        sound: _SoundAnswers,
    ) -> None:
        """Add the recommendations, and those without the fault, to the comparison."""
        if calls and calls[0].purpose in COUNTED_APART and not self.probed:
            return  # no verdict depends on these answers
        compared = self._elsewhere if self.probed else self._compared
        without_fault = sound.answers(requests, anyway=self.probed)
        for request, faulty, expected in zip(
            requests,
            recommendations,
            without_fault,
            strict=True,
        ):
            if expected is None or expected.error is not None:
                continue
            if faulty.error is None:
                compared.add(request, expected.items, faulty.items)

    def read(self, request: Request, answer: Answer) -> Recommendation:
        return Subject.read(self, request, answer)

    def sound_calls(
        self,
        calls: Sequence[Call],
        requests: Sequence[Request],
    ) -> list[Call]:
        """The calls of the sound recommender for `requests`,
        numbered as its own tests number them.
        """
        repeat = any(bool(call.content["repeat"]) for call in calls)
        purpose = calls[0].purpose if calls else "request"
        sound_calls = []
        for request in requests:
            numbered = request.replace(
                replicate=self._number_of_sound(request.replicate),
            )
            call = self.origin.call(numbered, repeat)
            sound_calls.append(replace(call, purpose=purpose))
        return sound_calls

    def _number_of_sound(self, replicate: int) -> int:
        """The number of the sound recommender's replicate behind one of the faulty one.

        One of both may be deterministic and so have a single replicate. Numbers from
        `AGAIN` on are further calls.
        """
        replicates_of_sound = 1 if self.origin.deterministic else self._replicates
        replicates = 1 if self.deterministic else self._replicates
        if replicate >= AGAIN:
            return replicate % replicates_of_sound
        return replicate * replicates_of_sound // replicates

    def sent(self, calls: Sequence[Call], *, anyway: bool) -> Sequence[Answer]:
        """The answers of the sound recommender; without
        `anyway`, those that cost nothing.
        """
        if anyway:
            return self._executor.execute(self.origin, calls)
        return self._executor.at_hand(self.origin, calls)

    def compared(self) -> Planted:
        """How far its answers differ from those of the
        sound recommender, as plain data.
        """
        entry = {"fault": self.dose.spec, "model": self.name, **self._compared.plain()}
        planted = cast("Planted", entry)
        if self._elsewhere:
            planted["elsewhere"] = self._elsewhere.plain()
        return planted

    @property
    def met(self) -> bool:
        """Whether an answer to a test differed."""
        return self._compared.differs


def _require_lists(answers: Sequence[object], requests: int, fault: str) -> None:
    """Refuse the result of a user's fault unless it is one list of ids per request."""
    if len(answers) != requests:
        raise ValueError(
            f"the fault {fault!r} gave {len(answers)} answers to {requests} requests",
        )
    for answer in answers:
        items = answer.items if isinstance(answer, Recommendation) else (answer,)
        for item in items:
            if not isinstance(item, str):
                raise TypeError(
                    f"the fault {fault!r} put {item!r} into its answer; items are ids, each a str",
                )


class _SoundAnswers:
    """The sound recommender as a fault sees it during
    one batch; no call is sent twice.
    """

    def __init__(self, faulty: Faulty, calls: Sequence[Call]) -> None:
        self._faulty = faulty
        self._calls = calls
        # By `id` of the request, and with it: while it is held here, no other object
        # gets its id.
        self._sound_calls: dict[int, tuple[Request, Call]] = {}
        self._recommendations: dict[str, Recommendation] = {}  # by key of the call
        self._failed_answers: dict[int, Answer] = {}  # by `id` of the recommendation

    def __call__(self, requests: Sequence[Request]) -> list[Recommendation]:
        return [
            answer
            for answer in self.answers(requests, anyway=True)
            if answer is not None
        ]

    def answers(
        self,
        requests: Sequence[Request],
        *,
        anyway: bool,
    ) -> list[Recommendation | None]:
        """The answers; without `anyway`, None where one would cost a call."""
        new = [request for request in requests if id(request) not in self._sound_calls]
        for request, call in zip(
            new,
            self._faulty.sound_calls(self._calls, new),
            strict=True,
        ):
            self._sound_calls[id(request)] = (request, call)
        calls = [self._sound_calls[id(request)][1] for request in requests]
        self._send_missing(requests, calls, anyway=anyway)
        return [self._recommendations.get(call.key) for call in calls]

    def _send_missing(
        self,
        requests: Sequence[Request],
        calls: Sequence[Call],
        *,
        anyway: bool,
    ) -> None:
        """Send each call whose answer is not known; two requests may be one call."""
        missing_calls: dict[str, Call] = {}
        request_by_key: dict[str, Request] = {}
        for request, call in zip(requests, calls, strict=True):
            if call.key not in self._recommendations:
                missing_calls[call.key] = call
                request_by_key[call.key] = request
        if not missing_calls:
            return
        answers = self._faulty.sent(list(missing_calls.values()), anyway=anyway)
        for key, answer in zip(missing_calls, answers, strict=True):
            if answer:
                self._recommendations[key] = self._read(request_by_key[key], answer)

    def _read(self, request: Request, answer: Answer) -> Recommendation:
        if "unasked" in answer or "not_applicable" in answer:
            reason = answer.get("unasked") or answer.get("not_applicable")
            recommendation = Recommendation((), error=reason)
        else:
            try:
                recommendation = self._faulty.origin.read(request, answer)
            except NotApplicable as refusal:
                answer = {"not_applicable": str(refusal)}
                recommendation = Recommendation((), error=str(refusal))
        if recommendation.error is not None:
            self._failed_answers[id(recommendation)] = answer
        return recommendation

    def plain(self, recommendation: Recommendation) -> Answer:
        """A recommendation of the fault as an answer; one of a
        failed call is that call's answer.
        """
        failed_answer = self._failed_answers.get(id(recommendation))
        if failed_answer is not None:
            return failed_answer
        if isinstance(recommendation, Recommendation):
            # The usage counts with the sound recommender's call.
            recommendation = replace(recommendation, usage=None)
        return plain_recommendation(recommendation)
