"""What the oracles for multiple-choice questions share: from the choices to a verdict."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pytest_recsys_mt.answers import Choices, Context
from pytest_recsys_mt.errors import OracleError
from pytest_recsys_mt.oracles.judging.account import Account
from pytest_recsys_mt.oracles.judging.claim import Claim, Promise
from pytest_recsys_mt.oracles.judging.effect import places_of
from pytest_recsys_mt.oracles.judging.family import judge_family
from pytest_recsys_mt.oracles.judging.ladder import (
    BOTH_ENDS,
    too_many_unread,
    unread_counts,
    unreadable,
    without_verdict,
)
from pytest_recsys_mt.oracles.statistics.bounds import Mean
from pytest_recsys_mt.verdict import Verdict


def _missed(*sides: Choices) -> set[str]:
    return {
        name
        for side in sides
        for name, chosen in zip(side.questions, side.chosen, strict=True)
        if chosen is None
    }


def begun(
    oracle: str,
    context: Context,
    *sides: Choices,
    details: Mapping[str, object] | None,
    column: bool = True,
    **fields: Any,
) -> tuple[Verdict, bool]:
    """The verdict without numbers, whose details may have no `column`; and whether it is reported, since nothing can be judged.

    There may be no questions, too many failed calls, or too many missed answers.
    """
    missed, asked = _missed(*sides), sides[0].questions
    known = [name for name in asked if name not in missed]
    names = [name for name in asked if name in missed]
    places = dict(zip(names, places_of(names, known, asked), strict=True))
    worst = max(sides, key=lambda side: side.missed if side.chosen else 0.0)
    told: dict[str, Any] = {} if column else {"column": False}
    told |= {"unit": "questions", "questions_digest": sides[0].digest}
    told |= {**unreadable(worst, places), **(details or {})}
    why = {name: side.why or "no answer" for side in sides for name in side.failed}
    answered = set.intersection(*({*side.questions} - {*why} for side in sides))
    unread = too_many_unread(worst, context, "option")
    if worst.unreadable and worst.unreadable == worst.answers:
        unread = unread or "no option was read in any answer"
    account = Account(
        drawn=len(answered) + len(why),
        answered=len(answered - missed),
        unread=len(answered & missed),
        failed=Counter(why.values()),
    )
    found = without_verdict(account, {}, context, unread=unread, who="question")
    status, reason = found or ("inconclusive", "")
    users = min(len(side.questions) for side in sides)
    fields |= {"users": users, "errors": len(why), "reason": reason, "details": told}
    fields["account"] = account.plain
    verdict = Verdict(status, oracle, sides[-1].label, **fields)
    return (verdict, False) if found is None else (context.report(verdict), True)


def judged(
    verdict: Verdict, mean: Mean, promise: Promise, limit: float, context: Context, **fields: Any
) -> Verdict:
    """The reported verdict on a mean over questions, with one-sided bounds at error rate alpha each.

    `verdict` is the one that was `begun`. Its details follow those in `fields`.
    """
    low, high = mean.lower(context.alpha), mean.upper(context.alpha)
    family = judge_family(Claim(verdict.oracle, promise, limit), [mean], context.alpha)
    status, reason = family.statuses[0], fields.pop("reason", "")
    if status == "inconclusive":
        bounds = (
            f"the bounds [{low:.3f}, {high:.3f}] contain the limit {limit:g}; ask more questions"
        )
        reason = "; ".join(filter(None, (reason, bounds)))
    fields["threshold" if "metric" in fields else "margin"] = limit
    fields["details"] |= verdict.details
    fields |= {"status": status, "reason": reason, "p_value": family.p_value, "allowed": promise}
    return context.report(replace(verdict, interval=(low, high), **fields))


def unknown(source: Choices, *followups: Choices) -> tuple[list[int], str]:
    """Places of the questions whose follow-up alone failed, or of which a choice could not be read, and what is told."""
    failed = {name for each in followups for name in each.failed}
    missed = _missed(source, *followups) - failed
    places = [place for place, name in enumerate(source.questions) if name in failed | missed]
    asked = len(source.questions)
    few = len(failed.intersection(source.questions))
    told = (
        f"{few} of {asked} questions got no answer after the change; each {BOTH_ENDS}"
        if few
        else "",
        unread_counts(len(places) - few, asked, "question") if len(places) > few else "",
    )
    return places, "; ".join(filter(None, told))


def paired(oracle: str, source: Choices, followup: Choices) -> list[tuple[int, int]]:
    """Places of the questions that both sides answered, in which an option was read or not; an error if they share none."""
    places = {name: place for place, name in enumerate(followup.questions)}
    found = [(place, places[name]) for place, name in enumerate(source.questions) if name in places]
    if source.questions and followup.questions and not found:
        raise OracleError(
            f"{oracle}: the two sides have no question in common; a change keeps the names of the "
            f"questions, got {source.questions[0]!r} and {followup.questions[0]!r}"
        )
    return found
