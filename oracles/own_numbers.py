"""Numbers that a test computed itself, by unit: how they are read, and how a claim
about them becomes a verdict.

A unit is whatever the numbers are of: a user, a question, a pair of texts. The bets
need units in an order that does not depend on their values, and a mapping may be sorted
by them. So units are taken in the order of a digest of their names.
"""

import hashlib
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, TypeVar

import numpy as np

from pytest_recsys_mt.oracles.arguments import LONGEST, finite
from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.judging.account import (
    Account,
    joined,
    missing_in_words,
    without_verdict,
)
from pytest_recsys_mt.oracles.judging.claim import Claim, judge_family
from pytest_recsys_mt.oracles.statistics.bounds import Mean
from pytest_recsys_mt.safety.errors import OracleError
from pytest_recsys_mt.verdict.answers import Context
from pytest_recsys_mt.verdict.verdict import Verdict

__all__: list[str] = []  # what oracles share, and none itself

NO_VALUE = "no value was given"
"""Why a unit of an own number has none: its value is None, or an empty sequence."""

_NO_CHANCE = 1e-6
"""The probability of an order below which chance does not explain it."""

MADE_UP = "made up for a plan"

Span = tuple[float, float]
"""The smallest and the largest possible number."""

One = TypeVar("One")
"""What one replicate of a unit is read as."""


def name_of_unit(key: object) -> str:
    """The key of a unit as a text, the same in every process."""
    if isinstance(key, tuple):
        return ", ".join(map(name_of_unit, key))
    if isinstance(key, AbstractSet):
        return ", ".join(sorted(map(name_of_unit, key)))
    return str(key)


def as_mapping(values: Any) -> Any:
    """The plain mapping of a series or a table of pandas; anything else as it is."""
    return values.to_dict() if hasattr(values, "to_dict") else values


def require_words(oracle: str, context: Any, name: Any, unit: Any) -> None:
    """Refuse a context, a name or a unit that is none."""
    if not isinstance(context, Context):
        raise OracleError(
            f"{oracle}: context must be the fixture's recsys.context, got {_shown(context)}",
        )
    for what, given in (("name", name), ("unit", unit)):
        if not isinstance(given, str) or not given.strip():
            raise OracleError(
                f"{oracle}: {what} must be a text, such as 'length' or 'questions', got {given!r}",
            )


def span_of_numbers(oracle: str, name: str, span: Any) -> Span:
    """The checked ends of the possible numbers."""
    plain = span.tolist() if hasattr(span, "tolist") else span
    match plain:
        case (low, high):
            ends = finite(oracle, f"{name}[0]", low), finite(oracle, f"{name}[1]", high)
            if ends[0] < ends[1]:
                return ends
    raise OracleError(
        f"{oracle}: {name} must be the smallest and the largest possible number, such as (0, 1), got {span!r}; the "
        f"bounds of the verdict depend on it",
    )


def numbers_by_unit(
    oracle: str,
    name: str,
    values: Mapping[Any, Any],
    span: Span,
) -> dict[str, tuple[float, ...]]:
    """The numbers of each unit, one for each replicate; none if it has no value.

    Raises:
        OracleError: If a value is no number, or lies outside the span.
    """
    low, high = span
    slack = 1e-9 * max(1.0, high - low)

    def number(value: Any, unit: str) -> float:
        if not isinstance(value, Real) or math.isnan(plain := float(value)):
            raise OracleError(
                f"{oracle}: {name} has {_shown(value)} for {unit!r}; give a number, a sequence of numbers (its "
                f"replicates), or None if this one has no value, which is counted",
            )
        if not low - slack <= plain <= high + slack:
            raise OracleError(
                f"{oracle}: {name} has {plain:.10g} for {unit!r}, but the span is from {low:g} to {high:g}; the "
                f"bounds depend on the span, so give its true ends",
            )
        return min(max(plain, low), high)

    return by_unit(oracle, name, values, number)


def by_unit(
    oracle: str,
    name: str,
    values: Mapping[Any, Any],
    read: Callable[[Any, str], One],
    *,
    some: bool = False,
) -> dict[str, tuple[One, ...]]:
    """What is read of each unit, one for each replicate, in an order that does not
    depend on it; none for a unit without a value.

    Args:
        oracle: The oracle, for errors.
        name: The name of the argument, likewise.
        values: The values by key.
        read: Reads one value, and gets the name of its unit.
        some: Whether a unit with some of its values counts by these, as with the labels
            of several people of whom one gave none.
    """
    values = as_mapping(values)
    found: dict[str, tuple[One, ...]] = {}
    keys = list(values.keys())
    for key in keys:
        unit = name_of_unit(key)
        if unit in found:
            raise OracleError(
                f"{oracle}: {name} has two keys that are written {unit!r}; give each its own name",
            )
        replicates = _replicates(values[key])
        known = [value for value in replicates if value is not None]
        # A replicate without a value is not replaced by the others, as in a score.
        whole = some or len(known) == len(replicates)
        read_ones = tuple(read(value, unit) for value in known)
        found[unit] = read_ones if whole else ()
    if not found:
        raise OracleError(
            f"{oracle}: {name} is empty, so nothing can be judged; give a value for each, and None for those without one",
        )
    return {unit: found[unit] for unit in sorted(found, key=_digest)}


def _replicates(value: Any) -> list[Any]:
    plain = value.tolist() if hasattr(value, "tolist") else value
    if plain is None:
        return []
    if isinstance(plain, list | tuple):
        return [each.item() if hasattr(each, "item") else each for each in plain]
    return [plain]


def _digest(unit: str) -> str:
    return hashlib.sha256(unit.encode("utf-8", "surrogatepass")).hexdigest()


def _shown(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}..."


def means(numbers: Mapping[str, Sequence[float]]) -> Floats:
    """The mean of each unit's replicates, ``(n,)``; NaN without a value."""
    return np.array(
        [sum(each) / len(each) if each else math.nan for each in numbers.values()],
        np.float64,
    )


def numbered_by_value(numbers: Mapping[str, float]) -> str:
    """Why the order of the units is not to be trusted: their names count up along
    their values, which no chance explains. Empty otherwise.

    So it is where values were numbered after they were sorted. A digest of such names
    is one fixed order of the sorted values, and no random one.
    """
    known = [unit for unit, value in numbers.items() if not math.isnan(value)]
    ordered = [numbers[unit] for unit in sorted(known, key=_natural)]
    steps = np.diff(ordered)
    if not len(steps) or not ((steps >= 0).all() or (steps <= 0).all()):
        return ""
    orders = math.lgamma(len(ordered) + 1)
    orders -= sum(math.lgamma(count + 1) for count in Counter(ordered).values())
    if math.log(2) - orders > math.log(_NO_CHANCE):
        return ""
    return (
        "the values are sorted by the names of what they are of, as if they had been numbered after sorting, and then no "
        "order of them is random; use the names of the users as keys"
    )


def _natural(unit: str) -> list[tuple[int, int, str]]:
    """A key of names by which u2 comes before u10."""
    parts = re.findall(r"([0-9]+)|([^0-9]+)", unit)
    return [(0, int(number), "") if number else (1, 0, text) for number, text in parts]


def too_many_missing(missing: int, asked: int, context: Context) -> str:
    """Why too many units have no value for a verdict; empty if few enough."""
    limit = context.missed_limit
    if not missing or missing <= limit * asked:
        return ""
    return (
        f"{NO_VALUE} for {missing / asked:.1%} of the users, more than {limit:.1%} (recsys_missed_limit); find out why "
        f"they have none"
    )


def of_unit(reason: str, unit: str) -> str:
    """A reason that counts users, as one that counts units of another name."""
    if unit == "users":
        return reason
    one = unit.removesuffix("s")
    return re.sub(r"\busers\b", unit, re.sub(r"\buser\b", one, reason))


@dataclass(frozen=True)
class Own:
    """What a verdict on a number of all units together says beside its claim.

    Attributes:
        metric: The name of the number.
        unit: What the numbers are of, in the plural.
        account: How many units there are, and which have no value.
        note: What readers of the number should know.
        figures: Further numbers by name.
        obstacle: Why these values allow no verdict.
    """

    metric: str
    unit: str
    account: Account
    note: str = ""
    figures: Mapping[str, float] | None = None
    obstacle: str = ""


def concluded(claim: Claim, mean: Mean, own: Own, context: Context) -> Verdict:
    """The reported verdict on a number of all units together, by its bounds."""
    account = own.account
    details: dict[str, Any] = {} if own.unit == "users" else {"unit": own.unit}
    if own.figures:
        details["figures"] = dict(own.figures)
    verdict = Verdict(
        "inconclusive",
        claim.oracle,
        metric=own.metric,
        threshold=claim.margin,
        allowed=claim.promise,
        measures=claim.measures,
        joint=True,
        users=account.answered,
        not_applicable=account.without_number,
        account=account.plain,
        details=details,
    )
    if context.made_up:
        return context.report(replace(verdict, reason=MADE_UP))
    missing = missing_in_words(account)
    obstacle = too_many_missing(account.missing, account.asked, context) or own.obstacle
    without = without_verdict(account, {}, context, unread=obstacle)
    if without is not None:
        status, why = without
        reason = of_unit(joined(why, *missing), own.unit)
        return context.report(replace(verdict, status=status, reason=reason))
    low, high = mean.lower(context.alpha), mean.upper(context.alpha)
    family = judge_family(claim, [mean], context.alpha)
    reason = ""
    if family.status == "inconclusive":
        reason = (
            f"the bounds [{low:.3f}, {high:.3f}] do not settle on which side of {claim.margin:g} it is; more users make "
            f"them narrower"
        )
    return context.report(
        replace(
            verdict,
            status=family.status,
            value=mean.estimate,
            interval=(low, high),
            p_value=family.p_value,
            reason=joined(of_unit(joined(reason, *missing), own.unit), own.note),
        ),
    )
