"""What the oracles for multiple-choice questions share: from the choices to a verdict."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from pytest_recsys_mt.answers import Choices, Context
from pytest_recsys_mt.errors import OracleError
from pytest_recsys_mt.oracles.judging.claim import Claim, decide, p_value
from pytest_recsys_mt.oracles.judging.ladder import without_verdict
from pytest_recsys_mt.oracles.statistics.bounds import Mean
from pytest_recsys_mt.verdict import Verdict

Promise = Literal["above", "at most"]
"""The promise about a mean: above the limit, or at most the limit."""

QUOTED = 3
"""How many unread answers a verdict quotes."""

LONGEST = 80
"""Characters of a quoted answer; its end is shown, where an answer mostly stands."""


def details_of(choices: Choices, details: Mapping[str, object] | None = None) -> dict[str, Any]:
    """The details of every verdict on questions: what is counted, and which questions were asked."""
    return {"unit": "questions", "questions_digest": choices.digest, **(details or {})}


def clear(verdict: Verdict, context: Context, *sides: Choices) -> Verdict:
    """The verdict, but ``inconclusive`` where too many answers could not be read.

    What a model chose in them is unknown, so their share says how well answers are read, and not what the
    model knows.
    """
    worst = max(sides, key=lambda side: side.missed)
    if verdict.status not in ("holds", "violated") or worst.missed <= context.missed_limit:
        return verdict
    quoted = ", ".join(f'"{_quoted(text)}"' for text in worst.unread[:QUOTED])
    reason = (
        f"no option was read in {worst.missed:.1%} of the answers, more than {context.missed_limit:.1%} "
        f"(--recsys-missed-limit)"
    )
    reason += f", such as {quoted}; ask for the mark alone" if quoted else ""
    return replace(
        verdict, status="inconclusive", reason="; ".join(filter(None, (reason, verdict.reason)))
    )


def _quoted(text: str) -> str:
    """The end of an answer in one line."""
    line = " ".join(text.split()).replace('"', "'")
    return line if len(line) <= LONGEST else f"...{line[-LONGEST:]}"


def judged(
    oracle: str,
    mean: Mean,
    promise: Promise,
    limit: float,
    context: Context,
    **fields: Any,
) -> Verdict:
    """The verdict on a mean over questions, with one-sided bounds at error rate alpha each."""
    low, high = mean.lower(context.alpha), mean.upper(context.alpha)
    claim = Claim(oracle, "at least" if promise == "above" else "at most", limit)
    status = decide(mean, claim, context.alpha)
    reason = fields.pop("reason", "")
    if status == "inconclusive":
        bounds = (
            f"the bounds [{low:.3f}, {high:.3f}] contain the limit {limit:g}; ask more questions"
        )
        reason = "; ".join(filter(None, (reason, bounds)))
    return Verdict(
        status,
        oracle,
        interval=(low, high),
        p_value=p_value(mean, claim),
        reason=reason,
        allowed=claim.promise,
        **fields,
    )


def obstacle(
    oracle: str, context: Context, *sides: Choices, details: Mapping[str, object] | None = None
) -> Verdict | None:
    """The verdict if there is nothing to judge: no questions, or too many failed calls."""
    why = {name: side.why or "no answer" for side in sides for name in side.failed}
    answered = set.intersection(*({*side.questions} - {*why} for side in sides))
    found = without_verdict(len(answered), Counter(why.values()), {}, {}, context, who="question")
    if found is None:
        return None
    status, reason = found
    return Verdict(
        status,
        oracle,
        sides[-1].label,
        users=min(len(side.questions) for side in sides),
        errors=len(why),
        reason=reason,
        details=dict(details or {}),
    )


def broken(source: Choices, *followups: Choices) -> list[int]:
    """Places of the questions whose source was answered but whose follow-up failed."""
    failed = {name for each in followups for name in each.failed}
    return [place for place, name in enumerate(source.questions) if name in failed]


def paired(oracle: str, source: Choices, followup: Choices) -> list[tuple[int, int]]:
    """Places of the questions that both sides answered.

    Raises:
        OracleError: If both sides have questions but share none.
    """
    places = {name: place for place, name in enumerate(followup.questions)}
    found = [(place, places[name]) for place, name in enumerate(source.questions) if name in places]
    if source.questions and followup.questions and not found:
        raise OracleError(
            f"{oracle}: the two sides have no question in common; a change keeps the names of the "
            f"questions, got {source.questions[0]!r} and {followup.questions[0]!r}"
        )
    return found
