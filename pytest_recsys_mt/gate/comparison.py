"""Compares two runs, test by test, by the difference of each user's two values.

Values of an aggregate are its jackknife pseudo-values: the difference of two aggregates
is itself a number of all users, whose pseudo-values are the differences of theirs.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from pytest_recsys_mt.gate.comparable import (
    number_of_users,
    obstacle,
    obstacle_together,
    unknown_in_one,
)
from pytest_recsys_mt.gate.document import Change, Changed, Row
from pytest_recsys_mt.gate.nodeids import address
from pytest_recsys_mt.gate.paired_means import Farther, Side, difference
from pytest_recsys_mt.gate.policy import Policy
from pytest_recsys_mt.gate.states import measured, unit_of
from pytest_recsys_mt.oracles.statistics.bounds import Mean
from pytest_recsys_mt.oracles.statistics.corrections import holm
from pytest_recsys_mt.safety.numbers import names_in_both, numbers_of

Still = Callable[[], Mean]
"""Gives the change of the same users if none of their values had changed."""


@dataclass(frozen=True)
class _Undecided:
    """A verdict whose values differ: the decision on it depends on all such verdicts.

    Attributes:
        found: The facts of its change.
        margin: How much worse its mean may be.
        worse: How much worse its mean is.
        p_worse: The p-value of the hypothesis that it is worse by the margin at most.
        p_better: The p-value of the hypothesis that it is better by the margin at most.
        still: None if it is of no use, as for a number of all users together.
    """

    found: Changed
    margin: float
    worse: Mean
    p_worse: float
    p_better: float
    still: Still | None


def compare(
    old: Sequence[Row],
    new: Sequence[Row],
    policy: Policy,
    alpha: float,
    models: int = 1,
) -> list[Changed]:
    """The change of every verdict of one model.

    Args:
        old: The rows of the baseline.
        new: The rows of this run.
        policy: The margins, and the verdicts that do not gate.
        alpha: Chance that any verdict of any model is called worse by bad luck, and the
            same for better.
        models: How many models are compared, which share `alpha`.

    Returns:
        A change for each row of this run, in their order.
    """
    before = dict(keyed(old))
    compared = [_compare(before.get(key), row, policy) for key, row in keyed(new)]
    undecided = [each for each in compared if isinstance(each, _Undecided)]
    worse = holm([each.p_worse for each in undecided])
    better = holm([each.p_better for each in undecided])
    worse_level = _level(worse, alpha / models)
    better_level = _level(better, alpha / models)

    changes: list[Changed] = []
    p_of_undecided = iter(worse)
    for each in compared:
        if isinstance(each, _Undecided):
            p_holm = min(1.0, models * next(p_of_undecided))
            decided = _decided(each, worse_level, better_level, alpha)
            changes.append({**decided, "p_holm": p_holm})
        else:
            changes.append(each)
    return changes


def bounds_of(findings: Sequence[Changed], alpha: float, models: int = 1) -> str:
    """The error rates of the bounds of a comparison, in
    words; empty if there are no bounds.
    """
    levels = [found["levels"] for found in findings if found["levels"] is not None]
    if not levels:
        return ""
    lower_rate = levels[0][0]
    other_upper_rates = {upper for _, upper in levels} - {alpha}
    better = "".join(f" ({rate:.3g} where better)" for rate in other_upper_rates)
    of_models = f"{models} models and " if models > 1 else ""
    return (
        f"lower bounds at error rate {lower_rate:.3g}, upper ones at {alpha:g}{better}: Holm's correction of "
        f"{alpha:g} over {of_models}{len(levels)} verdicts that differ; what lies wholly above its margin regressed"
    )


def _level(adjusted: Sequence[float], alpha: float) -> float:
    """The p-value up to which Holm's correction rejects: all claims up to it, and no
    others.

    If r of m claims are rejected, it is ``alpha / (m - r)``: every rejected p is at
    most ``alpha / (m - r + 1)``, and the smallest other p is above ``alpha / (m - r)``.
    """
    not_rejected = sum(p > alpha for p in adjusted)
    return alpha / max(1, not_rejected)


def keyed(rows: Sequence[Row]) -> Iterable[tuple[tuple[str, str, int], Row]]:
    """Rows by test, oracle and number among the verdicts of that oracle
    in that test.
    """
    seen: Counter[tuple[str, str]] = Counter()
    for row in rows:
        key = (address(row), str(row["oracle"]))
        yield (*key, seen[key]), row
        seen[key] += 1


def _compare(old: Row | None, new: Row, policy: Policy) -> Changed | _Undecided:
    """The change of one verdict, or the facts to decide it together with the others."""
    rule = policy.rule(new)
    found = _ungated(new)
    reason = obstacle(old, new)
    if not rule.gates:
        reason = f"recsys.toml: {rule.reason}"
    if reason or old is None:
        return {**found, "reason": reason}

    # In the order drawn: the users of both runs are the first ones of that order.
    users = names_in_both(new["per_user"], old["per_user"])
    unknown = unknown_in_one(old, new, users)
    joint = old.get("joint", False) or new.get("joint", False)
    if joint:
        reason = obstacle_together(old, new, len(users), len(unknown))
    if not reason and len(users) < 2:
        reason = f"{len(users)} {unit_of(new)} have a value in both runs"
    if reason:
        return {**found, "reason": reason}

    margin = policy.margin if rule.margin is None else rule.margin
    suspicious = rule.suspicious
    # Only a metric can be too good: an effect that vanished was fixed.
    if suspicious is None and found["metric"] is not None:
        suspicious = policy.suspicious
    found["users"] = len(users)
    found["margin"] = margin
    found["suspicious"] = suspicious
    found["early"] = number_of_users(old) < number_of_users(new)
    then = _side(old, users, joint, unknown)
    now = _side(new, users, joint, unknown)
    if np.array_equal(then.values, now.values) and not unknown:
        return {**found, "change": "unchanged", "worse": 0.0, "interval": [0.0, 0.0]}
    return _undecided(found, then, now, new["allowed"], margin)


def _side(row: Row, users: Sequence[str], joint: bool, unknown: Sequence[int]) -> Side:
    values = np.array(numbers_of(row["per_user"], users), np.float64)
    return Side(values, row["reach"] or (), joint, unknown)


def _undecided(
    found: Changed,
    then: Side,
    now: Side,
    allowed: str | None,
    margin: float,
) -> _Undecided:
    """A verdict whose values differ, with how much worse
    it is by the direction of its promise.
    """

    def worse(side: Side) -> Mean:
        if allowed == "within":
            return Farther(side, then)
        sign = -1 if allowed == "at least" else 1
        return difference(sign, side, then)

    mean = worse(now)
    p_worse = mean.p_at_most(margin)
    p_better = mean.p_at_least(-margin)
    still: Still | None = None
    if not now.unknown and not now.joint:
        # The reach of the present values stays, as it is not known that they will not
        # change.
        still = partial(worse, replace(now, values=then.values))
    found = {**found, "p_worse": p_worse, "p_better": p_better}
    return _Undecided(found, margin, mean, p_worse, p_better, still)


def _ungated(row: Row) -> Changed:
    """The change of a verdict before it is compared with another."""
    return {
        "nodeid": row["nodeid"],
        "relation": row["relation"],
        "oracle": row["oracle"],
        "metric": measured(row).metric,
        "change": "ungated",
        "worse": None,
        "interval": None,
        "levels": None,
        "margin": None,
        "p_worse": None,
        "p_better": None,
        "p_holm": None,
        "users": 0,
        "reason": "",
        "suspicious": None,
        "unit": unit_of(row),
        "early": False,
    }


def _decided(
    each: _Undecided,
    worse_level: float,
    better_level: float,
    alpha: float,
) -> Changed:
    """The change of a verdict, once all of them are known.

    Args:
        each: The verdict.
        worse_level: The largest p-value at which a verdict is called worse.
        better_level: The largest p-value at which a verdict is called better.
        alpha: Error rate of the upper bound where it is not called better.
    """
    worse = each.worse
    improved_by = -worse.estimate
    suspicious = each.found["suspicious"]
    is_better = each.p_better <= better_level
    # A raised bound is still a bound: it shows no improvement that is not claimed.
    high = (
        worse.upper(better_level)
        if is_better
        else max(worse.upper(alpha), -each.margin)
    )

    change: Change
    reason = ""
    if each.p_worse <= worse_level:
        change = "regressed"
    elif is_better and suspicious is not None and improved_by > suspicious:
        change = "suspicious"
        reason = (
            f"better by {improved_by:.3f}, more than {suspicious:g}: see whether held-out items leaked "
            f"into training"
        )
    elif is_better:
        change = "improved"
    elif worse.p_at_least(each.margin) <= alpha:
        change = "unchanged"
    else:
        change, reason = _unclear(each, high, alpha)
    return {
        **each.found,
        "change": change,
        "worse": worse.estimate,
        "interval": [worse.lower(worse_level), high],
        "levels": [worse_level, better_level if is_better else alpha],
        "reason": reason,
    }


def _unclear(each: _Undecided, high: float, alpha: float) -> tuple[Change, str]:
    """The change of a verdict that is shown neither worse, nor better, nor unchanged,
    and why; `high` is its upper bound.
    """
    unit = each.found.get("unit")
    users = f"{each.found['users']} {unit}"
    at_most = f"it may be worse by up to {high:.3f}"
    if each.found.get("early"):
        why = f"the run it is compared with stopped at {users}, when its verdict was clear"
        return "inconclusive", f"{at_most}; {why}"
    if each.still is not None and each.still().p_at_least(each.margin) > alpha:
        few = f"{users} are too few to show it within {each.margin:g}, even if no value changed"
        return "ungated", f"{few}; {at_most}"
    return "inconclusive", f"{at_most}; ask more {unit}, or allow a larger margin"
