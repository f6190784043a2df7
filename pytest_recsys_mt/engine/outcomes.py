"""The results of users, and how they are made of answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_recsys_mt.calls.answer import Answer
from pytest_recsys_mt.calls.call import Call
from pytest_recsys_mt.calls.executor import Executor
from pytest_recsys_mt.calls.subject import Subject
from pytest_recsys_mt.engine.cases import Case
from pytest_recsys_mt.requests import Recommendation, Request
from pytest_recsys_mt.safety.errors import NotApplicable
from pytest_recsys_mt.verdict.answers import Asked


@dataclass(frozen=True)
class Outcome:
    """The result of one user on one side: an `Asked`, or why there is no answer.

    `times` says when its calls were sent, in Unix seconds; None stands for an unknown
    time. `fingerprints` are those of the answering models, None for an unknown one, and
    `keys` those of its calls.
    """

    asked: Asked | None = None
    error: str = ""
    not_applicable: str = ""
    unasked: str = ""
    times: frozenset[float | None] = frozenset()
    fingerprints: frozenset[str | None] = frozenset()
    keys: tuple[str, ...] = ()


class AnswerReader:
    """Reads the answers of one recommender."""

    def __init__(self, subject: Subject, executor: Executor) -> None:
        self._subject = subject
        self._executor = executor

    def read(self, request: Request, call: Call, answer: Answer) -> Recommendation:
        """The recommendation in an answer; the run counts whether it could be read."""
        read = self._subject.read(request, answer)
        is_longer = read.text is None and len(read.items) > request.k
        if is_longer and not self._subject.any_length:
            self._subject.longer.add(call.key)
        hidden, takes_json = self._subject.hidden(request), self._subject.takes_json
        self._executor.readings.note(
            self._subject.name,
            call.key,
            read,
            hidden,
            takes_json=takes_json,
        )
        return read

    def outcomes(
        self,
        cases: Sequence[Case],
        requests: Mapping[int, Request],
        answers: Sequence[tuple[int, Call, Answer]],
    ) -> dict[int, Outcome]:
        """The results of `requests`, by position of their case;
        each answer stands behind its position and its call.
        """
        keys: dict[int, tuple[str, ...]] = dict.fromkeys(requests, ())
        read: dict[int, list[Recommendation]] = {position: [] for position in requests}
        times: dict[int, set[float | None]] = {position: set() for position in requests}
        prints: dict[int, set[str | None]] = {position: set() for position in requests}
        outcomes = {}
        for position, call, answer in answers:
            keys[position] += (call.key,)
            if "unasked" in answer:
                outcomes[position] = Outcome(unasked=answer["unasked"])
                continue
            times[position].add(answer.get("asked") if self._subject.live else None)
            prints[position].add(
                answer.get("system_fingerprint") or self._subject.fingerprint,
            )
            try:
                read[position].append(self.read(requests[position], call, answer))
            except NotApplicable as reason:
                outcomes[position] = Outcome(
                    not_applicable=str(reason),
                    keys=keys[position],
                )
        for position, recommendations in read.items():
            if position in outcomes:
                continue
            errors = [
                answer.error for answer in recommendations if answer.error is not None
            ]
            if errors:
                outcomes[position] = Outcome(error=errors[0], keys=keys[position])
                continue
            case = cases[position]
            request = requests[position]
            hidden = self._subject.hidden(request)
            asked = Asked(
                request,
                tuple(recommendations),
                case.held_out,
                case.past,
                hidden,
            )
            outcomes[position] = Outcome(
                asked,
                times=frozenset(times[position]),
                fingerprints=frozenset(prints[position]),
                keys=keys[position],
            )
        return outcomes
