"""Judges a claim about the answers of one side, or of two."""

import dataclasses
from collections.abc import Callable
from functools import partial

from pytest_recsys_mt.answers import Answers, Context, Pairs, Sample
from pytest_recsys_mt.oracles.arguments import one_side, two_sides
from pytest_recsys_mt.oracles.judging.claim import Claim
from pytest_recsys_mt.oracles.judging.conclusion import verdict_of
from pytest_recsys_mt.oracles.judging.effect import NO_FLOOR, ONE_REPLICATE, Effects
from pytest_recsys_mt.oracles.judging.encoding import replicates_of
from pytest_recsys_mt.oracles.judging.fits import over_fits
from pytest_recsys_mt.oracles.judging.seen import Seen
from pytest_recsys_mt.oracles.judging.shared import with_shared
from pytest_recsys_mt.oracles.judging.slices import groups_of
from pytest_recsys_mt.oracles.judging.steps import is_settled, next_step, step_by_step
from pytest_recsys_mt.oracles.judging.together import Anew, confirmed, is_proved_by, twice, with_age
from pytest_recsys_mt.oracles.judging.versions import with_versions
from pytest_recsys_mt.verdict import Verdict

ROUNDING = 1e-9
"""The similarity of equal lists may differ from 1 by this much."""

CHANGED_LISTS = "share of users whose list changed"

OfPairs = Callable[[Pairs, Context], Effects]
OfSample = Callable[[Sample, Context], Effects]
"""Measures the effect of each user."""


def judge_pair(source: Answers, followup: Answers, claim: Claim, measure: OfPairs) -> Verdict:
    """Judge a claim about two sides of answers by the effect of each user, step by step, and report the verdict.

    It raises `OracleError` if `source` and `followup` are not two sides of one run.
    """
    verdict = compare(source, followup, claim, measure)
    return reported(verdict, partial(judge_pair, claim=claim, measure=measure), source, followup)


def with_floor(effects: Effects, pairs: Pairs, context: Context) -> Effects:
    """The effects, which allow no claim about a noisy recommender if nobody says what its noise adds to them."""
    if context.deterministic or effects.obstacle or not pairs.source:
        return effects
    if effects.noise == "unknown":
        return dataclasses.replace(effects, obstacle=NO_FLOOR)
    one = min(replicates_of(pairs.source), replicates_of(pairs.followup)) < 2
    if effects.noise == "taken off" and one:
        return dataclasses.replace(effects, obstacle=ONE_REPLICATE)
    return effects


def reported(verdict: Verdict, judge: Callable[..., Verdict], *sides: Answers) -> Verdict:
    """Report a verdict, with how to judge other sides in the same way."""
    return sides[0].context.report(dataclasses.replace(verdict, again=(judge, sides)))


def compare(source: Answers, followup: Answers, claim: Claim, measure: OfPairs) -> Verdict:
    """Judge a claim as `judge_pair` does, but do not report it: the caller combines several verdicts."""
    two_sides(claim.oracle, source, followup)
    context = source.context
    groups = groups_of(claim.slices, claim.oracle, context)

    def seen(pairs: Pairs, context: Context = context) -> Seen:
        effects = with_floor(measure(pairs, context), pairs, context)
        effects = with_age(with_versions(effects, pairs), pairs)
        return Seen.of(effects, pairs, pairs.source, pairs.followup, groups)

    looked: list[tuple[int, Pairs, Seen]] = []

    def see(users: int) -> Seen:
        pairs = source.pair(followup, users)
        looked.append((users, pairs, seen(pairs)))
        return looked[-1][2]

    relation = followup.label or source.label
    verdict = step_by_step(claim, relation, context, source.applicable(followup), see)
    users, before, last = looked[-1]
    if claim.promise == "at most" and not claim.changes:
        verdict = with_changes(verdict, last.effects, before, context)

    def anew() -> Anew | None:
        return _asked_again(claim, verdict, source, followup, before, users, seen)

    if context.made_up:
        anew()  # so that these calls are planned too
    if before.refits:
        verdict = over_fits(
            verdict, claim, before, lambda: source.pair_anew(followup, users), seen, context
        )
    else:
        first = verdict
        verdict = confirmed(verdict, before.apart, context.deterministic, anew)
        if verdict is first and verdict.status == "violated":
            found = with_shared(verdict.details, claim, last.effects, before, context)
            verdict = dataclasses.replace(verdict, details=found)
    verdict = dataclasses.replace(verdict, against=source.label if followup.label else "")
    return with_vacuity(verdict, source, followup)


def _asked_again(
    claim: Claim,
    verdict: Verdict,
    source: Answers,
    followup: Answers,
    before: Pairs,
    users: int,
    seen: Callable[[Pairs, Context], Seen],
) -> Anew | None:
    """The verdict on both sides asked at one time: of users whose sides were, and of the others asked once more.

    A recommender that declares itself deterministic, and a plan, ask everybody again. It asks nothing if the users whose
    sides were asked at one time prove the claim of `verdict`. None if the answers cannot change.
    """
    context, everybody = source.context, source.applicable(followup)
    relation = followup.label or source.label
    noisy = dataclasses.replace(context, deterministic=False, family=1)
    if context.deterministic or context.made_up:
        before_at_once = dataclasses.replace(before, mixed=frozenset(before.order)).at_once()
    else:
        before_at_once = before.at_once()
    if len(before_at_once.source) > 1:
        alone = seen(before_at_once, noisy)
        if is_settled(claim, alone, noisy, everybody):
            found = verdict_of(claim, relation, alone, noisy)
            if is_proved_by(verdict, found):
                return found, 0
    asked = users
    while (pairs := source.pair_anew(followup, asked, without=before_at_once.order)) is not None:
        changed = 0
        if context.deterministic:
            pairs, changed = twice(before, pairs)
            if not changed:
                return None
        together = seen(before_at_once.joined(pairs), noisy)
        ends = context.deterministic or asked >= everybody or bool(pairs.unasked)
        if ends or is_settled(claim, together, noisy, everybody):
            return verdict_of(claim, relation, together, noisy), changed
        asked = next_step(asked, everybody)
    return None


def with_changes(verdict: Verdict, effects: Effects, pairs: Pairs, context: Context) -> Verdict:
    """A verdict on the agreement of a deterministic recommender, with how many lists changed, and the largest change.

    No noise changes its lists, so each of them is an effect of what the relation changed, also where the mean holds.
    """
    agreement = effects.agreement
    if not context.deterministic or context.made_up or agreement is None or not len(agreement):
        return verdict
    lists, changed = len(agreement), int((agreement < 1 - ROUNDING).sum())
    worst = int(agreement.argmin())
    user = pairs.source[int(effects.rows[worst])].user
    loss = 1 - float(agreement[worst])
    details: dict[str, object] = {"lists": lists, "changed": changed, "largest": loss}
    details |= {"user": user if changed else "", "judged": verdict.measures == CHANGED_LISTS}
    return dataclasses.replace(verdict, details={**verdict.details, "changed": details})


def judge_sample(answers: Answers, claim: Claim, measure: OfSample) -> Verdict:
    """Judge a claim about the answers of one side by the effect of each user, step by step, and report the verdict.

    It raises `OracleError` if `answers` are not answers of a run.
    """
    verdict = assess(answers, claim, measure)
    return reported(verdict, partial(judge_sample, claim=claim, measure=measure), answers)


def assess(answers: Answers, claim: Claim, measure: OfSample, *, whole: bool = False) -> Verdict:
    """Judge a claim as `judge_sample` does, but do not report it: the caller adds to the verdict.

    If `whole`, answers of which nothing could be read have an effect too.
    """
    context = one_side(claim.oracle, "answers", answers).context
    groups = groups_of(claim.slices, claim.oracle, context)

    def see(users: int) -> Seen:
        sample = answers.sample(users)
        sample = sample.whole() if whole else sample
        source, followup = ((), sample.asked) if answers.label else (sample.asked, ())
        return Seen.of(measure(sample, context), sample, source, followup, groups)

    return step_by_step(claim, answers.label, context, answers.applicable(), see)


def with_vacuity(verdict: Verdict, source: Answers, followup: Answers) -> Verdict:
    """A verdict that holds, with what the recommender does not read of what its relation changes.

    A promise about what a recommender does not read is kept, and says nothing: it is kept vacuously.
    """
    context = source.context
    moved = context.deterministic and any(verdict.per_user.values())
    holds = verdict.status == "holds" and not moved
    if verdict.allowed == "at least" or not (holds or context.made_up):
        return verdict
    unread = context.unread(source, followup)
    if unread is None or not holds:
        return verdict
    details = {**verdict.details, "unread": dict(unread.shown)}
    return dataclasses.replace(verdict, vacuous=unread.aspect, details=details)
