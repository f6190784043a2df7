"""Two runs compared, test by test and user by user.

Every user is asked the same in both, so what counts is the difference of a user's two values. A claim
of one comparison has the error rate of the policy; "regressed" and "improved" stand after Holm's
correction over all comparisons that gate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from pytest_recsys_mt.gate.policy import Policy
from pytest_recsys_mt.llm.sanitize import one_line
from pytest_recsys_mt.metamorphic import slug
from pytest_recsys_mt.oracles.bounds import Mean, mean_difference_of
from pytest_recsys_mt.oracles.kernel import Floats
from pytest_recsys_mt.verdict import holm

Row = Mapping[str, Any]

Change = Literal["regressed", "improved", "unchanged", "suspicious", "inconclusive", "ungated"]
"""``regressed``: worse by more than the margin. ``improved``: better by more than the margin;
``suspicious``: so much better that a leak is likelier than a better model. ``unchanged``: not worse
by the margin or more. ``inconclusive``: none of these can be claimed. ``ungated``: not compared."""

SEVERAL_LOOKS = "users were asked in several looks; with a recsys.toml or --recsys-baseline all are asked at once"


@dataclass(frozen=True)
class Finding:
    """What became of one verdict since the baseline.

    Attributes:
        nodeid: Of the test in this run.
        relation, oracle, metric: Of the verdict.
        change: See `Change`.
        worse: How much worse the mean is, in the unit of the verdict; below 0 it is better.
        interval: One-sided bounds of that.
        margin: How much worse is still no regression.
        p_worse: P-value of the hypothesis that it is not worse by more than the margin.
        p_better: P-value of the hypothesis that it is not better by more than the margin.
        p_holm: `p_worse` after Holm's correction.
        users: In both runs.
        reason: Why it is ungated, inconclusive or suspicious.
        suspicious: How much better is still believed; None believes anything.
        not_worse: Whether it is shown not to be worse by the margin or more.
    """

    nodeid: str
    relation: str
    oracle: str
    metric: str | None
    change: Change
    worse: float | None = None
    interval: tuple[float, float] | None = None
    margin: float | None = None
    p_worse: float | None = None
    p_better: float | None = None
    p_holm: float | None = None
    users: int = 0
    reason: str = ""
    suspicious: float | None = None
    not_worse: bool = False


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
    findings = [_compare(before.get(key), row, policy, alpha) for key, row in _keyed(new)]
    told = [found for found in findings if found.p_worse is not None]
    adjusted = {
        name: dict(zip(map(id, told), holm([p or 0.0 for p in p_values]), strict=True))
        for name, p_values in (
            ("worse", [found.p_worse for found in told]),
            ("better", [found.p_better for found in told]),
        )
    }
    return [
        found
        if found.p_worse is None
        else _decided(found, adjusted["worse"][id(found)], adjusted["better"][id(found)], alpha)
        for found in findings
    ]


def _keyed(rows: Sequence[Row]) -> Iterable[tuple[tuple[str, str, int], Row]]:
    """Rows by test, oracle and number among the verdicts of that oracle in that test."""
    seen: Counter[tuple[str, str]] = Counter()
    for row in rows:
        key = (address(row), str(row["oracle"]))
        yield (*key, seen[key]), row
        seen[key] += 1


def _compare(old: Row | None, new: Row, policy: Policy, alpha: float) -> Finding:
    rule = policy.rule(new)
    named = Finding(
        new["nodeid"], new["relation"], new["oracle"], new.get("metric"), change="ungated"
    )
    reason = _obstacle(old, new)
    if not rule.gates:
        reason = f"recsys.toml: {rule.reason}"
    if reason or old is None:
        return replace(named, reason=reason)
    users = sorted(old["per_user"].keys() & new["per_user"].keys())
    if len(users) < 2:
        return replace(named, reason=f"{len(users)} users have a value in both runs")
    margin = policy.margin if rule.margin is None else rule.margin
    limit: float | None = policy.suspicious if rule.suspicious is None else rule.suspicious
    if new.get("metric") is None:
        limit = rule.suspicious  # an effect that is gone was mended; only a metric is too good
    then, now = (
        np.array([row["per_user"][user] for user in users], np.float64) for row in (old, new)
    )
    named = replace(named, users=len(users), margin=margin, suspicious=limit)
    if np.array_equal(then, now):
        return replace(named, change="unchanged", worse=0.0, interval=(0.0, 0.0))
    reaches = (_reach(old), _reach(new))
    worsening = (
        _either_way(then, now, reaches, margin)
        if new["allowed"] == "within"
        else _one_way(then, now, reaches, margin, falling=new["allowed"] == "at least")
    )
    return replace(
        named,
        worse=worsening.estimate,
        interval=worsening.bounds(alpha),
        p_worse=worsening.p_worse,
        p_better=worsening.p_better,
        not_worse=worsening.p_not_less <= alpha,
    )


def _obstacle(old: Row | None, new: Row) -> str:
    """Why two rows cannot be compared; empty if they can."""
    if old is None:
        return "the baseline has no such verdict"
    for row, where in ((new, "this run"), (old, "the baseline")):
        if row["status"] in ("error", "not-applicable"):
            return one_line(f"{row['status']} in {where}: {row['reason']}")[:200]
        if not row.get("per_user"):
            # Whoever judges user by user says what the values can be; only then some were asked first.
            told = f"{where} has no value a user for it"
            return f"{told}: {SEVERAL_LOOKS}" if row.get("reach") else told
    if old["allowed"] != new["allowed"]:
        return f"it promised {old['allowed']!r} then and promises {new['allowed']!r} now"
    return ""


def _decided(found: Finding, p_worse: float, p_better: float, alpha: float) -> Finding:
    found = replace(found, p_holm=p_worse)
    if p_worse <= alpha:
        return replace(found, change="regressed")
    if p_better <= alpha and found.worse is not None:
        if found.suspicious is not None and -found.worse > found.suspicious:
            return replace(
                found,
                change="suspicious",
                reason=f"better by {-found.worse:.3f}, more than {found.suspicious:g}: see whether "
                f"held-out items leaked into training",
            )
        return replace(found, change="improved")
    if found.not_worse:
        return replace(found, change="unchanged")
    high = found.interval[1] if found.interval else float("nan")
    return replace(
        found,
        change="inconclusive",
        reason=f"it may be worse by up to {high:.3f}; ask more users, or allow a larger margin",
    )


@dataclass(frozen=True)
class _Worsening:
    """What is known of how much worse a mean became.

    Attributes:
        estimate: In the unit of the verdict.
        effects: Whose mean that is, ``(n,)``.
        reach: The smallest and the largest of them there can be.
        p_worse: Of the hypothesis: worse by at most the margin.
        p_better: Of the hypothesis: better by at most the margin.
        p_not_less: Of the hypothesis: worse by at least the margin.
    """

    estimate: float
    effects: Floats
    reach: tuple[float, float]
    p_worse: float
    p_better: float
    p_not_less: float

    def bounds(self, alpha: float) -> tuple[float, float]:
        """Below and above the true worsening, each with probability 1 - alpha."""
        mean = mean_difference_of(self.effects, *self.reach)
        return mean.lower(alpha), mean.upper(alpha)


Reach = tuple[float, float]


def _reach(row: Row) -> Reach:
    low, high = row["reach"]
    return float(low), float(high)


def _one_way(
    old: Floats, new: Floats, reaches: tuple[Reach, Reach], margin: float, falling: bool
) -> _Worsening:
    """Where more is worse; with `falling`, where less is."""
    sign = -1 if falling else 1
    effects, reach = _combined(sign, new, sign, old, reaches)
    mean = mean_difference_of(effects, *reach)
    return _Worsening(
        mean.estimate,
        effects,
        reach,
        p_worse=mean.p_at_most(margin),
        p_better=mean.p_at_least(-margin),
        p_not_less=mean.p_at_least(margin),
    )


def _either_way(
    old: Floats, new: Floats, reaches: tuple[Reach, Reach], margin: float
) -> _Worsening:
    """Where 0 is best: how much farther from it the mean is.

    Which side the means are on is not known. Since ``|x| = max(x, -x)``, the new mean is farther out
    by more than the margin if for one of its signs it is so against both signs of the old one: the
    largest p-value of the two claims that must both hold (Berger 1982, Technometrics 24, 295-300),
    and twice the smaller of the two of which one is enough (Bonferroni).
    """
    means = {}
    for sign in (1, -1):
        for other in (1, -1):
            means[sign, other] = _mean(*_combined(sign, new, other, old, reaches))
    most = [max(means[s, t].p_at_most(margin) for t in (1, -1)) for s in (1, -1)]
    better = [max(means[s, t].p_at_least(-margin) for s in (1, -1)) for t in (1, -1)]
    less = [max(means[s, t].p_at_least(margin) for s in (1, -1)) for t in (1, -1)]
    signs = [1 if values.mean() >= 0 else -1 for values in (new, old)]
    effects, reach = _combined(signs[0], new, signs[1], old, reaches)
    return _Worsening(
        float(effects.mean()),
        effects,
        reach,
        p_worse=min(1.0, 2 * min(most)),
        p_better=min(1.0, 2 * min(better)),
        p_not_less=min(1.0, 2 * min(less)),
    )


def _mean(effects: Floats, reach: Reach) -> Mean:
    return mean_difference_of(effects, *reach)


def _combined(
    sign: int, new: Floats, other: int, old: Floats, reaches: tuple[Reach, Reach]
) -> tuple[Floats, Reach]:
    """``sign * new - other * old`` of each user, and the smallest and largest there can be."""
    before, after = (
        sorted(factor * end for end in reach)
        for factor, reach in zip((other, sign), reaches, strict=True)
    )
    reach = (after[0] - before[1], after[1] - before[0])
    # Records keep six digits, which may lie that little beyond the end of the range.
    return np.clip(sign * new - other * old, *reach), reach
