"""The results of users: how they are made of answers, whose are lost, and whether those
of two sides are of one time.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pytest_recsys_mt.calls.answer import Answer
from pytest_recsys_mt.calls.call import Call
from pytest_recsys_mt.calls.executor import Executor
from pytest_recsys_mt.calls.subject import Subject
from pytest_recsys_mt.engine.cases import Case
from pytest_recsys_mt.requests import Recommendation, Request
from pytest_recsys_mt.safety.errors import NotApplicable
from pytest_recsys_mt.verdict.answers import Asked, Lost


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
        if read.text is not None:
            self._executor.readings.note(
                self._subject.name,
                call.key,
                read,
                self._subject.hidden(request),
                takes_json=self._subject.takes_json,
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


def lost(user: str, source: Outcome, followup: Outcome | None = None) -> Lost | None:
    """Why a user got no answer on one side, or on at least one of two; None if all are
    there.

    A failed call is the reason before a refusal: if it is sent again, it may be
    answered.

    Args:
        user: The id of the user.
        source: The outcome of the request.
        followup: The outcome of the changed request; None if there is no second side.
    """
    outcomes = [source] if followup is None else [source, followup]
    answered = None if followup is None else source.asked
    for outcome in outcomes:
        if outcome.error:
            return Lost(user, "failed", outcome.error, answered)
    for outcome in outcomes:
        if outcome.not_applicable:
            return Lost(user, "refused", outcome.not_applicable, answered)
    return None


def cannot_answer(*sides: Iterable[Outcome]) -> bool:
    """Whether a recommender refuses every question of a side, so that it cannot answer
    this kind.

    Failed calls say nothing about that. A recommender that answers some users and
    refuses others chooses whom a verdict is about, so these are counted.
    """
    return any(_refuses_all(list(side)) for side in sides)


def _refuses_all(side: Sequence[Outcome]) -> bool:
    answered = any(outcome.asked is not None for outcome in side)
    return not answered and any(outcome.not_applicable for outcome in side)


def parted(
    found: Sequence[Lost],
    *,
    cannot: bool,
) -> tuple[tuple[Lost, ...], dict[str, str]]:
    """Separate users who count as lost from those whose question the recommender cannot
    answer.

    Args:
        found: All users without an answer.
        cannot: Whether the recommender refuses every question of a side, see
            `cannot_answer`.

    Returns:
        The lost users, and the reason of the refusal by user; without `cannot` all are
        lost.
    """
    if not cannot:
        return tuple(found), {}
    failed = tuple(loss for loss in found if loss.why == "failed")
    reason_by_user = {loss.user: loss.reason for loss in found if loss.why == "refused"}
    return failed, reason_by_user


def first_unasked(outcomes: Sequence[Outcome]) -> int:
    """The place of the first outcome whose calls were not sent;
    the number of outcomes if there is none.
    """
    for place, outcome in enumerate(outcomes):
        if outcome.unasked:
            return place
    return len(outcomes)


def unasked(outcomes: Sequence[Outcome]) -> Counter[str]:
    """Why the users from the first unasked one on do not count, with their number."""
    reason = ""
    reasons = Counter[str]()
    for outcome in outcomes:
        # One who was answered behind a gap does not count either.
        reason = outcome.unasked or reason
        reasons[reason] += 1
    return reasons


LATELY = 3600.0
"""Seconds within which two answers with the same fingerprint count as of one
time; `drift` uses it, too.
"""


def apart_by(ours: Collection[float | None], theirs: Collection[float | None]) -> float:
    """Seconds between the first and the last time of two sides: 0 if all are the same,
    infinity if one is unknown.
    """
    if ours == theirs:
        return 0.0
    known_times = []
    for time in {*ours, *theirs}:
        if time is None:
            return math.inf
        known_times.append(time)
    return max(known_times) - min(known_times)


def of_one_time(one: Outcome, other: Outcome, *, one_recommender: bool = True) -> bool:
    """Whether both sides of a user count as answered at one time: together, or within
    `LATELY` by known versions.

    Of one recommender, that is one version; of two, each has its own.
    """
    between = apart_by(one.times, other.times)
    if not between:
        return True
    versions = one.fingerprints | other.fingerprints
    are_known = (
        None not in versions and len(one.fingerprints) == len(other.fingerprints) == 1
    )
    return (
        between <= LATELY and are_known and (len(versions) == 1 or not one_recommender)
    )
