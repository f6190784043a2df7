"""Judges a claim about the answers of one side, or of two."""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from pytest_recsys_mt.oracles.arguments import one_side, two_sides
from pytest_recsys_mt.oracles.judging.claim import Claim
from pytest_recsys_mt.oracles.judging.conclusion import verdict_of
from pytest_recsys_mt.oracles.judging.effect import NO_FLOOR, ONE_REPLICATE, Effects
from pytest_recsys_mt.oracles.judging.encoding import replicates_of
from pytest_recsys_mt.oracles.judging.fits import Fits, over_fits
from pytest_recsys_mt.oracles.judging.item_groups import ItemGroup
from pytest_recsys_mt.oracles.judging.item_slices import (
    effects_of_items,
    in_words,
)
from pytest_recsys_mt.oracles.judging.seen import Seen
from pytest_recsys_mt.oracles.judging.shared import with_shared
from pytest_recsys_mt.oracles.judging.slices import Group
from pytest_recsys_mt.oracles.judging.steps import is_settled, next_step, step_by_step
from pytest_recsys_mt.oracles.judging.together import (
    Repeated,
    confirmed,
    is_proved_by,
    twice,
    with_age,
    with_versions,
)
from pytest_recsys_mt.verdict.answers import Answers, Context, Pairs, Sample
from pytest_recsys_mt.verdict.verdict import AGAINST, DECLARES, PART, Verdict

ROUNDING = 1e-9
"""The similarity of equal lists may differ from 1 by this much."""

CHANGED_LISTS = "share of users whose list changed"

OfPairs = Callable[[Pairs, Context], Effects]
"""Measures the effect of each user between two sides."""

OfSample = Callable[[Sample, Context], Effects]
"""Measures the effect of each user on one side."""


def judge_pair(
    source: Answers,
    followup: Answers,
    claim: Claim,
    measure: OfPairs,
) -> Verdict:
    """Judge a claim about two sides of answers by the effect of each user, step by
    step, and report the verdict.

    Args:
        source: The answers to the original requests.
        followup: Those to the transformed ones.
        claim: The claim to judge.
        measure: Measures the effects.

    Raises:
        OracleError: If `source` and `followup` are not two sides of one run.
    """
    verdict = compare(source, followup, claim, measure)
    return reported(
        verdict,
        partial(judge_pair, claim=claim, measure=measure),
        source,
        followup,
    )


def with_floor(effects: Effects, pairs: Pairs, context: Context) -> Effects:
    """The effects, which allow no claim about a noisy recommender
    if nobody says what its noise adds to them.
    """
    if context.deterministic or effects.obstacle or not pairs.source:
        return effects
    if effects.noise == "unknown":
        return dataclasses.replace(effects, obstacle=NO_FLOOR)
    replicates = min(replicates_of(pairs.source), replicates_of(pairs.followup))
    if effects.noise == "taken off" and replicates < 2:
        return dataclasses.replace(effects, obstacle=ONE_REPLICATE)
    return effects


def reported(
    verdict: Verdict,
    judge: Callable[..., Verdict],
    *sides: Answers,
    shrinks: bool = True,
) -> Verdict:
    """Report a verdict, with how to judge other sides in the same way, and the other
    recommender if there are two.

    Unless it `shrinks`, no smallest request is looked for: one alone would show
    something else.
    """
    models = [getattr(side, "model", "") for side in sides]
    if models[-1] != models[0]:
        details = {**verdict.details, AGAINST: models[-1]}
        verdict = dataclasses.replace(verdict, details=details)
    again = (judge, sides) if shrinks else None
    return sides[0].context.report(dataclasses.replace(verdict, again=again))


class _Step(NamedTuple):
    """The answers of the first `users` users, and their effects."""

    users: int
    pairs: Pairs
    seen: Seen


@dataclass(frozen=True)
class _Comparison:
    """A claim about two sides of answers."""

    source: Answers
    followup: Answers
    claim: Claim
    measure: OfPairs
    groups: Sequence[Group]
    item_groups: Sequence[ItemGroup]

    @property
    def relation(self) -> str:
        """The name of the change."""
        return self.followup.label or self.source.label

    @property
    def everybody(self) -> int:
        """How many users both sides can serve."""
        return self.source.applicable(self.followup)

    def seen(self, pairs: Pairs, context: Context) -> Seen:
        """The observed effects of users who have these answers."""
        effects = self.measure(pairs, context)
        effects = with_floor(effects, pairs, context)
        effects = with_versions(effects, pairs)
        effects = with_age(effects, pairs)
        seen = Seen.of(effects, pairs, pairs.source, pairs.followup, self.groups)
        if not self.item_groups or context.made_up:
            return seen
        of_items = effects_of_items(
            self.item_groups,
            self.claim.by_items,
            pairs,
            context,
            self.measure,
        )
        users = len(pairs.source)
        said = in_words(of_items, self.item_groups, users, context.items)
        return dataclasses.replace(seen, of_items=of_items, items_said=said)

    def step(self, users: int) -> _Step:
        """The answers of so many users, who are asked now if they were not before."""
        pairs = self.source.pair(self.followup, users)
        return _Step(users, pairs, self.seen(pairs, self.source.context))

    def confirmed(self, verdict: Verdict, last: _Step) -> Verdict:
        """The verdict, withdrawn if further answers do not show its claim; if they do,
        with what its failures share.
        """
        context = self.source.context
        pairs = last.pairs
        asked_again = partial(self.asked_again, verdict, last)
        if context.made_up and not pairs.days:
            asked_again()  # so that these calls are planned too
        if pairs.refits:
            fits = Fits(
                first=partial(self.source.pair, self.followup),
                others=partial(self.source.pair_anew, self.followup),
                everybody=self.everybody,
            )
            return over_fits(verdict, self.claim, last.users, fits, self.seen, context)
        # Asked at one time, both sides would show no change from day to day.
        standing = (
            verdict
            if pairs.days
            else confirmed(verdict, pairs.apart, context.deterministic, asked_again)
        )
        stands = standing is verdict or PART in standing.details
        if not stands or standing.status != "violated":
            return standing
        details = with_shared(
            standing.details,
            self.claim,
            last.seen.effects,
            pairs,
            context,
        )
        declares = context.declaration(
            self.source,
            self.followup,
            self.claim.wants_change,
        )
        if declares:
            details = {**details, DECLARES: declares}
        return dataclasses.replace(standing, details=details)

    def asked_again(self, verdict: Verdict, last: _Step) -> Repeated | None:
        """The verdict on both sides asked at one time: of users whose sides were, and
        of the others asked once more.

        A recommender that declares itself deterministic, and a plan, ask everybody
        again. No calls are sent if the users whose sides were asked at one time prove
        the claim of `verdict`. None if the answers cannot change.
        """
        context = self.source.context
        everybody = self.everybody
        noisy = dataclasses.replace(context, deterministic=False, family=1)
        before = last.pairs
        if context.deterministic or context.made_up:
            before = dataclasses.replace(before, mixed=frozenset(before.order))
        at_once = before.at_once()
        if len(at_once.source) > 1:
            seen = self.seen(at_once, noisy)
            if is_settled(self.claim, seen, noisy, everybody):
                of_these = verdict_of(self.claim, self.relation, seen, noisy)
                if is_proved_by(verdict, of_these):
                    return of_these, 0

        users = last.users
        while True:
            pairs = self.source.pair_anew(self.followup, users, without=at_once.order)
            if pairs is None:
                return None
            changed = 0
            if context.deterministic:
                pairs, changed = twice(last.pairs, pairs)
                if not changed:
                    return None
            seen = self.seen(at_once.joined(pairs), noisy)
            is_last = context.deterministic or users >= everybody or bool(pairs.unasked)
            if is_last or is_settled(self.claim, seen, noisy, everybody):
                return verdict_of(self.claim, self.relation, seen, noisy), changed
            users = next_step(users, everybody)


def compare(
    source: Answers,
    followup: Answers,
    claim: Claim,
    measure: OfPairs,
) -> Verdict:
    """Judge a claim as `judge_pair` does, but do not report
    it: the caller combines several verdicts.
    """
    two_sides(claim.oracle, source, followup)
    context = source.context
    comparison = _Comparison(
        source,
        followup,
        claim,
        measure,
        claim.groups(context),
        claim.item_groups(context),
    )
    steps: list[_Step] = []

    def see(users: int) -> Seen:
        step = comparison.step(users)
        steps.append(step)
        return step.seen

    verdict = step_by_step(
        claim,
        comparison.relation,
        context,
        comparison.everybody,
        see,
    )
    last = steps[-1]
    if claim.promise == "at most" and not claim.changes:
        verdict = with_changes(verdict, last.seen.effects, last.pairs, context)
    verdict = comparison.confirmed(verdict, last)
    verdict = dataclasses.replace(
        verdict,
        against=source.label if followup.label else "",
    )
    return with_vacuity(verdict, source, followup)


def with_changes(
    verdict: Verdict,
    effects: Effects,
    pairs: Pairs,
    context: Context,
) -> Verdict:
    """A verdict on the agreement of a deterministic recommender, with how many lists
    changed, and the largest change.

    No noise changes its lists, so each of them is an effect of the relation's
    change, also where the mean holds.
    """
    agreement = effects.agreement
    if (
        not context.deterministic
        or context.made_up
        or agreement is None
        or not len(agreement)
    ):
        return verdict
    changed = int((agreement < 1 - ROUNDING).sum())
    worst = int(agreement.argmin())
    user = pairs.source[int(effects.rows[worst])].user
    changes = {
        "lists": len(agreement),
        "changed": changed,
        "largest": 1 - float(agreement[worst]),
        "user": user if changed else "",
        "judged": verdict.measures == CHANGED_LISTS,
    }
    return dataclasses.replace(verdict, details={**verdict.details, "changed": changes})


def judge_sample(answers: Answers, claim: Claim, measure: OfSample) -> Verdict:
    """Judge a claim about the answers of one side by the effect of each user, step by
    step, and report the verdict.

    Args:
        answers: The answers.
        claim: The claim to judge.
        measure: Measures the effects.

    Raises:
        OracleError: If `answers` are not answers of a run.
    """
    verdict = assess(answers, claim, measure)
    return reported(
        verdict,
        partial(judge_sample, claim=claim, measure=measure),
        answers,
    )


def assess(
    answers: Answers,
    claim: Claim,
    measure: OfSample,
    *,
    whole: bool = False,
) -> Verdict:
    """Judge a claim as `judge_sample` does, but do not report it: the caller adds to
    the verdict.

    If `whole`, answers of which nothing could be read have an effect too.
    """
    context = one_side(claim.oracle, "answers", answers).context
    groups = claim.groups(context)
    claim.item_groups(context)  # an error, if the test divides items

    def see(users: int) -> Seen:
        sample = answers.sample(users)
        if whole:
            sample = sample.whole()
        effects = measure(sample, context)
        if answers.label:
            return Seen.of(effects, sample, (), sample.asked, groups)
        return Seen.of(effects, sample, sample.asked, (), groups)

    return step_by_step(claim, answers.label, context, answers.applicable(), see)


def with_vacuity(verdict: Verdict, source: Answers, followup: Answers) -> Verdict:
    """A verdict that holds, with the parts of the relation's change that the
    recommender does not read.

    A promise about parts that a recommender does not read is kept, and says nothing: it
    is kept vacuously.
    """
    context = source.context
    moved = context.deterministic and any(verdict.per_user.values())
    holds = verdict.status == "holds" and not moved
    if verdict.allowed == "at least" or not (holds or context.made_up):
        return verdict
    # A plan sends them too, so that these calls are planned.
    unread = context.unread(source, followup)
    if unread is None or not holds:
        return verdict
    details = {**verdict.details, "unread": dict(unread.shown)}
    return dataclasses.replace(verdict, vacuous=unread.aspect, details=details)
