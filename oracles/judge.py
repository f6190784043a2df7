"""From effects to a verdict."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pytest_recsys_mt.answers import Answers, Asked, Context, Pairs, Sample
from pytest_recsys_mt.oracles.arguments import one_side, two_sides
from pytest_recsys_mt.oracles.bounds import Mean, with_unmeasured
from pytest_recsys_mt.oracles.effect import MOST_HOLES, Effects, follow_ups_failed, mostly_holes
from pytest_recsys_mt.oracles.examples import pick
from pytest_recsys_mt.oracles.kernel import Floats
from pytest_recsys_mt.oracles.looks import Look, Looks, Repeated, enough_to_show
from pytest_recsys_mt.oracles.power import outlook
from pytest_recsys_mt.oracles.together import Anew, confirmed, twice, with_age
from pytest_recsys_mt.oracles.versions import with_versions
from pytest_recsys_mt.verdict import NOT_ASKED, Allowed, Status, Verdict

JOINT = (
    "what the users whose follow-up failed would add to a number of all users together is not known; "
    "find out why they fail"
)

MANY_REASONS = 12
"""Reasons for failures that are told one by one; an error may name its user."""

Promise = Allowed
"""What is promised of the mean effect."""


@dataclass(frozen=True)
class Claim:
    """What an oracle is asked to judge.

    Attributes:
        oracle: Its name, with its similarity or score.
        promise: See `Promise`.
        margin: In the unit of the effects.
        exact: Whether the effects are shares of faulty answers, whose error rate is kept for
            certain (see `looks.Looks.level`).
        whole: Whether all users are asked at once, however clear the verdict may be earlier, because
            the mean itself is wanted: an early stop leaves it too far from the margin.
    """

    oracle: str
    promise: Promise
    margin: float
    exact: bool = False
    whole: bool = False


@dataclass(frozen=True)
class Seen:
    """What was seen at one look.

    Attributes:
        effects: Of the users scored.
        tally: Counts the users that were not scored.
        source: Answers to show as the source's, or nothing.
        followup: Answers to show as the follow-up's, or nothing.
    """

    effects: Effects
    tally: Pairs | Sample
    source: Sequence[Asked]
    followup: Sequence[Asked]


def judge_pair(
    source: Answers, followup: Answers, claim: Claim, measure: Callable[[Pairs, Context], Effects]
) -> Verdict:
    """Judge a claim about two sides of answers, look by look.

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
    verdict = compare(source, followup, claim, measure)
    return source.context.report(verdict)


def compare(
    source: Answers, followup: Answers, claim: Claim, measure: Callable[[Pairs, Context], Effects]
) -> Verdict:
    """Judge a claim as `judge_pair` does, without reporting it: others make up the verdict with it.

    Args:
        source: Answers to the original requests.
        followup: Answers to the transformed ones.
        claim: What to judge.
        measure: Gives the effect of each user.

    Raises:
        OracleError: If `source` and `followup` are not two sides of one run.
    """
    two_sides(claim.oracle, source, followup)
    context = source.context

    def seen(pairs: Pairs, context: Context = context) -> Seen:
        effects = with_age(with_versions(measure(pairs, context), pairs), pairs)
        if pairs.broken:
            unmeasured = {reason: len(users) for reason, users in pairs.broken.items()}
            effects = dataclasses.replace(effects, unmeasured=unmeasured)
        return Seen(effects, pairs, pairs.source, pairs.followup)

    looked: list[tuple[Seen, int, Pairs]] = []

    def see(users: int) -> Seen:
        pairs = source.pair(followup, users)
        looked.append((seen(pairs), users, pairs))
        return looked[-1][0]

    relation = followup.label or source.label
    verdict = look_by_look(claim, relation, context, source.applicable(followup), see)
    latest, users, before = looked[-1]

    def anew() -> Anew | None:
        pairs, changed, noisy = source.pair_anew(followup, users), 0, context
        if pairs is not None and context.deterministic:
            noisy = dataclasses.replace(context, deterministic=False)
            pairs, changed = twice(before, pairs)
        if pairs is None or (context.deterministic and not changed):
            return None
        (look,) = Looks(users, exact=claim.exact, single=True)
        together = seen(pairs, noisy)
        found = verdict_of(claim, relation, together, noisy, look)
        return Anew(found, _per_user(together), changed)

    verdict = confirmed(
        verdict, claim.promise, before.apart, _per_user(latest), context.deterministic, anew
    )
    return dataclasses.replace(verdict, against=source.label if followup.label else "")


def judge_sample(
    answers: Answers, claim: Claim, measure: Callable[[Sample, Context], Effects]
) -> Verdict:
    """Judge a claim about the answers of one side, look by look.

    Args:
        answers: Of either side.
        claim: What to judge.
        measure: Gives the effect of each user.

    Returns:
        The verdict, not reported yet.

    Raises:
        OracleError: If `answers` are no answers of a run.
    """
    context = one_side(claim.oracle, "answers", answers).context

    def see(users: int) -> Seen:
        sample = answers.sample(users)
        sides = ((), sample.asked) if answers.label else (sample.asked, ())
        return Seen(measure(sample, context), sample, *sides)

    return look_by_look(claim, answers.label, context, answers.applicable(), see)


def look_by_look(
    claim: Claim, relation: str, context: Context, users: int, see: Callable[[int], Seen]
) -> Verdict:
    """Look at more and more users until the verdict is clear, or all have been seen.

    A deterministic recommender is looked at once: it is asked a single time a side, and its bounds
    need most of the users anyway. So is any in a run that is compared with another one.

    Args:
        claim: What to judge.
        relation: The transformation, by its name.
        context: The error rates and limits.
        users: That can be asked.
        see: Asks so many of them in all, always the same first ones.
    """
    single = context.deterministic or context.whole or claim.whole
    *early, last = Looks(users, exact=claim.exact, single=single)
    before: Verdict | None = None
    for look in early:
        seen = see(look.users)
        verdict = verdict_of(claim, relation, seen, context, look)
        if seen.tally.unasked:
            return _cut_short(before, verdict)
        # Failures so far may be bad luck; they are final once no number of successes mends them.
        hopeless = verdict.status == "error" and verdict.errors > context.error_limit * users
        if hopeless or seen.effects.obstacle or verdict.status in ("holds", "violated"):
            return verdict
        before = verdict
    seen = see(last.users)
    verdict = verdict_of(claim, relation, seen, context, last)
    return _cut_short(before, verdict) if seen.tally.unasked else verdict


def _cut_short(before: Verdict | None, verdict: Verdict) -> Verdict:
    """The verdict of a look at which not all users were asked: with the numbers of the one before.

    Bounds are for the numbers of users that were declared, which this look has not reached.
    """
    if before is None:
        return verdict
    return dataclasses.replace(before, status="inconclusive", reason=verdict.reason)


def verdict_of(claim: Claim, relation: str, seen: Seen, context: Context, look: Look) -> Verdict:
    """The verdict of one look, whether or not it is the last.

    Args:
        claim: What to judge.
        relation: The transformation, by its name.
        seen: All users asked so far.
        context: The error rates and limits.
        look: Which look this is.
    """
    effects, tally = seen.effects, seen.tally
    not_applicable = Counter(tally.not_applicable) + Counter(effects.not_applicable)
    errors = Counter(tally.errors) + Counter(effects.errors)
    failures = [f"failed: {counted(errors)}"] if errors else []
    unasked = counted(tally.unasked)
    users, others = len(effects.rows), sum(effects.unmeasured.values())
    if others:
        told = follow_ups_failed(others, users + others)
        failures.append(f"{told} ({counted(effects.unmeasured)})")
        errors += Counter(effects.unmeasured)
    failed = errors.total()

    def verdict(status: Status, reason: str = "", **numbers: object) -> Verdict:
        return Verdict(
            status,
            claim.oracle,
            relation,
            margin=claim.margin,
            allowed=claim.promise,
            joint=effects.joint,
            users=users,
            not_applicable=not_applicable.total(),
            errors=failed,
            looks=look.index + 1,
            reason="; ".join(part for part in (reason, *failures, effects.note) if part),
            **numbers,  # type: ignore[arg-type]
        )

    if unasked and effects.mean is None:
        return verdict("inconclusive", f"{NOT_ASKED}{unasked}")
    if not unasked and (reason := too_many_failed(errors, users, context)):
        failures = []
        return verdict("error", reason)
    if effects.mean is None:
        return verdict("not-applicable", counted(not_applicable) or "there is no user to ask")
    alpha = context.alpha
    # Two ways to break a promise share the error rate.
    share = alpha / 2 if claim.promise == "within" else alpha
    known = with_unmeasured(effects.mean, effects.effect, others, effects.reach)
    mean, answered = (Repeated(each, look, share) for each in (known, effects.mean))
    all_at_once = look.index == 0 and look.last and not unasked and not effects.obstacle
    per_user = _per_user(seen) if all_at_once else {}
    # Values of an aggregate are pseudo-values, which have no bounds: those seen are within reach.
    ends = (*effects.reach, *per_user.values())
    shown = {
        "floor": _average(effects.floor),
        "agreement": _average(effects.agreement),
        "examples": pick(
            effects, excess(claim, effects.effect), seen.source, seen.followup, context
        ),
        "reach": None if effects.obstacle else (min(ends), max(ends)),
        "per_user": per_user,
    }
    if unasked:
        return verdict("inconclusive", f"{NOT_ASKED}{unasked}", **shown)
    if users < 2:
        return verdict("inconclusive", "one user cannot stand for all; ask at least 2", **shown)
    if effects.obstacle:
        return verdict("inconclusive", effects.obstacle, **shown)
    if others and effects.joint:
        return verdict("inconclusive", JOINT, **shown)
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
    needed = users_needed(status, claim, mean.estimate, effects.reach[1], alpha)
    if users < needed:
        status = "inconclusive"
        reason = (
            f"nothing moved enough, but {users} users may all have missed the few that react most; "
            f"ask {needed - users} more users"
        )
    elif status == "holds" and effects.holes > MOST_HOLES:
        status = "inconclusive"
        reason = mostly_holes(effects.holes)
    elif status == "inconclusive" and look.last and decide(answered, claim, alpha) == status:
        value = _nearest_limit(mean, claim)
        reason = outlook(effects.mean, effects.effect, effects.reach, value, look.level(alpha))
    return verdict(status, reason, **numbers)


def users_needed(status: Status, claim: Claim, estimate: float, reach: float, alpha: float) -> int:
    """The fewest users from whom a status can be claimed.

    Args:
        status: As decided by the bounds.
        claim: The promise and its margin.
        estimate: The mean effect of the users seen; below 0, it leaves more room.
        reach: The largest effect there can be.
        alpha: The error rate of each claim.
    """
    nothing_happens = status == ("violated" if claim.promise == "at least" else "holds")
    if not nothing_happens or claim.margin <= 0:
        return 2
    seen = min(estimate, 0.0)
    return enough_to_show(claim.margin - seen, reach - seen, alpha)


def decide(mean: Mean, claim: Claim, alpha: float) -> Status:
    """Which side of the margin the mean effect is on, at error rate `alpha` a claim.

    "Violated" at ``alpha`` is a test of the promise; "holds" is a test of its opposite (Schuirmann
    1987 for "within": two one-sided tests). Between them nothing is claimed.

    Args:
        mean: What is known of the mean effect.
        claim: The promise and its margin.
        alpha: The error rate of each claim.
    """
    margin = claim.margin
    if claim.promise == "at most":
        holds, violated = mean.upper(alpha) < margin, mean.lower(alpha) > margin
    elif claim.promise == "at least":
        holds, violated = mean.lower(alpha) >= margin, mean.upper(alpha) < margin
    else:
        holds = mean.lower(alpha) > -margin and mean.upper(alpha) < margin
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


def _per_user(seen: Seen) -> dict[str, float]:
    """The effect of every user scored, to six digits."""
    side = seen.source or seen.followup
    return {
        side[row].user: float(f"{effect:.6g}")
        for row, effect in zip(seen.effects.rows, seen.effects.effect, strict=True)
    }


def _nearest_limit(mean: Mean, claim: Claim) -> float:
    two_sided = claim.promise == "within" and mean.estimate < 0
    return -claim.margin if two_sided else claim.margin


def _average(values: Floats | None) -> float | None:
    return None if values is None else float(values.mean())


def too_many_failed(errors: Mapping[str, int], users: int, context: Context) -> str:
    """Why nothing can be said of those whose calls did not fail; empty where they are enough.

    Args:
        errors: Why users' calls failed, with how many.
        users: Others, who are scored.
        context: Says how many may fail.
    """
    failed = sum(errors.values())
    if not failed or (users and failed / (users + failed) <= context.error_limit):
        return ""
    return (
        f"{counted(errors)}: {failed / (users + failed):.1%} of the users failed, the limit is "
        f"{context.error_limit:.1%}"
    )


def counted(reasons: Mapping[str, int]) -> str:
    """Reasons with how many users each is about, in words; of very many, the most frequent."""
    if len(reasons) > MANY_REASONS:
        frequent = sorted(reasons.items(), key=lambda each: (-each[1], each[0]))[:MANY_REASONS]
        others = sum(reasons.values()) - sum(count for _, count in frequent)
        more = len(reasons) - MANY_REASONS
        return f"{counted(dict(frequent))}, {more} other reasons ({others})"
    return ", ".join(f"{reason} ({count})" for reason, count in sorted(reasons.items()))
