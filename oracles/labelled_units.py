"""Units with labels and values, and how two of them agree: what `agreement_with` bets
on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.judging.account import Account
from pytest_recsys_mt.oracles.own_numbers import NO_VALUE, means
from pytest_recsys_mt.oracles.statistics.bounds import TIE
from pytest_recsys_mt.safety.errors import OracleError

__all__: list[str] = []  # what oracles share, and none itself

UNLABELLED = "without a label"
"""Why units with a value are left out."""

ONE_CATEGORY = (
    "all labels and values are of one category, so chance alone would agree as well"
)
ONE_LABEL = "all labels are equal, so they put nothing into an order"

_NAMED = 5  # categories that an error shows


def number(oracle: str, what: str, value: Any, unit: str) -> float:
    """A value or a label, for the order of two."""
    if isinstance(value, Real) and math.isfinite(value):
        return float(value)
    raise OracleError(
        f"{oracle}: {what} has {value!r} for {unit!r}; the order of two needs finite numbers: number the labels by their "
        f"order, such as {{'bad': 0, 'good': 1}}, or use by='kappa'",
    )


def category(oracle: str, what: str, value: Any, unit: str) -> Hashable:
    """A value or a label that is compared for equality."""
    if isinstance(value, Hashable) and value == value:  # noqa: PLR0124 - NaN is not
        return value
    raise OracleError(
        f"{oracle}: {what} has {value!r} for {unit!r}; a category is a text or a number that equals itself; give None for "
        f"one that is missing",
    )


@dataclass(frozen=True)
class Units:
    """The labelled units, in an order that does not depend on labels or values.

    Attributes:
        names: Their names.
        labels: The labels of each, one or more.
        values: The values of each; none if it has no value.
        unlabelled: The names of the other units.
    """

    names: tuple[str, ...]
    labels: tuple[tuple[Any, ...], ...]
    values: tuple[tuple[Any, ...], ...]
    unlabelled: tuple[str, ...]

    @classmethod
    def of(
        cls,
        oracle: str,
        labels: Mapping[str, tuple[Any, ...]],
        values: Mapping[str, tuple[Any, ...]],
    ) -> Units:
        """The units of both mappings."""
        if not labels.keys() & values.keys():
            raise OracleError(
                f"{oracle}: labels and values have no unit in common, such as {next(iter(labels))!r} and "
                f"{next(iter(values))!r}; give both by the same keys",
            )
        names = tuple(unit for unit, given in labels.items() if given)
        return cls(
            names,
            tuple(labels[unit] for unit in names),
            tuple(values.get(unit, ()) for unit in names),
            tuple(unit for unit in {**labels, **values} if not labels.get(unit)),
        )

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which units have a value, ``(n,)``."""
        return np.array([bool(each) for each in self.values], bool)

    @property
    def account(self) -> Account:
        """How many there are, and which have no value or no label."""
        answered = int(self.known.sum())
        missing = len(self.names) - answered
        unlabelled = len(self.unlabelled)
        return Account(
            drawn=len(self.names) + unlabelled,
            answered=answered,
            undefined={NO_VALUE: missing} if missing else {},
            left_out={UNLABELLED: unlabelled} if unlabelled else {},
        )


def require_shared_category(oracle: str, units: Units) -> None:
    """Refuse categories that are written otherwise on both sides, such as 1 and "1"."""
    labels = dict.fromkeys(chain.from_iterable(units.labels))
    values = dict.fromkeys(chain.from_iterable(units.values))
    if labels and values and not labels.keys() & values.keys():
        few = [sorted(map(repr, each))[:_NAMED] for each in (labels, values)]
        raise OracleError(
            f"{oracle}: labels and values share no category: labels are {', '.join(few[0])}, values are "
            f"{', '.join(few[1])}; write both alike",
        )


def equal_shares(units: Units) -> list[float]:
    """The share of equal labels and values of each unit; NaN without a value."""
    shares = []
    for own, given in zip(units.labels, units.values, strict=True):
        equal = [one == other for one, other in product(own, given)]
        shares.append(sum(equal) / len(equal) if equal else math.nan)
    return shares


@dataclass(frozen=True)
class UnitPairs:
    """A ratio of two means over pairs of units.

    Attributes:
        over: The number above the line of each pair of units with values, ``(m,)``.
        under: That below it, ``(m,)``.
        reach: As in `Ratio`.
        unknown: As in `Ratio`: the pairs in which a unit has no value.
        value: The ratio by all units; NaN if it is not defined.
        note: What readers should know of it.
        obstacle: Why it is not defined.
    """

    over: Floats
    under: Floats
    reach: Callable[[float], tuple[float, float]]
    unknown: tuple[int, ...]
    value: float
    note: str = ""
    obstacle: str = ""


def _paired(
    units: Units,
) -> tuple[NDArray[np.intp], NDArray[np.intp], tuple[int, ...]]:
    """The first and the second unit of each pair with values, and before which of them
    the other pairs stand.
    """
    first = np.arange(0, len(units.names) - 1, 2)
    known = units.known[first] & units.known[first + 1]
    before = np.cumsum(known)
    unknown = tuple(int(before[place]) for place in np.flatnonzero(~known))
    return first[known], first[known] + 1, unknown


def _shares(of_units: Sequence[Sequence[Any]], places: Mapping[Any, int]) -> Floats:
    """The share of each category in what is given of each unit, ``(n, categories)``."""
    shares = np.zeros((len(of_units), len(places)))
    for row, given in enumerate(of_units):
        for category in given:
            shares[row, places[category]] += 1 / len(given)
    return shares


def beyond_chance(units: Units) -> UnitPairs:
    """Cohen's kappa: equal by more than two units that are drawn apart are."""
    everything = chain.from_iterable((*units.labels, *units.values))
    places = {category: at for at, category in enumerate(dict.fromkeys(everything))}
    labels, values = _shares(units.labels, places), _shares(units.values, places)
    one, other, unknown = _paired(units)

    def agreement(mine: NDArray[np.intp], theirs: NDArray[np.intp]) -> Floats:
        found: Floats = (values[mine] * labels[theirs]).sum(axis=1)
        return found

    equal = (agreement(one, one) + agreement(other, other)) / 2
    crossed = (agreement(one, other) + agreement(other, one)) / 2
    known = units.known
    observed = float((values[known] * labels[known]).sum(axis=1).mean())
    by_chance = float(values[known].mean(axis=0) @ labels[known].mean(axis=0))
    constant = by_chance > 1 - TIE
    return UnitPairs(
        equal - crossed,
        1 - crossed,
        lambda value: (-1.0, 1 - value),
        unknown,
        math.nan if constant else (observed - by_chance) / (1 - by_chance),
        f"equal: {observed:.3f}, by chance: {by_chance:.3f}",
        ONE_CATEGORY if constant else "",
    )


def order_of_two(units: Units) -> UnitPairs:
    """Kendall's tau of the pairs that the labels tell apart."""
    labels, values = (
        means(dict(enumerate(given)))  # type: ignore[arg-type]
        for given in (units.labels, units.values)
    )
    one, other, unknown = _paired(units)
    apart = np.sign(labels[one] - labels[other])
    known = units.known
    agree, told, tied, of_all = _all_orders(labels[known], values[known])
    return UnitPairs(
        apart * np.sign(values[one] - values[other]),
        np.abs(apart),
        lambda value: (min(0.0, -1 - value), max(0.0, 1 - value)),
        unknown,
        agree / told if told else math.nan,
        f"of all pairs, labels tie {1 - told / of_all:.1%}; of the others, values tie {tied / told:.1%}"
        if told
        else "",
        "" if told else ONE_LABEL,
    )


def _all_orders(labels: Floats, values: Floats) -> tuple[float, float, float, float]:
    """Of all pairs of units: concordant minus discordant ones, those that the labels
    tell apart, those of them that the values do not, and all.
    """
    agree, told, tied = 0.0, 0.0, 0.0
    for place in range(1, len(labels)):
        apart = np.sign(labels[:place] - labels[place])
        order = np.sign(values[:place] - values[place])
        agree += float(apart @ order)
        told += float(np.abs(apart).sum())
        tied += float(np.abs(apart)[order == 0].sum())
    return agree, told, tied, len(labels) * (len(labels) - 1) / 2
