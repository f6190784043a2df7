"""The path from choices to a verdict in all oracles for multiple-choice questions."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_recsys_mt.oracles.judging.account import (
    BOTH_ENDS,
    Account,
    joined,
    too_many_unread,
    unread_counts,
    unreadable,
    without_verdict,
)
from pytest_recsys_mt.oracles.judging.claim import Claim, Promise, judge_family
from pytest_recsys_mt.oracles.judging.effect import places_of
from pytest_recsys_mt.oracles.statistics.bounds import Mean
from pytest_recsys_mt.safety.errors import OracleError
from pytest_recsys_mt.verdict.answers import Choices, Context
from pytest_recsys_mt.verdict.verdict import Verdict


def _missed(*sides: Choices) -> set[str]:
    """The questions for which no option was read on a side."""
    missed: set[str] = set()
    for side in sides:
        for name, chosen in zip(side.questions, side.chosen, strict=True):
            if chosen is None:
                missed.add(name)
    return missed


def begun(
    oracle: str,
    context: Context,
    *sides: Choices,
    details: Mapping[str, object] | None,
    column: bool = True,
    **fields: Any,
) -> tuple[Verdict, bool]:
    """The verdict without numbers, and whether it is reported, since nothing can be
    judged.

    There may be no questions, too many failed calls, or too many missed answers.

    Args:
        oracle: The name of the oracle.
        context: The limits of the run.
        sides: The choices of each side.
        details: Further details of the verdict.
        column: Whether a table may have a column of the verdict.
        fields: Further fields of the verdict.
    """
    missed = _missed(*sides)
    worst = max(sides, key=lambda side: side.missed if side.chosen else 0.0)
    reasons: dict[str, str] = {}
    for side in sides:
        reasons |= dict.fromkeys(side.failed, side.why or "no answer")
    on_all_sides = set(sides[0].questions).intersection(
        *(side.questions for side in sides),
    )
    answered = on_all_sides - reasons.keys()
    account = Account(
        drawn=len(answered) + len(reasons),
        answered=len(answered - missed),
        unread=len(answered & missed),
        failed=Counter(reasons.values()),
    )
    unread = too_many_unread(worst, context, "option")
    if not unread and worst.unreadable and worst.unreadable == worst.answers:
        unread = "no option was read in any answer"
    without = without_verdict(account, {}, context, unread=unread, who="question")
    status, reason = without or ("inconclusive", "")

    all_details: dict[str, Any] = {} if column else {"column": False}
    all_details |= {"unit": "questions", "questions_digest": sides[0].digest}
    all_details |= unreadable(worst, _places(missed, sides[0].questions))
    all_details |= details or {}
    fields |= {
        "users": min(len(side.questions) for side in sides),
        "errors": len(reasons),
        "reason": reason,
        "details": all_details,
        "account": account.plain,
    }
    verdict = Verdict(status, oracle, sides[-1].label, **fields)
    if without is None:
        return verdict, False
    return context.report(verdict), True


def _places(missed: Collection[str], questions: Sequence[str]) -> dict[str, int]:
    """For each missed question, before which of the other questions it stands."""
    known = [name for name in questions if name not in missed]
    unknown = [name for name in questions if name in missed]
    places = places_of(unknown, known, questions)
    return dict(zip(unknown, places, strict=True))


def judged(
    verdict: Verdict,
    mean: Mean,
    promise: Promise,
    limit: float,
    context: Context,
    **fields: Any,
) -> Verdict:
    """The reported verdict on a mean over questions, with one-sided bounds at error
    rate alpha each.

    Args:
        verdict: The one that was `begun`; its details follow those in `fields`.
        mean: The estimate of the mean.
        promise: The promise about it.
        limit: The limit of the promise.
        context: The facts of the run.
        fields: Further fields of the verdict, with `details`.
    """
    low = mean.lower(context.alpha)
    high = mean.upper(context.alpha)
    claim = Claim(verdict.oracle, promise, limit)
    family = judge_family(claim, [mean], context.alpha)
    status = family.statuses[0]
    reason = fields.pop("reason", "")
    if status == "inconclusive":
        bounds = f"the bounds [{low:.3f}, {high:.3f}] contain the limit {limit:g}; ask more questions"
        reason = joined(reason, bounds)
    name_of_limit = "threshold" if "metric" in fields else "margin"
    fields["details"] |= verdict.details
    fields |= {
        name_of_limit: limit,
        "status": status,
        "reason": reason,
        "interval": (low, high),
        "p_value": family.p_value,
        "allowed": promise,
    }
    return context.report(replace(verdict, **fields))


def unknown(source: Choices, *followups: Choices) -> tuple[list[int], str]:
    """The questions of which a choice is unknown.

    Returns:
        The places of the questions whose follow-up alone failed, or of which a choice
        could not be read, and how they count, in words.
    """
    failed: set[str] = set()
    for followup in followups:
        failed |= set(followup.failed)
    unread = _missed(source, *followups) - failed
    without_choice = failed | unread
    places = []
    for place, name in enumerate(source.questions):
        if name in without_choice:
            places.append(place)
    asked = len(source.questions)
    failed_count = len(failed.intersection(source.questions))
    unread_count = len(places) - failed_count
    of_failed = ""
    if failed_count:
        of_failed = f"{failed_count} of {asked} questions got no answer after the change; each {BOTH_ENDS}"
    of_unread = ""
    if unread_count > 0:
        of_unread = unread_counts(unread_count, asked, "question")
    return places, joined(of_failed, of_unread)


def paired(oracle: str, source: Choices, followup: Choices) -> list[tuple[int, int]]:
    """Places of the questions that both sides answered, in which an option was read or
    not.

    Raises:
        OracleError: If the sides share no question.
    """
    followup_places = {name: place for place, name in enumerate(followup.questions)}
    pairs = []
    for place, name in enumerate(source.questions):
        if name in followup_places:
            pairs.append((place, followup_places[name]))
    if source.questions and followup.questions and not pairs:
        raise OracleError(
            f"{oracle}: the two sides have no question in common; a change keeps the names of the "
            f"questions, got {source.questions[0]!r} and {followup.questions[0]!r}",
        )
    return pairs
