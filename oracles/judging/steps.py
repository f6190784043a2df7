"""Asks users step by step, until a verdict is clear."""

import dataclasses
import math
from collections.abc import Callable

from pytest_recsys_mt.oracles.judging.account import joined, too_many_failed
from pytest_recsys_mt.oracles.judging.claim import Claim, excess
from pytest_recsys_mt.oracles.judging.conclusion import verdict_of
from pytest_recsys_mt.oracles.judging.effect import Effects
from pytest_recsys_mt.oracles.judging.seen import Seen
from pytest_recsys_mt.oracles.statistics.order import UNPROVEN, dependence
from pytest_recsys_mt.safety.errors import OracleError
from pytest_recsys_mt.verdict.answers import Context
from pytest_recsys_mt.verdict.verdict import Status, Verdict

FIRST_STEP = 20
"""Users that are asked first for every verdict."""

LEAST_STEP = 5
"""Fewest users that a step adds, because each step waits for its answers."""

FEW = 3
"""Users of each group to score before all users settle a verdict."""


def step_by_step(
    claim: Claim,
    relation: str,
    context: Context,
    users: int,
    see: Callable[[int], Seen],
    *,
    first: int = FIRST_STEP,
) -> Verdict:
    """Ask more and more users until the verdict is clear or all `users` were asked.

    After a violation, more users are asked until it is also significant among all tests
    of the run.

    Args:
        claim: The claim to judge.
        relation: The name of the change.
        context: The facts of the run.
        users: How many can be asked.
        see: Requests answers of the given total number of users, always the same first
            ones, and measures their effects.
        first: How many are asked first. The bets of a verdict allow a look after any
            number of users, so it changes no error rate.

    Raises:
        OracleError: If the limit lies outside the range of all users' effects.
    """
    asked = 0
    looks = 0
    ask_all = context.ask_everybody or claim.ask_everybody or context.made_up
    while True:
        asked = users if ask_all else next_step(asked, users, first)
        looks += 1
        seen = see(asked)
        # The range may grow with further users, so it is an error only for all of them.
        decided = decided_beforehand(claim, seen.effects)
        if decided and asked >= users:
            raise OracleError(decided)
        if context.made_up:
            return planned(claim, relation, seen)
        settled = not decided and is_settled(claim, seen, context, users)
        if settled or asked >= users or seen.tally.unasked:
            verdict = verdict_of(claim, relation, seen, context)
            return with_order(dataclasses.replace(verdict, looks=looks))


def with_order(verdict: Verdict) -> Verdict:
    """A verdict whose reason says that its effects depend on the order of asking, if
    they do.

    A number of all users together has no effect of each user.
    """
    if verdict.joint:
        return verdict
    found = dependence([verdict.per_user])
    if found is None:
        return verdict
    reason = joined(verdict.reason, f"{found.words}, so {UNPROVEN}")
    details = {
        **verdict.details,
        "order": {"what": found.what, "p_value": found.p_value},
    }
    return dataclasses.replace(verdict, reason=reason, details=details)


def planned(claim: Claim, relation: str, seen: Seen) -> Verdict:
    """The verdict of a plan, whose answers are made up."""
    effects = seen.effects
    if effects.unsure is not None:
        effects.unsure()  # so that its calls are planned too
    mean = float(effects.effect.mean()) if len(effects.rows) else None
    return Verdict(
        "inconclusive",
        claim.oracle,
        relation,
        margin=claim.margin,
        allowed=claim.promise,
        measures=claim.measures,
        estimate=mean,
        interval=None if mean is None else effects.reach,
        users=len(effects.rows),
        reason="made up for a plan",
    )


def next_step(asked: int, users: int, first: int = FIRST_STEP) -> int:
    """How many of `users` to ask next, those `asked` so far included: a few at first,
    then a tenth more each time.
    """
    more = max(LEAST_STEP, asked // 10)
    wanted = max(first, asked + more)
    return min(users, wanted)


def is_settled(claim: Claim, seen: Seen, context: Context, users: int) -> bool:
    """Whether further users would not change the verdict."""
    effects = seen.effects
    account = seen.account
    # Failures so far may be bad luck. They are final once no number of successes can
    # make up for them.
    if too_many_failed(account, context):
        return account.errors.total() > context.error_limit * users
    if 2 * seen.tally.unreadable > seen.tally.answers:
        return True  # no verdict is possible with any answers of the others
    if effects.obstacle:
        return True
    if not len(effects.rows):
        return False
    family = seen.family(claim, context.alpha)
    if family.status == "violated":
        claims = context.family * claim.ways
        return family.p_value <= context.alpha / claims
    if family.status != "holds":
        return False
    statuses_of_groups = family.statuses[1:]
    for (_, own), status in zip(seen.members, statuses_of_groups, strict=True):
        if _may_be_violated(claim, own, status):
            return False
    return True


def _may_be_violated(claim: Claim, effects: Effects, status: Status) -> bool:
    """Whether a group may turn out to be violated: it was hardly seen, or looks bad so
    far.

    It looks bad if its mean is beyond the margin by more than a standard error. This
    decides only how many users are asked. Claims are made by bets, which are valid
    for any such decision.
    """
    users = len(effects.rows)
    if users < FEW:
        return True
    if status != "inconclusive":
        return False
    mean_excess = excess(claim, effects.effect.mean(keepdims=True))[0]
    standard_error = effects.effect.std(ddof=1) / math.sqrt(users)
    return bool(mean_excess > 0 and mean_excess >= standard_error)


def decided_beforehand(claim: Claim, effects: Effects) -> str:
    """Why no answers of these users could break the limit, or
    none could keep it; empty if they could.
    """
    low, high = effects.reach
    if effects.mean is not None or effects.obstacle or not low < high < math.inf:
        return ""
    limit = claim.margin
    least, most = claim.allowed
    always_holds = least <= low and high <= most
    if not always_holds and (claim.promise == "within" or low <= limit <= high):
        return ""
    outcome = "hold" if always_holds else "be violated"
    return (
        f"{claim.oracle}: {claim.promise} {limit:g} would {outcome} whatever "
        f"the answers are, because values lie from {low:g} to {high:g}; give a limit between them"
    )
