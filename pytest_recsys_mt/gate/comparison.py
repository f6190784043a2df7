"""Two runs compared, test by test and user by user.

Every user is asked the same in both, so what counts is the difference of a user's two values. Values of
an aggregate are its jackknife pseudo-values: the difference of two aggregates is itself a number of all
users, whose pseudo-values are the differences of theirs. They have no bounds of their own, which is why
a record's ``reach`` contains the values that were seen.

A claim of one comparison has the error rate of the policy; "regressed" and "improved" stand after
Holm's correction over all comparisons that gate. The bounds shown are at the level that decides.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from pytest_recsys_mt.gate.policy import Policy
from pytest_recsys_mt.metamorphic import slug
from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.statistics.betting import Bets
from pytest_recsys_mt.oracles.statistics.bounds import Mean
from pytest_recsys_mt.oracles.statistics.corrections import holm
from pytest_recsys_mt.oracles.statistics.jackknife import Jackknife
from pytest_recsys_mt.sanitize import one_line

Row = Mapping[str, Any]

Change = Literal["regressed", "improved", "unchanged", "suspicious", "inconclusive", "ungated"]
"""``regressed``: worse by more than the margin. ``improved``: better by more than the margin;
``suspicious``: so much better that a leak is likelier than a better model. ``unchanged``: not worse
by the margin or more. ``inconclusive``: none of these can be claimed. ``ungated``: not compared."""

SEVERAL_LOOKS = (
    "users were asked in several steps, and records of that version have no values of users then"
)


@dataclass(frozen=True)
class Finding:
    """What became of one verdict since the baseline.

    Attributes:
        nodeid: Of the test in this run.
        relation, oracle, metric: Of the verdict.
        change: See `Change`.
        worse: How much worse the mean is, in the unit of the verdict; below 0 it is better.
        interval: One-sided bounds of that: wholly above the margin exactly if it regressed, wholly
            below the margin exactly if it did not, wholly beyond the margin on the better side
            exactly if it improved or is suspicious.
        levels: Error rates of the lower and the upper bound; see `bounds_of`.
        margin: How much worse is still no regression.
        p_worse: P-value of the hypothesis that it is not worse by more than the margin.
        p_better: P-value of the hypothesis that it is not better by more than the margin.
        p_holm: `p_worse` after Holm's correction.
        users: In both runs.
        reason: Why it is ungated, inconclusive or suspicious.
        suspicious: How much better is still believed; None believes anything.
    """

    nodeid: str
    relation: str
    oracle: str
    metric: str | None
    change: Change
    worse: float | None = None
    interval: tuple[float, float] | None = None
    levels: tuple[float, float] | None = None
    margin: float | None = None
    p_worse: float | None = None
    p_better: float | None = None
    p_holm: float | None = None
    users: int = 0
    reason: str = ""
    suspicious: float | None = None


def address(row: Row) -> str:
    """The id of a test without the model in it, which is another one in the other run."""
    test, bracket, parameters = str(row["nodeid"]).partition("[")
    if not bracket:
        return test
    model = slug(str(row["model"])) if row["model"] else ""
    own = parameters.removesuffix("]")
    if model and (own == model or own.startswith(f"{model}-")):
        own = own[len(model) :].removeprefix("-")
    return f"{test}[{own}]" if own else test


def name_of_row(row: Mapping[str, Any]) -> str:
    """The relation, or for tests without one the test and its own parameters."""
    if row["relation"] and row.get("metric") is None:
        return str(row["relation"])
    test, _, parameters = row["nodeid"].rpartition("::")[2].partition("[")
    own = parameters.removesuffix("]").removeprefix(slug(row["model"])).removeprefix("-")
    name = test.removeprefix("test_")
    return f"{name} {own}" if own else str(name)


def addresses(rows: Iterable[Row]) -> list[str]:
    """The tests of a run, whatever their model, in order."""
    return sorted({address(row) for row in rows})


def compare(old: Sequence[Row], new: Sequence[Row], policy: Policy, alpha: float) -> list[Finding]:
    """What became of every verdict.

    Args:
        old: Rows of one model of the baseline.
        new: Rows of one model of this run.
        policy: Says what gates, and with which margin.
        alpha: Error rate of a claim, and of all regressions that gate together.
    """
    before = dict(_keyed(old))
    compared = [_compare(before.get(key), row, policy) for key, row in _keyed(new)]
    claims = [each for each in compared if isinstance(each, _Claim)]
    p_worse = [claim.mean.p_at_most(claim.margin) for claim in claims]
    p_better = [claim.mean.p_at_least(-claim.margin) for claim in claims]
    p_holm = holm(p_worse)
    levels = _level(p_holm, alpha), _level(holm(p_better), alpha)
    decided = (
        _decided(claim, replace(claim.finding, p_worse=p, p_better=q, p_holm=h), levels, alpha)
        for claim, p, q, h in zip(claims, p_worse, p_better, p_holm, strict=True)
    )
    return [next(decided) if isinstance(each, _Claim) else each for each in compared]


def bounds_of(findings: Sequence[Finding], alpha: float) -> str:
    """At which error rates the bounds of a comparison stand, in words; empty where none was needed."""
    levels = [found.levels for found in findings if found.levels is not None]
    if not levels:
        return ""
    better = "".join(f" ({upper:.3g} where better)" for upper in {u for _, u in levels} - {alpha})
    return (
        f"lower bounds at error rate {levels[0][0]:.3g}, upper ones at {alpha:g}{better}: Holm's correction of "
        f"{alpha:g} over {len(levels)} verdicts that differ; what lies wholly above its margin regressed"
    )


def _level(adjusted: Sequence[float], alpha: float) -> float:
    """The p-value up to which Holm's correction rejects: all claims up to it, and no others.

    With r of m rejected it is ``alpha / (m - r)``: every rejected p is at most ``alpha / (m - r + 1)``,
    and the smallest of the others is above ``alpha / (m - r)``.
    """
    return alpha / max(1, sum(p > alpha for p in adjusted))


def _keyed(rows: Sequence[Row]) -> Iterable[tuple[tuple[str, str, int], Row]]:
    """Rows by test, oracle and number among the verdicts of that oracle in that test."""
    seen: Counter[tuple[str, str]] = Counter()
    for row in rows:
        key = (address(row), str(row["oracle"]))
        yield (*key, seen[key]), row
        seen[key] += 1


@dataclass(frozen=True)
class _Claim:
    """A change that has to be inferred.

    Attributes:
        finding: What is known of it already.
        mean: How much worse the mean is, for all users.
        margin: How much worse is still no regression.
    """

    finding: Finding
    mean: Mean
    margin: float


def _compare(old: Row | None, new: Row, policy: Policy) -> Finding | _Claim:
    rule = policy.rule(new)
    named = Finding(
        new["nodeid"], new["relation"], new["oracle"], new.get("metric"), change="ungated"
    )
    reason = _obstacle(old, new)
    if not rule.gates:
        reason = f"recsys.toml: {rule.reason}"
    if reason or old is None:
        return replace(named, reason=reason)
    # In the order drawn: whoever stopped first, the users of both are a beginning of that order.
    users = [user for user in new["per_user"] if user in old["per_user"]]
    joint = old.get("joint", False) or new.get("joint", False)
    if joint and old["per_user"].keys() != new["per_user"].keys():
        told = f"{len(old['per_user'])} then, {len(new['per_user'])} now, {len(users)} of them the same"
        return replace(named, reason=f"a number of all users together, who are others: {told}")
    if len(users) < 2:
        return replace(named, reason=f"{len(users)} users have a value in both runs")
    margin = policy.margin if rule.margin is None else rule.margin
    limit: float | None = policy.suspicious if rule.suspicious is None else rule.suspicious
    if new.get("metric") is None:
        limit = rule.suspicious  # an effect that is gone was fixed; only a metric is too good
    then, now = (
        np.array([row["per_user"][user] for user in users], np.float64) for row in (old, new)
    )
    named = replace(named, users=len(users), margin=margin, suspicious=limit)
    if np.array_equal(then, now):
        return replace(named, change="unchanged", worse=0.0, interval=(0.0, 0.0))
    sides = _Side(now, new["reach"], joint), _Side(then, old["reach"], joint)
    if new["allowed"] == "within":
        return _Claim(named, _Farther(*sides), margin)
    sign = -1 if new["allowed"] == "at least" else 1
    return _Claim(named, _mean(sign, sides[0], sign, sides[1]), margin)


def _obstacle(old: Row | None, new: Row) -> str:
    """Why two rows cannot be compared; empty if they can."""
    if old is None:
        return "the baseline has no such verdict"
    for row, where in ((new, "this run"), (old, "the baseline")):
        if row["status"] in ("error", "not-applicable"):
            return one_line(f"{row['status']} in {where}: {row['reason']}")[:200]
        if not row.get("per_user"):
            # Whoever judges user by user says what the values can be; only then some were asked first.
            why = SEVERAL_LOOKS if row.get("reach") else one_line(row["reason"])
            return f"{where} has no value a user for it{why and f': {why}'}"[:200]
    if old["allowed"] != new["allowed"]:
        return f"it promised {old['allowed']!r} then and promises {new['allowed']!r} now"
    return ""


def _decided(claim: _Claim, found: Finding, levels: tuple[float, float], alpha: float) -> Finding:
    """The word for a change, and the bounds that it is read off."""
    mean, margin = claim.mean, claim.margin
    worse_level, better_level = levels
    better = found.p_better is not None and found.p_better <= better_level
    # A bound that is raised stays one: no improvement is shown that is not claimed.
    high = mean.upper(better_level) if better else max(mean.upper(alpha), -margin)
    found = replace(
        found,
        worse=mean.estimate,
        interval=(mean.lower(worse_level), high),
        levels=(worse_level, better_level if better else alpha),
    )
    if found.p_worse is not None and found.p_worse <= worse_level:
        return replace(found, change="regressed")
    if better and found.suspicious is not None and -mean.estimate > found.suspicious:
        return replace(
            found,
            change="suspicious",
            reason=f"better by {-mean.estimate:.3f}, more than {found.suspicious:g}: see whether "
            f"held-out items leaked into training",
        )
    if better:
        return replace(found, change="improved")
    if mean.p_at_least(margin) <= alpha:
        return replace(found, change="unchanged")
    return replace(
        found,
        change="inconclusive",
        reason=f"it may be worse by up to {high:.3f}; ask more users, or allow a larger margin",
    )


@dataclass(frozen=True)
class _Side:
    """The values of the users of one run, and the smallest and the largest of them there can be.

    `joint` says whether they are the pseudo-values of a number of all users together.
    """

    values: Floats
    reach: Sequence[float]
    joint: bool

    def ends(self) -> tuple[float, float]:
        """What its values can be; a record of anybody may hold one beyond its reach."""
        return float(min(*self.reach, self.values.min())), float(
            max(*self.reach, self.values.max())
        )


class _Farther(Mean):
    """How much farther from 0 one mean is than another, as a `Mean`.

    Which side of 0 they are on is not known. Since ``|x| = max(x, -x)``, the new mean is farther out
    by more than the margin if for one of its signs it is so against both signs of the old one: the
    largest p-value of the two claims that must both hold (Berger 1982, Technometrics 24, 295-300),
    and twice the smaller of the two of which one is enough (Bonferroni). The bounds invert that.
    """

    def __init__(self, new: _Side, old: _Side) -> None:
        self.estimate = float(abs(new.values.mean()) - abs(old.values.mean()))
        self._means = {(s, t): _mean(s, new, t, old) for s in (1, -1) for t in (1, -1)}

    def lower(self, alpha: float) -> float:
        """See `Mean`."""
        bounds = {signs: mean.lower(alpha / 2) for signs, mean in self._means.items()}
        return max(min(bounds[s, t] for t in (1, -1)) for s in (1, -1))

    def upper(self, alpha: float) -> float:
        """See `Mean`."""
        bounds = {signs: mean.upper(alpha / 2) for signs, mean in self._means.items()}
        return min(max(bounds[s, t] for s in (1, -1)) for t in (1, -1))

    def p_at_most(self, value: float) -> float:
        """See `Mean`."""
        p = {signs: mean.p_at_most(value) for signs, mean in self._means.items()}
        return min(1.0, 2 * min(max(p[s, t] for t in (1, -1)) for s in (1, -1)))

    def p_at_least(self, value: float) -> float:
        """See `Mean`."""
        p = {signs: mean.p_at_least(value) for signs, mean in self._means.items()}
        return min(1.0, 2 * min(max(p[s, t] for s in (1, -1)) for t in (1, -1)))


def _mean(sign: int, new: _Side, other: int, old: _Side) -> Mean:
    """The mean of ``sign * new - other * old`` over users."""
    effects = sign * new.values - other * old.values
    if not new.joint:
        after, before = (
            sorted(factor * end for end in side.ends())
            for factor, side in ((sign, new), (other, old))
        )
        return Bets(effects, after[0] - before[1], after[1] - before[0])
    # Of an aggregate all values shift a little where one user's answer changes, and the record keeps
    # six digits: what differs by less than those is the same shift.
    digits = 2e-5 * max(abs(new.values).max(), abs(old.values).max())
    middle = np.median(effects)
    effects = np.where(abs(effects - middle) <= digits, middle, effects)
    one = max(digits, float(abs(effects - effects.mean()).max()))
    return Jackknife(effects, -math.inf, math.inf, one)
