"""Compares two runs, test by test, by the difference of each user's two values.

Values of an aggregate are its jackknife pseudo-values: the difference of two aggregates is itself a number of
all users, whose pseudo-values are the differences of theirs.
"""

import math
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pytest_recsys_mt.gate.document import Change, Changed, Row
from pytest_recsys_mt.gate.nodeids import address, step_of
from pytest_recsys_mt.gate.policy import Policy
from pytest_recsys_mt.gate.states import detail_of, measured, unit_of
from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.statistics.betting import Bets
from pytest_recsys_mt.oracles.statistics.bounds import Mean
from pytest_recsys_mt.oracles.statistics.corrections import holm
from pytest_recsys_mt.oracles.statistics.jackknife import Jackknife
from pytest_recsys_mt.safety.numbers import names_in_both, numbers_of
from pytest_recsys_mt.safety.sanitize import one_line

SEVERAL_LOOKS = (
    "users were asked in several steps, and records of that version have no values of users then"
)


def compare(
    old: Sequence[Row], new: Sequence[Row], policy: Policy, alpha: float, models: int = 1
) -> list[Changed]:
    """The change of every verdict, of one of several models that are compared, which share `alpha`."""
    before = dict(keyed(old))
    compared = [_compare(before.get(key), row, policy) for key, row in keyed(new)]
    worse = holm([p for found, *_ in compared if (p := found["p_worse"]) is not None])
    better = holm([p for found, *_ in compared if (p := found["p_better"]) is not None])
    levels = _level(worse, alpha / models), _level(better, alpha / models)
    p_holm = (min(1.0, models * p) for p in worse)
    return [
        found
        if mean is None
        else _decided({**found, "p_holm": next(p_holm)}, mean, levels, alpha, still)
        for found, mean, still in compared
    ]


def bounds_of(findings: Sequence[Changed], alpha: float, models: int = 1) -> str:
    """The error rates of the bounds of a comparison, in words; empty if there are no bounds."""
    levels = [levels for found in findings if (levels := found["levels"]) is not None]
    if not levels:
        return ""
    better = "".join(f" ({upper:.3g} where better)" for upper in {u for _, u in levels} - {alpha})
    return (
        f"lower bounds at error rate {levels[0][0]:.3g}, upper ones at {alpha:g}{better}: Holm's correction of "
        f"{alpha:g} over {f'{models} models and ' * (models > 1)}{len(levels)} verdicts that differ; what lies wholly above its margin regressed"
    )


def _level(adjusted: Sequence[float], alpha: float) -> float:
    """The p-value up to which Holm's correction rejects: all claims up to it, and no others. If r of m claims are
    rejected, it is ``alpha / (m - r)``: every rejected p is at most ``alpha / (m - r + 1)``, and the smallest other p
    is above ``alpha / (m - r)``.
    """
    return alpha / max(1, sum(p > alpha for p in adjusted))


def keyed(rows: Sequence[Row]) -> Iterable[tuple[tuple[str, str, int], Row]]:
    """Rows by test, oracle and number among the verdicts of that oracle in that test."""
    seen: Counter[tuple[str, str]] = Counter()
    for row in rows:
        key = (address(row), str(row["oracle"]))
        yield (*key, seen[key]), row
        seen[key] += 1


Still = Callable[[], Mean]
"""Gives the change of the same users if none of their values had changed."""


def _compare(
    old: Row | None, new: Row, policy: Policy
) -> tuple[Changed, Mean | None, Still | None]:
    rule = policy.rule(new)
    found: Changed = _ungated(new)
    reason = _obstacle(old, new)
    if not rule.gates:
        reason = f"recsys.toml: {rule.reason}"
    if reason or old is None:
        return {**found, "reason": reason}, None, None
    # In the order drawn: the users of both runs are the first ones of that order.
    users = names_in_both(new["per_user"], old["per_user"])
    unknown = _unknown(old, new, users)
    joint = old.get("joint", False) or new.get("joint", False)
    if joint:
        reason = _obstacle_together(old, new, len(users), len(unknown))
    if not reason and len(users) < 2:
        reason = f"{len(users)} {unit_of(new)} have a value in both runs"
    if reason:
        return {**found, "reason": reason}, None, None
    margin = policy.margin if rule.margin is None else rule.margin
    limit = rule.suspicious
    if limit is None and found["metric"] is not None:  # an effect that vanished was fixed
        limit = policy.suspicious
    then, now = (
        _Side(
            np.array(numbers_of(row["per_user"], users), np.float64),
            row["reach"] or (),
            joint,
            unknown,
        )
        for row in (old, new)
    )
    early = _asked(old) < _asked(new)
    found = {**found, "users": len(users), "margin": margin, "suspicious": limit, "early": early}
    if np.array_equal(then.values, now.values) and not unknown:
        return {**found, "change": "unchanged", "worse": 0.0, "interval": [0.0, 0.0]}, None, None
    sign = -1 if new["allowed"] == "at least" else 1

    def change(now: _Side) -> Mean:
        return _Farther(now, then) if new["allowed"] == "within" else _mean(sign, now, sign, then)

    mean = change(now)
    p_worse, p_better = mean.p_at_most(margin), mean.p_at_least(-margin)
    # What the values of now could reach stays, as nobody knows that they will not change.
    same = replace(now, values=then.values)
    still = None if unknown or joint else lambda: change(same)
    return {**found, "p_worse": p_worse, "p_better": p_better}, mean, still


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


def _obstacle_together(old: Row, new: Row, in_both: int, unknown: int) -> str:
    """Why a number of all users together cannot be compared; empty if it can."""
    then, now = old["per_user"], new["per_user"]
    if then.keys() != now.keys():
        told = f"{len(then)} then, {len(now)} now, {in_both} of them the same"
        return f"a number of all users together, and the users differ: {told}"
    if unknown:
        return f"a number of all users together, and of {unknown} an answer could not be read"
    return ""


def _unknown(old: Row, new: Row, users: Sequence[str]) -> tuple[int, ...]:
    """For each user whose value one run could not read, before which user with two values they stand."""
    before, after = unknown_of(old), unknown_of(new)
    if not before and not after:
        return ()
    lost = {*before, *after} & {*old["per_user"], *before} & {*new["per_user"], *after}
    # In the order drawn: an unread user stands before the user of that number among those with a value.
    place = {user: (at, 1) for at, user in enumerate(new["per_user"])}
    place |= {user: (at, 0) for user, at in after.items()}
    known = [place[user] for user in users]
    return tuple(sorted(bisect(known, place[user]) for user in lost))


def unknown_of(row: Row) -> dict[str, int]:
    """The users whose value is unknown, and before which user with a value each stands; records are untrusted.

    Their answer could not be read, or their follow-up failed although their source was answered.
    """
    found: dict[str, int] = {}
    for name in ("unreadable", "unmeasured"):
        said = detail_of(row, name)
        users = said.get("users") if isinstance(said, dict) else None
        if isinstance(users, dict):
            found |= {user: at for user, at in users.items() if isinstance(at, int) and at >= 0}
    return found


def _asked(row: Row) -> int:
    counts = (row.get(name) for name in ("users", "not_applicable", "errors"))
    return sum(count for count in counts if isinstance(count, int))


def _obstacle(old: Row | None, new: Row) -> str:
    if old is None:
        return "the baseline has no such verdict"
    for row, where in ((new, "this run"), (old, "the baseline")):
        left_out = row["status"] == "not-applicable" and not row.get("per_user")
        if row["status"] == "error" or left_out:
            return one_line(f"{row['status']} in {where}: {row['reason']}")[:200]
        if not row.get("per_user"):
            # A reach without values: the oracle judges user by user, but asked in several steps.
            why = SEVERAL_LOOKS if row.get("reach") else one_line(row["reason"])
            return f"{where} has no value per user for it{why and f': {why}'}"[:200]
    then, now = (detail_of(row, "questions_digest") for row in (old, new))
    if then and now and then != now:
        return one_line(
            f"the two asked other questions: SHA-256 {then!s:.12} then, {now!s:.12} now"
        )
    if old["allowed"] != new["allowed"]:
        return f"it promised {old['allowed']!r} then and promises {new['allowed']!r} now"
    if step_of(old) != step_of(new):
        # Such as an oracle that judges the worst of several steps, which is another one each time.
        told = f"the two judge different steps: {step_of(new)!r} and {step_of(old)!r}"
        return one_line(told)[:200]
    return ""


def _decided(
    found: Changed, mean: Mean, levels: tuple[float, float], alpha: float, still: Still | None
) -> Changed:
    worse_level, better_level = levels
    margin = found["margin"] or 0.0
    better = found["p_better"] is not None and found["p_better"] <= better_level
    # A raised bound is still a bound: no improvement is shown that is not claimed.
    high = mean.upper(better_level) if better else max(mean.upper(alpha), -margin)
    change: Change
    reason = ""
    if found["p_worse"] is not None and found["p_worse"] <= worse_level:
        change = "regressed"
    elif better and found["suspicious"] is not None and -mean.estimate > found["suspicious"]:
        change = "suspicious"
        reason = (
            f"better by {-mean.estimate:.3f}, more than {found['suspicious']:g}: see whether held-out items leaked "
            f"into training"
        )
    elif better:
        change = "improved"
    elif mean.p_at_least(margin) <= alpha:
        change = "unchanged"
    else:
        more = (
            f"the run it is compared with stopped at {found['users']} {found.get('unit')}, when its verdict was clear"
            if found.get("early")
            else f"ask more {found.get('unit')}, or allow a larger margin"
        )
        change, reason = "inconclusive", f"it may be worse by up to {high:.3f}; {more}"
        if still is not None and not found.get("early") and still().p_at_least(margin) > alpha:
            few = f"{found['users']} {found.get('unit')} are too few to show it within {margin:g}, even if no value changed"
            change, reason = "ungated", f"{few}; it may be worse by up to {high:.3f}"
    return {
        **found,
        "change": change,
        "worse": mean.estimate,
        "interval": [mean.lower(worse_level), high],
        "levels": [worse_level, better_level if better else alpha],
        "reason": reason,
    }


@dataclass(frozen=True)
class _Side:
    """The values of the users of one run, and the smallest and the largest possible value.

    `joint` says whether they are the pseudo-values of a number of all users together, `unknown` where users
    stand whose value could not be read.
    """

    values: Floats
    reach: Sequence[float]
    joint: bool
    unknown: Sequence[int] = ()

    def ends(self) -> tuple[float, float]:
        """The range of its values; an untrusted record may hold a value beyond its reach."""
        values = (*self.reach, self.values.min(), self.values.max())
        return float(min(values)), float(max(values))


class _Farther(Mean):
    """How much farther from 0 one mean is than another, as a `Mean`.

    Near 0 the sign is uncertain, so both are tested. Since ``|x| = max(x, -x)``, the new mean is farther out by more
    than the margin if this holds for one of its signs against both signs of the old mean. Two claims that must both
    hold take the larger p-value (Berger 1982, Technometrics 24, 295-300). Two claims of which one is enough take twice
    the smaller one (Bonferroni). The bounds invert that.
    """

    def __init__(self, new: _Side, old: _Side) -> None:
        self.estimate = float(abs(new.values.mean()) - abs(old.values.mean()))
        # A row for each sign of the new mean, a column for each of the old one.
        self._means = [[_mean(s, new, t, old) for t in (1, -1)] for s in (1, -1)]

    def lower(self, alpha: float) -> float:
        return max(min(mean.lower(alpha / 2) for mean in row) for row in self._means)

    def upper(self, alpha: float) -> float:
        return min(max(row[at].upper(alpha / 2) for row in self._means) for at in (0, 1))

    def p_at_most(self, value: float) -> float:
        return min(1.0, 2 * min(max(mean.p_at_most(value) for mean in row) for row in self._means))

    def p_at_least(self, value: float) -> float:
        worst = (max(row[at].p_at_least(value) for row in self._means) for at in (0, 1))
        return min(1.0, 2 * min(worst))


def _mean(sign: int, new: _Side, other: int, old: _Side) -> Mean:
    effects = sign * new.values - other * old.values
    if not new.joint:
        after, before = (
            sorted(factor * end for end in side.ends())
            for factor, side in ((sign, new), (other, old))
        )
        return Bets(effects, after[0] - before[1], after[1] - before[0], new.unknown)
    # If one user's answer changes, all values of an aggregate shift a little, and the record keeps
    # six digits: values that differ by less are one shift.
    digits = 2e-5 * max(abs(new.values).max(), abs(old.values).max())
    middle = np.median(effects)
    effects = np.where(abs(effects - middle) <= digits, middle, effects)
    one = max(digits, float(abs(effects - effects.mean()).max()))
    return Jackknife(effects, -math.inf, math.inf, one)
