"""Turns effects into a verdict."""

from __future__ import annotations

import dataclasses
import math
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pytest_recsys_mt.answers import Answers, Asked, Context, Pairs, Sample
from pytest_recsys_mt.errors import OracleError
from pytest_recsys_mt.oracles.arguments import one_side, two_sides
from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.judging.effect import (
    MOST_HOLES,
    Effects,
    follow_ups_failed,
    mostly_holes,
)
from pytest_recsys_mt.oracles.judging.examples import pick
from pytest_recsys_mt.oracles.judging.power import outlook
from pytest_recsys_mt.oracles.judging.together import Anew, confirmed, twice, with_age
from pytest_recsys_mt.oracles.judging.versions import with_versions
from pytest_recsys_mt.oracles.statistics.bounds import Mean
from pytest_recsys_mt.verdict import NOT_ASKED, Allowed, Status, Verdict

JOINT = (
    "some follow-ups failed, and it is unknown what their users would add to a number of all users "
    "together; find out why they fail"
)

MORE_OF_ALL = "the bounds contain the margin; ask more users"
"""For a number of all users together: how it changes with more users is unknown."""

MANY_REASONS = 12
"""The most failure reasons that are listed one by one; an error may name its user."""

FIRST_STEP = 20
"""Users that every verdict asks first."""

LEAST_STEP = 5
"""Fewest users that a step adds, because each step waits for its answers."""

Promise = Allowed
"""The promise about the mean effect."""


@dataclass(frozen=True)
class Claim:
    """What an oracle has to judge.

    Attributes:
        oracle: Its name, with its similarity or score.
        promise: See `Promise`.
        margin: The margin, in the unit of the effects.
        ask_everybody: Whether all users are asked even if the verdict is clear earlier, because the mean
            itself is wanted: after an early stop it is too far from the margin.
        ways: In how many ways the whole promise can break; this claim is one of them.
    """

    oracle: str
    promise: Promise
    margin: float
    ask_everybody: bool = False
    ways: int = 1


@dataclass(frozen=True)
class Seen:
    """The results of the users asked so far.

    Attributes:
        effects: Effects of the scored users.
        tally: Counts the users that were not scored.
        source: Answers to show as the source's, or empty.
        followup: Answers to show as the follow-up's, or empty.
    """

    effects: Effects
    tally: Pairs | Sample
    source: Sequence[Asked]
    followup: Sequence[Asked]


def judge_pair(
    source: Answers, followup: Answers, claim: Claim, measure: Callable[[Pairs, Context], Effects]
) -> Verdict:
    """Judge a claim about two sides of answers, step by step.

    Args:
        source: Answers to the original requests.
        followup: Answers to the transformed ones.
        claim: What to judge.
        measure: Returns the effect of each user.

    Returns:
        The verdict, reported to the context.

    Raises:
        OracleError: If `source` and `followup` are not two sides of one run.
    """
    verdict = compare(source, followup, claim, measure)
    return source.context.report(verdict)


def compare(
    source: Answers, followup: Answers, claim: Claim, measure: Callable[[Pairs, Context], Effects]
) -> Verdict:
    """Judge a claim as `judge_pair` does, but do not report it: the caller combines several verdicts.

    Args:
        source: Answers to the original requests.
        followup: Answers to the transformed ones.
        claim: What to judge.
        measure: Returns the effect of each user.

    Raises:
        OracleError: If `source` and `followup` are not two sides of one run.
    """
    two_sides(claim.oracle, source, followup)
    context = source.context

    def seen(pairs: Pairs, context: Context = context) -> Seen:
        effects = with_age(with_versions(measure(pairs, context), pairs), pairs)
        if pairs.broken:
            unmeasured = {reason: len(users) for reason, users in pairs.broken.items()}
            effects = dataclasses.replace(
                effects, unmeasured=unmeasured, unknown=_places_of_broken(effects, pairs)
            )
        return Seen(effects, pairs, pairs.source, pairs.followup)

    looked: list[tuple[Seen, int, Pairs]] = []

    def see(users: int) -> Seen:
        pairs = source.pair(followup, users)
        looked.append((seen(pairs), users, pairs))
        return looked[-1][0]

    relation = followup.label or source.label
    verdict = step_by_step(claim, relation, context, source.applicable(followup), see)
    latest, users, before = looked[-1]
    moved = any(_per_user(latest).values())

    def anew() -> Anew | None:
        asked, everybody = users, source.applicable(followup)
        noisy = dataclasses.replace(context, deterministic=False, family=1)
        while (pairs := source.pair_anew(followup, asked)) is not None:
            changed = 0
            if context.deterministic:
                pairs, changed = twice(before, pairs)
                if not changed:
                    return None
            together = seen(pairs, noisy)
            ends = context.deterministic or asked >= everybody or bool(pairs.unasked)
            if ends or _is_settled(claim, together, noisy, everybody):
                return Anew(verdict_of(claim, relation, together, noisy), changed)
            asked = next_step(asked, everybody)
        return None

    verdict = confirmed(verdict, claim.promise, before.apart, moved, context.deterministic, anew)
    return dataclasses.replace(verdict, against=source.label if followup.label else "")


def judge_sample(
    answers: Answers, claim: Claim, measure: Callable[[Sample, Context], Effects]
) -> Verdict:
    """Judge a claim about the answers of one side, step by step.

    Args:
        answers: Answers of either side.
        claim: What to judge.
        measure: Returns the effect of each user.

    Returns:
        The verdict, not reported yet.

    Raises:
        OracleError: If `answers` are not answers of a run.
    """
    context = one_side(claim.oracle, "answers", answers).context

    def see(users: int) -> Seen:
        sample = answers.sample(users)
        sides = ((), sample.asked) if answers.label else (sample.asked, ())
        return Seen(measure(sample, context), sample, *sides)

    return step_by_step(claim, answers.label, context, answers.applicable(), see)


def step_by_step(
    claim: Claim, relation: str, context: Context, users: int, see: Callable[[int], Seen]
) -> Verdict:
    """Ask more and more users until the verdict is clear or all users were asked.

    After a violation, more users are asked until it is also significant among all tests of the run.

    Args:
        claim: What to judge.
        relation: Name of the transformation.
        context: The error rates and limits of the run.
        users: Number of users that can be asked.
        see: Asks the given total number of users, always the same first ones.

    Raises:
        OracleError: If the limit lies outside the range of all users' effects.
    """
    asked, looks = 0, 0
    while True:
        asked = users if context.ask_everybody or claim.ask_everybody else next_step(asked, users)
        looks += 1
        seen = see(asked)
        decided = _decided_beforehand(claim, seen.effects)  # the range may grow with further users
        if decided and asked >= users:
            raise OracleError(decided)
        settled = not decided and _is_settled(claim, seen, context, users)
        if settled or asked >= users or seen.tally.unasked:
            verdict = verdict_of(claim, relation, seen, context)
            return dataclasses.replace(verdict, looks=looks)


def _decided_beforehand(claim: Claim, effects: Effects) -> str:
    """Why no answers of these users could break the limit, or none could keep it; empty if they could."""
    low, high = effects.reach
    if effects.mean is not None or effects.obstacle or not low < high < math.inf:
        return ""
    limit, within = claim.margin, claim.promise == "within"
    largest = max(high, -low) if within else high
    always = limit >= largest if claim.promise != "at least" else limit <= low
    if not always and (within or low <= limit <= high):
        return ""
    return (
        f"{claim.oracle}: {claim.promise} {limit:g} would {'hold' if always else 'be violated'} whatever "
        f"the answers are, because values lie from {low:g} to {high:g}; give a limit between them"
    )


def next_step(asked: int, users: int) -> int:
    """The total number of users to ask next: a few at first, then a tenth more each time.

    Args:
        asked: Number of users asked so far.
        users: Number of users that can be asked.
    """
    return min(users, max(FIRST_STEP, asked + max(LEAST_STEP, asked // 10)))


def _is_settled(claim: Claim, seen: Seen, context: Context, users: int) -> bool:
    """Whether further users would not change the verdict."""
    effects, errors = seen.effects, _errors_of(seen)
    # Failures so far may be bad luck. They are final once no number of successes can make up for them.
    if too_many_failed(errors, len(effects.rows), context):
        return errors.total() > context.error_limit * users
    if effects.obstacle or not len(effects.rows):
        return bool(effects.obstacle)
    mean = effects.of_all
    status = decide(mean, claim, context.alpha)
    if status == "violated":
        return p_value(mean, claim) <= context.alpha / (context.family * claim.ways)
    return status == "holds"


def _errors_of(seen: Seen) -> Counter[str]:
    """Why users' calls failed, with their numbers."""
    unmeasured = Counter(seen.effects.unmeasured)
    return Counter(seen.tally.errors) + Counter(seen.effects.errors) + unmeasured


def _places_of_broken(effects: Effects, pairs: Pairs) -> tuple[int, ...]:
    """For each user whose follow-up failed, before which scored user they stand."""
    order = {user: place for place, user in enumerate(pairs.order)}
    scored = [order[pairs.source[row].user] for row in effects.rows]
    failed = [order[asked.user] for users in pairs.broken.values() for asked in users]
    return tuple(bisect(scored, place) for place in sorted(failed))


def verdict_of(claim: Claim, relation: str, seen: Seen, context: Context) -> Verdict:
    """The verdict on the users asked so far, whether or not more can be asked.

    Args:
        claim: What to judge.
        relation: Name of the transformation.
        seen: The results of all users asked so far.
        context: The error rates and limits of the run.
    """
    effects, tally = seen.effects, seen.tally
    not_applicable = Counter(tally.not_applicable) + Counter(effects.not_applicable)
    failed = Counter(tally.errors) + Counter(effects.errors)
    failures = [f"failed: {counted(failed)}"] if failed else []
    users, others = len(effects.rows), sum(effects.unmeasured.values())
    if others:
        told = follow_ups_failed(others, users + others)
        failures.append(f"{told} ({counted(effects.unmeasured)})")
    errors = _errors_of(seen)

    def verdict(status: Status, reason: str = "", **numbers: object) -> Verdict:
        return Verdict(
            status,
            claim.oracle,
            relation,
            margin=claim.margin,
            allowed=claim.promise,
            joint=effects.joint,
            approximate=effects.approximate,
            users=users,
            not_applicable=not_applicable.total(),
            errors=errors.total(),
            reason="; ".join(part for part in (reason, *failures, effects.note) if part),
            **numbers,  # type: ignore[arg-type]
        )

    unasked = f"{NOT_ASKED}{counted(tally.unasked)}" if tally.unasked else ""
    too_many = too_many_failed(errors, users, context)
    if unasked and (too_many or not users):
        return verdict("inconclusive", unasked)
    if too_many:
        failures = []
        return verdict("error", too_many)
    if not users:
        return verdict("not-applicable", counted(not_applicable) or "there is no user to ask")
    # Values of an aggregate are pseudo-values without bounds, so the reach is widened to include them.
    per_user = _per_user(seen)
    ends = (*effects.reach, *per_user.values())
    shown = {
        "floor": _average(effects.floor),
        "agreement": _average(effects.agreement),
        "examples": pick(
            effects, excess(claim, effects.effect), seen.source, seen.followup, context
        ),
        "reach": None if effects.obstacle else (min(ends), max(ends)),
        "per_user": {} if effects.obstacle else per_user,
    }
    if effects.obstacle:
        return verdict("inconclusive", unasked or effects.obstacle, **shown)
    if others and effects.joint:
        return verdict("inconclusive", unasked or JOINT, **shown)
    alpha, mean = context.alpha, effects.of_all
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
            f"{claim.margin:g}: no effect of that size could be seen; ask for less variable answers (a "
            f"lower temperature) or use a smaller margin",
            **numbers,
        )
    status = decide(mean, claim, alpha)
    reason = ""
    if status == "holds" and effects.holes > MOST_HOLES:
        status = "inconclusive"
        reason = mostly_holes(effects.holes)
    elif status == "inconclusive":
        reason = unasked
        # If only the unmeasured users prevent a verdict, asking more users does not help.
        measured = dataclasses.replace(effects, unknown=())
        if effects.joint and not unasked:
            reason = MORE_OF_ALL
        elif not unasked and decide(measured.of_all, claim, alpha) == status:
            reason = outlook(effects, *_nearest_limit(mean, claim), alpha, context.users)
    return verdict(status, reason, **numbers)


def decide(mean: Mean, claim: Claim, alpha: float) -> Status:
    """Which side of the margin the mean effect is on, at error rate `alpha` per claim.

    "Violated" is a test of the promise at `alpha`. "Holds" is a test of its opposite at `alpha`
    (Schuirmann 1987 for "within": two one-sided tests). If neither test rejects, nothing is claimed. If
    both tests reject, the claim with the smaller p-value wins.

    Args:
        mean: The estimate of the mean effect.
        claim: The promise and its margin.
        alpha: The error rate of each claim.
    """
    against, for_ = p_value(mean, claim), p_value_of_opposite(mean, claim)
    if against <= alpha or for_ <= alpha:
        return "violated" if against < for_ else "holds"
    return "inconclusive"


def p_value(mean: Mean, claim: Claim) -> float:
    """P-value of the hypothesis that the promise holds.

    Args:
        mean: The estimate of the mean effect.
        claim: The promise and its margin.
    """
    if claim.promise == "at most":
        return mean.p_at_most(claim.margin)
    if claim.promise == "at least":
        return mean.p_at_least(claim.margin)
    return mean.p_within(claim.margin)


def p_value_of_opposite(mean: Mean, claim: Claim) -> float:
    """P-value of the hypothesis that the promise does not hold.

    Args:
        mean: The estimate of the mean effect.
        claim: The promise and its margin.
    """
    if claim.promise == "at most":
        return mean.p_at_least(claim.margin)
    if claim.promise == "at least":
        return mean.p_at_most(claim.margin)
    return max(mean.p_at_least(claim.margin), mean.p_at_most(-claim.margin))


def excess(claim: Claim, effect: Floats) -> Floats:
    """By how much each user's effect exceeds what the promise allows, ``(n,)``."""
    if claim.promise == "at most":
        return effect - claim.margin
    if claim.promise == "at least":
        return claim.margin - effect
    return abs(effect) - claim.margin


def _per_user(seen: Seen) -> dict[str, float]:
    """The effect of every scored user, to six digits."""
    side = seen.source or seen.followup
    return {
        side[row].user: float(f"{effect:.6g}")
        for row, effect in zip(seen.effects.rows, seen.effects.effect, strict=True)
    }


def _nearest_limit(mean: Mean, claim: Claim) -> tuple[float, bool]:
    """The limit nearest to the mean, and whether means above it break the promise."""
    if claim.promise == "within" and mean.estimate < 0:
        return -claim.margin, False
    return claim.margin, claim.promise != "at least"


def _average(values: Floats | None) -> float | None:
    return None if values is None else float(values.mean())


def too_many_failed(errors: Mapping[str, int], users: int, context: Context) -> str:
    """Why too many calls failed for a verdict; empty if few enough failed.

    Args:
        errors: Why users' calls failed, with their numbers.
        users: Number of scored users.
        context: Holds the limit on failures.
    """
    failed = sum(errors.values())
    if not failed or (users and failed / (users + failed) <= context.error_limit):
        return ""
    return (
        f"{counted(errors)}: {failed / (users + failed):.1%} of the users failed, the limit is "
        f"{context.error_limit:.1%}"
    )


def counted(reasons: Mapping[str, int]) -> str:
    """Reasons with their numbers of users, in words; only the most frequent if there are many."""
    if len(reasons) > MANY_REASONS:
        frequent = sorted(reasons.items(), key=lambda each: (-each[1], each[0]))[:MANY_REASONS]
        others = sum(reasons.values()) - sum(count for _, count in frequent)
        more = len(reasons) - MANY_REASONS
        return f"{counted(dict(frequent))}, {more} other reasons ({others})"
    return ", ".join(f"{reason} ({count})" for reason, count in sorted(reasons.items()))
