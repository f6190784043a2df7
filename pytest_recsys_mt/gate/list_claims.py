"""What a policy demands of the lists of users: that they agree with those of the
baseline, for all users or group by group.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from pytest_recsys_mt.gate.document import Facts, ListsClaim
from pytest_recsys_mt.gate.policy import ListsRule
from pytest_recsys_mt.oracles.arrays import Floats, Integers
from pytest_recsys_mt.oracles.similarities.rbo import rbo
from pytest_recsys_mt.oracles.statistics.betting import Bets

ALL = "all users"

NAMED = 10
"""Groups of a run that are named where it lacks one."""

Lists = Mapping[str, Sequence[str]]


def claims_of(
    old: Facts,
    new: Facts,
    against: str,
    model: str,
    rules: Sequence[ListsRule],
    alpha: float,
) -> list[ListsClaim]:
    """What is shown of each rule, and of each group that it is about.

    Args:
        old: The earlier record.
        new: The later one, whose groups count.
        against: The model of the earlier record.
        model: That of the later one.
        rules: Those that apply to it.
        alpha: The error rate of all claims together.
    """
    before = old.get("lists", {}).get(against, {})
    after = new.get("lists", {}).get(model, {})
    # Bets need an order that no answer had a part in.
    users = sorted(before.keys() & after.keys(), key=_drawn)
    agreement = dict(zip(users, agreements(before, after, users), strict=True))
    judged = [
        (rule, name, [user for user in users if user in members])
        for rule in rules
        for name, members in _groups(rule, new, users)
    ]
    share = alpha / max(1, len(judged))
    claims = [
        _claim(rule, name, [agreement[user] for user in own], share)
        for rule, name, own in judged
    ]
    for (rule, _, _), claim in zip(judged, claims, strict=True):
        if missing := _missing(rule.group, new):
            claim["missing"] = missing
    return claims


def _drawn(user: str) -> bytes:
    """The place of a user in an order that is like a random one."""
    return hashlib.sha256(f"lists of the baseline {user}".encode()).digest()


def agreements(before: Lists, after: Lists, users: Sequence[str]) -> list[float]:
    """The agreement (RBO) of both lists of each user; 1 of two empty ones."""
    numbers: dict[str, int] = {}
    places = max(
        (len(each[user]) for each in (before, after) for user in users), default=0
    )
    sides = []
    for lists in (before, after):
        side = np.full((len(users), max(1, places)), -1, np.int64)
        for row, user in enumerate(users):
            for place, title in enumerate(dict.fromkeys(lists[user])):
                side[row, place] = numbers.setdefault(title, len(numbers))
        sides.append(side)
    return [float(each) for each in _agreement(sides[0], sides[1])]


def _agreement(one: Integers, other: Integers) -> Floats:
    found = rbo(one, other)
    both_empty = (one[:, 0] < 0) & (other[:, 0] < 0)
    return np.where(np.isnan(found), both_empty.astype(np.float64), found)


def _groups(
    rule: ListsRule,
    record: Facts,
    users: Sequence[str],
) -> Iterator[tuple[str, set[str]]]:
    """The groups that a rule is about, with their users; one without users if the run
    did not divide its users so.
    """
    if not rule.group:
        yield ALL, set(users)
        return
    slicing, _, value = rule.group.partition("=")
    value_by_user = record.get("groups", {}).get(slicing, {})
    values = [value] if value else sorted(set(value_by_user.values()))
    for each in values or [""]:
        members = {user for user, own in value_by_user.items() if own == each}
        yield (f"{slicing}={each}" if each else slicing), members


def _missing(group: str, record: Facts) -> str:
    """Why the run has no such group; empty if it has it, or none is asked for."""
    slicing, _, value = group.partition("=")
    value_by_user = record.get("groups", {}).get(slicing)
    if not group or (value_by_user and value in ("", *value_by_user.values())):
        return ""
    if not value_by_user:
        return f"this run was not divided by {slicing!r}: --recsys-slices={slicing}"
    groups = [f"{slicing}={each}" for each in sorted(set(value_by_user.values()))]
    more = f" and {len(groups) - NAMED} more" if len(groups) > NAMED else ""
    return f"this run has no group {group!r}; it has {', '.join(groups[:NAMED])}{more}"


def _claim(
    rule: ListsRule,
    name: str,
    agreement: Sequence[float],
    alpha: float,
) -> ListsClaim:
    if not agreement:
        return {
            "of": name,
            "least": rule.agreement,
            "users": 0,
            "agreement": None,
            "low": 0.0,
            "high": 1.0,
            "status": "inconclusive",
        }
    bets = Bets(np.array(agreement), 0.0, 1.0)
    low, high = bets.lower(alpha), bets.upper(alpha)
    status = "inconclusive"
    if low >= rule.agreement:
        status = "holds"
    elif high < rule.agreement:
        status = "violated"
    return {
        "of": name,
        "least": rule.agreement,
        "users": len(agreement),
        "agreement": float(np.mean(agreement)),
        "low": low,
        "high": high,
        "status": status,
    }
