"""From effects to a verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pytest_recsys_mt.answers import Answers, Asked, Context, Pairs, Sample
from pytest_recsys_mt.oracles.arguments import one_side, two_sides
from pytest_recsys_mt.oracles.bounds import Mean
from pytest_recsys_mt.oracles.effect import Effects
from pytest_recsys_mt.oracles.examples import pick
from pytest_recsys_mt.oracles.kernel import Floats
from pytest_recsys_mt.oracles.power import outlook
from pytest_recsys_mt.verdict import Status, Verdict

Promise = Literal["at most", "at least", "within"]
"""What is promised of the mean effect: at most the margin, at least the margin, or no more than the
margin either way."""


@dataclass(frozen=True)
class Claim:
    """What an oracle is asked to judge.

    Attributes:
        oracle: Its name, with its similarity or score.
        promise: See `Promise`.
        margin: In the unit of the effects.
    """

    oracle: str
    promise: Promise
    margin: float


def judge_pair(
    source: Answers, followup: Answers, claim: Claim, measure: Callable[[Pairs, Context], Effects]
) -> Verdict:
    """Judge a claim about two sides of answers.

    Args:
        source: Answers to the original requests.
        followup: Answers to the transformed ones.
        claim: What to judge.
        measure: Gives the effect of each user.

    Returns:
        The verdict, reported to the context.

    Raises:
        OracleError: If `source` and `followup` are not two sides of one run.
    """
    two_sides(claim.oracle, source, followup)
    context = source.context
    pairs = source.pair(followup)
    effects = measure(pairs, context)
    relation = followup.label or source.label
    return context.report(
        verdict_of(claim, relation, effects, context, pairs, pairs.source, pairs.followup)
    )


def judge_sample(
    answers: Answers, claim: Claim, measure: Callable[[Sample, Context], Effects]
) -> Verdict:
    """Judge a claim about the answers of one side.

    Args:
        answers: Of either side.
        claim: What to judge.
        measure: Gives the effect of each user.

    Returns:
        The verdict, reported to the context.

    Raises:
        OracleError: If `answers` are no answers of a run.
    """
    context = one_side(claim.oracle, "answers", answers).context
    sample = answers.sample()
    effects = measure(sample, context)
    sides = ((), sample.asked) if answers.label else (sample.asked, ())
    return context.report(verdict_of(claim, answers.label, effects, context, sample, *sides))


def verdict_of(
    claim: Claim,
    relation: str,
    effects: Effects,
    context: Context,
    tally: Pairs | Sample,
    source: Sequence[Asked],
    followup: Sequence[Asked],
) -> Verdict:
    """The verdict on a fixed sample of users, not yet reported.

    Args:
        claim: What to judge.
        relation: The transformation, by its name.
        effects: Of the users scored.
        context: The error rates and limits.
        tally: Counts the users that were not scored.
        source: Answers to show as the source's, or nothing.
        followup: Answers to show as the follow-up's, or nothing.
    """
    not_applicable = Counter(tally.not_applicable) + Counter(effects.not_applicable)
    errors = Counter(tally.errors) + Counter(effects.errors)
    users, failed = len(effects.rows), errors.total()
    failures = f"failed: {_counted(errors)}" if failed else ""

    def verdict(status: Status, reason: str = "", **numbers: object) -> Verdict:
        return Verdict(
            status,
            claim.oracle,
            relation,
            margin=claim.margin,
            users=users,
            not_applicable=not_applicable.total(),
            errors=failed,
            reason="; ".join(part for part in (reason, failures, effects.note) if part),
            **numbers,  # type: ignore[arg-type]
        )

    if failed and (not users or failed / (users + failed) > context.error_limit):
        share = failed / (users + failed)
        return verdict(
            "error", f"{share:.1%} of the users failed, the limit is {context.error_limit:.1%}"
        )
    if effects.mean is None:
        return verdict("not-applicable", _counted(not_applicable) or "there is no user to ask")
    mean, alpha = effects.mean, context.alpha
    shown = {
        "floor": _average(effects.floor),
        "agreement": _average(effects.agreement),
        "examples": pick(effects, excess(claim, effects.effect), source, followup, context),
    }
    if users < 2:
        return verdict("inconclusive", "one user cannot stand for all; ask at least 2", **shown)
    if effects.obstacle:
        return verdict("inconclusive", effects.obstacle, **shown)
    numbers = {
        "estimate": mean.estimate,
        "interval": (mean.lower(alpha), mean.upper(alpha)),
        "p_value": p_value(mean, claim),
        **shown,
    }
    floor = shown["floor"]
    if isinstance(floor, float) and floor <= claim.margin:
        return verdict(
            "inconclusive",
            f"answers to the same request agree only {floor:.3f}, which is not above the margin "
            f"{claim.margin:g}: no effect as large could be seen; ask for calmer answers (a lower "
            f"temperature) or take a smaller margin",
            **numbers,
        )
    status = decide(mean, claim, alpha)
    reason = ""
    if status == "inconclusive":
        value = _nearest_limit(mean, claim)
        reason = outlook(mean, effects.effect, effects.reach, value, alpha)
    return verdict(status, reason, **numbers)


def decide(mean: Mean, claim: Claim, alpha: float) -> Status:
    """Which side of the margin the mean effect is on, at error rate `alpha` a claim.

    "Violated" at ``alpha`` is a test of the promise; "holds" is a test of its opposite (Schuirmann
    1987 for "within": two one-sided tests). Between them nothing is claimed.

    Args:
        mean: What is known of the mean effect.
        claim: The promise and its margin.
        alpha: The nominal error rate of this look.
    """
    margin = claim.margin
    if claim.promise == "at most":
        holds, violated = mean.upper(alpha) < margin, mean.lower(alpha) > margin
    elif claim.promise == "at least":
        holds, violated = mean.lower(alpha) >= margin, mean.upper(alpha) < margin
    else:
        holds = mean.lower(alpha) > -margin and mean.upper(alpha) < margin
        # Two ways to break the promise share the error rate.
        violated = mean.lower(alpha / 2) > margin or mean.upper(alpha / 2) < -margin
    return "violated" if violated else "holds" if holds else "inconclusive"


def p_value(mean: Mean, claim: Claim) -> float:
    """P-value of the hypothesis that the promise holds.

    Args:
        mean: What is known of the mean effect.
        claim: The promise and its margin.
    """
    if claim.promise == "at most":
        return mean.p_at_most(claim.margin)
    if claim.promise == "at least":
        return mean.p_at_least(claim.margin)
    return min(1.0, 2 * min(mean.p_at_most(claim.margin), mean.p_at_least(-claim.margin)))


def excess(claim: Claim, effect: Floats) -> Floats:
    """How far each user's effect is beyond what the promise allows, ``(n,)``."""
    if claim.promise == "at most":
        return effect - claim.margin
    if claim.promise == "at least":
        return claim.margin - effect
    return abs(effect) - claim.margin


def _nearest_limit(mean: Mean, claim: Claim) -> float:
    two_sided = claim.promise == "within" and mean.estimate < 0
    return -claim.margin if two_sided else claim.margin


def _average(values: Floats | None) -> float | None:
    return None if values is None else float(values.mean())


def _counted(reasons: Mapping[str, int]) -> str:
    return ", ".join(f"{reason} ({count})" for reason, count in sorted(reasons.items()))
