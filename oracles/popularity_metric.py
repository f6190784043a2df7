"""Whether a metric of popularity bias of one's own is a good
one: five desiderata, with counterexamples.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np

from pytest_recsys_mt.oracles.arguments import one_of
from pytest_recsys_mt.safety.errors import OracleError

__all__ = ["check_popularity_metric"]

Metric = Callable[[Sequence[float], Sequence[float]], float]
"""From the popularity of each recommended item and of
each item of the user to the bias.
"""

DESIDERATA: Final = MappingProxyType(
    {
        "well behaved": "more items give a more stable value, also of popularity without a mean",
        "zero centred": "the bias of the user's own items is 0",
        "anti-symmetric": "exchanging both sides changes the sign and nothing else",
        "tail sensitive": "a rise of an unpopular item counts for more than that of a popular one",
        "monotone": "a more popular recommendation has the larger bias, a more popular history the smaller",
    },
)
"""The desired properties of a metric, in the order of section 3.1 of
https://arxiv.org/abs/2406.01285.
"""

SHAPE: Final = 0.68
"""Of the Pareto distribution that the paper fits to the
popularity of films; it has no mean.
"""

_FEW, _MANY, _LISTS = 50, 3200, 120
_CLOSE: Final = 1e-9


class Case(NamedTuple):
    """A list, one whose every item is more popular, and
    a rise of the item at one place.
    """

    low: tuple[int, ...]
    high: tuple[int, ...]
    place: int
    rise: int

    def raised(self, slate: Sequence[int]) -> tuple[int, ...]:
        """`slate` with that item more popular."""
        return (
            *slate[: self.place],
            slate[self.place] + self.rise,
            *slate[self.place + 1 :],
        )


def counterexamples(
    metric: Metric,
    *,
    drawn: int = 300,
    seed: int = 0,
) -> dict[str, str | None]:
    """Search for lists that show what a metric of popularity bias is not, as text, or
    None, by desideratum (`DESIDERATA`).

    "Zero centred" is searched among equal lists, since only the metric knows which
    others are equally popular to it.
    """
    found: dict[str, str | None] = {"well behaved": _unstable(metric, seed) or None}
    for name, broken in _BROKEN.items():
        shown = (broken(metric, case) for case in _cases(drawn, seed))
        found[name] = next(filter(None, shown), None)
    return found


def check_popularity_metric(
    metric: Metric,
    *,
    desiderata: Sequence[str] = tuple(DESIDERATA),
    drawn: int = 300,
    seed: int = 0,
) -> None:
    """Fail if a metric of popularity bias is not what it should be; for a test of your
    own metric.

    Example:
        >>> check_popularity_metric(log_popularity_difference)
        >>> check_popularity_metric(popularity_lift, desiderata=["zero centred", "monotone"])

    Args:
        metric: From two sequences of numbers above 0 to a number, ``metric(recommended,
            consumed)``: how popular each recommended item is, and each item that the
            user chose. NaN where undefined, in at most half of the lists.
        desiderata: Those that count, keys of `DESIDERATA`.
        drawn: How many lists to draw for each.
        seed: Of the search.

    Raises:
        AssertionError: If a counterexample is found (the message has one for each
            desideratum that fails), or the metric is mostly undefined or always the
            same.
        OracleError: If the metric returns something else than a number.
    """
    __tracebackhide__ = True
    for name in desiderata or [""]:
        one_of("check_popularity_metric", "desideratum", name, tuple(DESIDERATA))
    values = [_value(metric, case.high, case.low) for case in _cases(drawn, seed)]
    undefined, named = (
        sum(map(math.isnan, values)),
        getattr(metric, "__name__", repr(metric)),
    )
    if 2 * undefined > len(values) or len({*values}) == 1:
        values_in_words = (
            f"undefined (NaN) for {undefined} of"
            if undefined
            else f"{values[0]:g} for all"
        )
        raise AssertionError(
            f"{named} is {values_in_words} {len(values)} lists, so it tells none from another",
        )
    found = counterexamples(metric, drawn=drawn, seed=seed)
    failed = [
        f"not {name} ({DESIDERATA[name]}): {shown}"
        for name, shown in found.items()
        if shown and name in desiderata
    ]
    if failed:
        raise AssertionError("\n  ".join([f"{named} is", *failed]))


def _value(
    metric: Metric,
    recommended: Sequence[float],
    consumed: Sequence[float],
) -> float:
    value = metric(recommended, consumed)
    try:
        return float(value)
    except (TypeError, ValueError):
        raise OracleError(
            f"the metric must return a number, and NaN where it is undefined; for {recommended!r} and "
            f"{consumed!r} it returned {value!r}",
        ) from None


def _not_zero(metric: Metric, case: Case) -> str:
    value = _value(metric, case.low, case.low)
    return f"M({case.low}, {case.low}) = {value:g}" if abs(value) > _CLOSE else ""


def _not_anti_symmetric(metric: Metric, case: Case) -> str:
    there, back = (
        _value(metric, case.high, case.low),
        _value(metric, case.low, case.high),
    )
    if math.isnan(there + back) or math.isclose(
        there,
        -back,
        rel_tol=_CLOSE,
        abs_tol=_CLOSE,
    ):
        return ""
    return f"M({case.high}, {case.low}) = {there:g}, and exchanged {back:g}"


def _not_tail_sensitive(metric: Metric, case: Case) -> str:
    moved = [
        abs(
            _value(metric, case.raised(slate), case.low)
            - _value(metric, slate, case.low),
        )
        for slate in (case.low, case.high)
    ]
    if math.isnan(sum(moved)) or moved[0] > moved[1]:
        return ""
    return (
        f"with the user's {case.low}, {case.rise} more for item {case.place + 1} of {case.low} moves the bias by "
        f"{moved[0]:g}, of the more popular {case.high} by {moved[1]:g}"
    )


def _not_monotone(metric: Metric, case: Case) -> str:
    more = case.raised(case.low)
    before, after = _value(metric, case.low, case.high), _value(metric, more, case.high)
    if after <= before:
        return f"M({case.low}, {case.high}) = {before:g}, and M({more}, {case.high}) = {after:g}"
    before, after = _value(metric, case.high, case.low), _value(metric, case.high, more)
    if after >= before:
        return f"M({case.high}, {case.low}) = {before:g}, and M({case.high}, {more}) = {after:g}"
    return ""


_BROKEN: Final = {
    "zero centred": _not_zero,
    "anti-symmetric": _not_anti_symmetric,
    "tail sensitive": _not_tail_sensitive,
    "monotone": _not_monotone,
}
"""By desideratum: the function that finds a counterexample in a case, or nothing."""


def _cases(drawn: int, seed: int) -> Iterator[Case]:
    for length, numbers in (
        (2, (1, 2, 3, 10, 1000)),
        (3, (1, 2, 10, 1000)),
        (4, (1, 2, 7)),
    ):
        for low in product(numbers, repeat=length):
            for gap, rise in product((1, 10), (1, 3)):
                yield Case(low, tuple(score + gap for score in low), 0, rise)
    draw = random.Random(seed)
    for _ in range(drawn):
        low = tuple(draw.randint(1, 1000) for _ in range(draw.randint(2, 6)))
        high = tuple(score + draw.randint(1, 1000) for score in low)
        yield Case(low, high, draw.randrange(len(low)), draw.randint(1, 100))


def _unstable(metric: Metric, seed: int) -> str:
    """The spread of the bias over lists of many items, if
    it is more than half of that of few.
    """
    few, many = (_spread(metric, items, seed) for items in (_FEW, _MANY))
    if math.isnan(few + many) or many < few / 2:
        return ""
    return (
        f"over {_LISTS} lists with popularity of a Pareto distribution of shape {SHAPE}, the middle half of the "
        f"values spans {few:.3g} for {_FEW} items and {many:.3g} for {_MANY}"
    )


def _spread(metric: Metric, items: int, seed: int) -> float:
    rng = np.random.default_rng([seed, items])
    lists = 1 + rng.pareto(SHAPE, (_LISTS, 2, items))
    values = [_value(metric, *pair) for pair in lists.tolist()]
    low, high = np.quantile(values, [0.25, 0.75])
    return float(high - low)
