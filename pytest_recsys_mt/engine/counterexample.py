"""The smallest request that still shows a violation.

A violated verdict is about all users; a person wants to see one user and the smallest
request. So its oracle judges the worst user alone, with less and less of the history
and of the candidates, while it still sees that user's effect beyond the margin.

A recommender that is not deterministic shows any effect now and then, and the search
keeps the requests that do. So the shown effect was seen again in fresh answers, which
had no part in the search.
"""

import math
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from pytest_recsys_mt.engine.cases import Case
from pytest_recsys_mt.engine.one_user import OneUser, Rationed, Spent
from pytest_recsys_mt.engine.recsys import Recsys
from pytest_recsys_mt.engine.shrinking import smaller
from pytest_recsys_mt.engine.sides import Side
from pytest_recsys_mt.oracles.judging.examples import titles_of
from pytest_recsys_mt.requests import Request
from pytest_recsys_mt.safety.errors import MissingAnswerError
from pytest_recsys_mt.verdict.verdict import Example, Verdict

FRESH = 8
"""How many times a request is sent afresh, if the recommender is not deterministic."""

SEEN = 7
"""In how many of them the violation must be seen again. If a request shows it in at
most one half of all answers, this happens with a probability of at most 9 / 256 =
0.035.
"""

STEP = (FRESH + 1, FRESH + 2)
"""Numbers of the fresh answers in which each step of the search must be seen too."""

KEPT = 0.25
"""Share of the time that is kept for the fresh answers of the smallest request."""

WHOLE = "this is the whole request, because less was not seen again for sure"

BY_CHANCE = "seen once: with a recommender that is not deterministic this can be chance"


@dataclass(frozen=True)
class Counterexample:
    """One user's smallest request found that still shows a violation."""

    source: Request
    followup: Request | None  # None if the oracle judges the source alone
    example: Example
    effect: float  # in the unit of the margin; the mean of the fresh answers if it was sent afresh
    whole: Request
    calls: int = 0
    # False if the search ended before nothing more could be left out.
    minimal: bool = False
    ended: str = ""


def may_shrink(verdict: Verdict) -> bool:
    """Whether a smallest example can be searched: whether there are effects of users
    and a margin.

    Where the answer must change, a smaller request says nothing: among fewer candidates
    any answer changes less.
    """
    if verdict.estimate is None or verdict.again is None or _limit(verdict) is None:
        return False
    _, sides = verdict.again
    recommenders = {
        side.runner.subject.name for side in sides if isinstance(side, Side)
    }
    if len(recommenders) > 1:  # each would need a request for one user
        return False
    is_shown = verdict.status == "violated" and bool(verdict.examples)
    return is_shown and verdict.allowed != "at least"


def smallest(
    recsys: Recsys,
    verdict: Verdict,
    limit: int,
    seconds: float = math.inf,
    earlier: Mapping[str, Any] | None = None,
) -> Counterexample | None:
    """Minimise the request of the user with the largest effect of a violated verdict.

    The smallest request of an `earlier` run, as its record has it, is tried first.
    While it shows the violation, the example stays the same one.

    The search reduces the history first, then the candidates (and `k` with them), in
    turn until neither shrinks further; it keeps at least one item of each, and where
    answers must change, two candidates and the part that the relation changes. Calls
    are numbered as in the test, so a stochastic recommender gets the same replicates,
    and with a cache every search ends alike. It may send, or look up, `limit` distinct
    calls beyond those of the test; calls that are on their way when the time is over
    are still waited for.

    Returns:
        The smallest request found within the limit; None if the user alone does not
        show the violation, as in a test of another design, or not again in
        fresh answers.
    """
    until = time.monotonic() + seconds
    found = (
        None
        if earlier is None
        else _Search(recsys, verdict).run(limit, seconds, earlier)
    )
    return found or _Search(recsys, verdict).run(limit, until - time.monotonic())


def answered_as_before(
    source: Side,
    followup: Side,
    earlier: Mapping[str, Any],
) -> bool | None:
    """Whether the smallest request of an `earlier` run, as its record has it, is
    answered now as it was then.

    None if it cannot be sent, or is not answered.
    """
    runner = source.runner
    case, request = _earlier(
        {case.request.user: case for case in runner.cases},
        earlier,
    )
    with suppress(
        Exception,
    ):  # the test itself shows the failure; records are untrusted
        if case is not None and request is not None:
            case = replace(case, request=case.knowing(request))
            one = OneUser(runner, Rationed(runner.subject), case)
            context = one.context()
            pairs = source.on(one, context).pair(followup.on(one, context))
            return all(
                tuple(row["answer"])
                in [titles_of(each, context.items) for each in asked.answers]
                for row, (asked, *_) in (
                    (earlier["source"], pairs.source),
                    (earlier["followup"], pairs.followup),
                )
            )
    return None


class _Search:
    def __init__(self, recsys: Recsys, verdict: Verdict) -> None:
        self._runner = recsys.runner
        self._verdict = verdict
        self._subject = Rationed(self._runner.subject)
        self._ended = ""
        self._missing = False
        self._failed = False
        self._until = math.inf
        self._best: Counterexample | None = None

    def run(
        self,
        limit: int,
        seconds: float,
        earlier: Mapping[str, Any] | None = None,
    ) -> Counterexample | None:
        self._until = end = time.monotonic() + seconds
        if not may_shrink(self._verdict):
            return None
        cases = {case.request.user: case for case in self._runner.cases}
        if earlier is None:
            case = cases.get(self._verdict.examples[0].user)
            start = None if case is None else case.request
        else:
            case, start = _earlier(cases, earlier)
            self._subject.limit = limit
        if case is None or start is None or not self._shows(case, start):
            return None
        look = len(self._subject.sent)
        # The test has made the calls of a whole request; only the additional calls of
        # the search are counted.
        known = look if earlier is None else 0
        self._subject.limit = known + limit
        found = self._best
        assert found is not None
        if self._runner.deterministic:
            self._reduce(case, start)
            return self._finished(known)
        whole = self._again(case, start, found)
        if whole is None:
            return None
        # The smallest request is sent afresh too, so a part of the calls and of the
        # time is kept.
        self._subject.limit -= FRESH * look
        self._until -= KEPT * seconds if math.isfinite(seconds) else 0.0
        request = self._reduce(case, start)
        smallest = self._finished(known)
        if not whole.ended:
            return replace(smallest, ended=f"{smallest.ended}; {BY_CHANCE}")
        if request == start:
            return replace(
                smallest,
                effect=whole.effect,
                ended=f"{smallest.ended}; {whole.ended}",
            )
        self._subject.limit, self._until, self._ended = known + limit, end, ""
        again = self._again(case, request, smallest)
        calls = len(self._subject.sent) - known
        if again is None or not again.ended:
            return replace(whole, calls=calls, ended=f"{WHOLE}; {whole.ended}")
        return replace(again, calls=calls, ended=f"{smallest.ended}; {again.ended}")

    def _finished(self, known: int) -> Counterexample:
        assert self._best is not None
        ended = self._ended or (
            "the other answers are not recorded"
            if self._missing
            else "nothing more can be left out, or the recommender fails"
            if self._failed
            else "nothing more can be left out"
        )
        return replace(
            self._best,
            calls=len(self._subject.sent) - known,
            minimal=not self._ended and not self._missing,
            ended=ended,
        )

    def _again(
        self,
        case: Case,
        request: Request,
        found: Counterexample,
    ) -> Counterexample | None:
        effects: list[float] = []
        shown = 0
        for number in range(1, FRESH + 1):
            fresh = self._look(case, request, number)
            if self._ended or self._missing:
                return replace(found, ended="")
            if fresh is not None:
                effects.append(fresh.effect)
                shown += _beyond(self._verdict, fresh.effect)
            if number - shown > FRESH - SEEN:
                return None
        mean = math.fsum(effects) / len(effects)
        if not _beyond(self._verdict, mean):
            return None
        return replace(
            found,
            effect=mean,
            ended=f"seen again in {shown} of {FRESH} fresh answers",
        )

    def _reduce(self, case: Case, request: Request) -> Request:
        while True:
            before = request
            request = smaller(request, partial(self._shows, case))
            if self._ended or request == before:
                return request

    def _shows(self, case: Case, request: Request) -> bool:
        found = self._look(case, request)
        if found is None or not _beyond(self._verdict, found.effect):
            return False
        # Else the search follows chance, and its result is not seen again.
        for number in () if self._best is None or self._runner.deterministic else STEP:
            fresh = self._look(case, request, number)
            if fresh is None or not _beyond(self._verdict, fresh.effect):
                return False
        self._best = found
        return True

    def _look(
        self,
        case: Case,
        request: Request,
        fresh: int = 0,
    ) -> Counterexample | None:
        if self._ended:
            return None
        if time.monotonic() > self._until:
            self._ended = "the time was over"
            return None
        request = case.knowing(request)
        runner = OneUser(self._runner, self._subject, replace(case, request=request))
        judge, sides = self._verdict.again
        context = runner.context()
        if any(side.runner is not self._runner for side in sides):
            return None  # of another design
        self._subject.fresh = fresh
        known = self._subject.sent.copy()
        try:
            verdict = judge(*(side.on(runner, context) for side in sides))
        except Spent as spent:
            self._ended = str(spent)
            self._subject.sent = known  # the others of this request are not sent
            return None
        except MissingAnswerError:
            self._missing = True
            return None
        except Exception:  # noqa: BLE001 - a relation that cannot change so small a request
            return None
        if verdict.estimate is None or not verdict.examples:
            self._failed = self._failed or verdict.errors > 0
            return None
        source = runner.requests.get(verdict.against, request)
        followup = runner.requests.get(verdict.relation) if verdict.relation else None
        if self._verdict.changes and not (followup and _may_change(source, followup)):
            return None
        return Counterexample(
            source=source,
            followup=followup,
            example=verdict.examples[0],
            effect=verdict.estimate,
            whole=case.request,
        )


def _earlier(
    cases: Mapping[str, Case],
    shrunk: Mapping[str, Any],
) -> tuple[Case | None, Request | None]:
    with suppress(KeyError, TypeError):
        case = cases[shrunk["user"]]
        source, whole = shrunk["source"], case.request
        shown, offered = (
            None
            if source[name] is None
            else {str(each["item"]) for each in source[name]}
            for name in ("history", "candidates")
        )
        history = tuple(
            rating for rating in whole.history if rating.item.id in (shown or ())
        )
        if offered is None or whole.candidates is None:
            return case, whole.replace(history=history) if history else None
        candidates = tuple(item for item in whole.candidates if item.id in offered)
        if history and candidates:
            k = min(whole.k, len(candidates))
            return case, whole.replace(history=history, candidates=candidates, k=k)
    return None, None


def _may_change(source: Request, followup: Request) -> bool:
    """Whether two requests may have different answers: they are different questions,
    and more than one answer is possible.
    """
    offers = (source.candidates, followup.candidates)
    several = all(offer is None or len(offer) > 1 for offer in offers)
    return several and source.replace(replicate=0) != followup.replace(replicate=0)


def _limit(verdict: Verdict) -> float | None:
    """What the effect of one user must exceed; None if a user alone shows nothing."""
    # It promises something of every user, so it has no margin: any change breaks it.
    return 0.0 if verdict.oracle == "never_differs" else verdict.margin


def _beyond(violated: Verdict, effect: float) -> bool:
    estimate, limit = (violated.broken or violated).estimate, _limit(violated)
    assert estimate is not None
    assert limit is not None
    if estimate > limit:
        return effect > limit
    # Below: of "at least the margin", or of "within the margin" on its lower side.
    if estimate < -limit:
        return effect < -limit
    return effect < limit
