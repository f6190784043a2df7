"""A judge, or a metric, must agree with human labels."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Literal, get_args

from pytest_recsys_mt.oracles.arguments import finite, one_of
from pytest_recsys_mt.oracles.judged import judge_numbers
from pytest_recsys_mt.oracles.judging.account import joined
from pytest_recsys_mt.oracles.judging.claim import Claim
from pytest_recsys_mt.oracles.labelled_systems import judge_systems, sides_of_systems
from pytest_recsys_mt.oracles.labelled_units import (
    UNLABELLED,
    UnitPairs,
    Units,
    beyond_chance,
    category,
    equal_shares,
    number,
    order_of_two,
    require_shared_category,
)
from pytest_recsys_mt.oracles.own_numbers import Own, by_unit, concluded
from pytest_recsys_mt.oracles.statistics.ratio import Ratio
from pytest_recsys_mt.safety.errors import OracleError
from pytest_recsys_mt.verdict.answers import Context
from pytest_recsys_mt.verdict.verdict import Verdict

By = Literal["accuracy", "kappa", "tau", "systems"]
"""How agreement is measured; see `agreement_with`."""

BY: tuple[By, ...] = get_args(By)

TOO_FEW = "there is no pair of two units that have a value each"

_MEASURES: Mapping[str, str] = {
    "kappa": "agreement with labels beyond chance (kappa)",
    "tau": "agreement with labels on the order of two (tau)",
}


def agreement_with(
    labels: Mapping[Any, Any],
    values: Mapping[Any, Any],
    context: Context,
    *,
    at_least: float | None = None,
    by: By = "accuracy",
    span: tuple[float, float] | None = None,
    labels_span: tuple[float, float] | None = None,
    name: str = "values",
    unit: str = "users",
) -> Verdict:
    """The values of a judge, or of a metric, must agree with the labels that people
    gave.

    By ``accuracy`` it is the mean share of equal values and labels, for categories.
    ``kappa`` takes off what chance gives (Cohen 1960): for categories of which one is
    frequent, where a judge who always says it is accurate. ``tau`` is for numbers and
    ordinal labels: of two units that the labels tell apart, how much more often the
    values put them into the same order than into the other one; a tie of the values
    counts as neither. This is Somers' d, and Kendall's tau where nothing is tied.
    ``systems`` compares two rankings of systems by their mean values and mean labels,
    with Kendall's tau.

    Errors: all bounds are by bets on independent units, so the error rates hold for any
    number of them. Kappa and tau are about two units at a time, so the units are taken
    in pairs, each unit once, in an order that does not depend on values or labels:
    ``E[over] - limit * E[under]`` is the mean of one number of each pair. The value is
    that of all pairs, and uses more than the bounds do. Of systems, both signs of each
    pair are bet on; a pair counts as agreeing only if it is proven to, with Holm's
    procedure over all pairs. So a `systems` claim needs many units, or systems that
    differ clearly.

    Example:
        labels = {f"q{n}": ("good", "bad")[n % 3 == 0] for n in range(60)}
        verdicts = {**labels, "q1": "bad", "q2": None}
        assert agreement_with(labels, verdicts, recsys.context, at_least=0.6, by="kappa", unit="questions")

    Args:
        labels: From a unit (any key) to its label, or to a sequence of labels of
            several people. By ``systems``, from a system to such a mapping of numbers.
        values: Those of the judge or metric, in the same form. A labelled unit without
            a value, or with None, counts as the worst value against ``holds`` and as
            the best against ``violated``. One without a label is left out, and counted.
        context: The fixture's `recsys.context`, which has the error rates and receives
            the verdict.
        at_least: The smallest allowed agreement, which must be given: of accuracy from
            0 to 1, else from -1 to 1.
        by: ``accuracy``, ``kappa``, ``tau`` or ``systems``.
        span: The smallest and the largest possible value, for ``systems``.
        labels_span: The same of labels; by default `span`.
        name: The name of the values in reports.
        unit: What they are of, in the plural.

    Returns:
        A verdict with `metric`, `value`, `interval` and `threshold`.

    Raises:
        OracleError: If values and labels share no category, no unit or not the same
            systems, or are no numbers where numbers are needed.
    """
    oracle = f"agreement_with:{by}"
    one_of(oracle, "by", by, BY)
    limit = finite(oracle, "at_least", at_least)
    least = 0.0 if by == "accuracy" else -1.0
    if not least < limit <= 1:
        raise OracleError(
            f"{oracle}: at_least must be above {least:g} and at most 1, got {at_least!r}",
        )
    if by != "systems" and (span is not None or labels_span is not None):
        raise OracleError(
            f"{oracle}: span and labels_span are for by='systems'; leave them out",
        )
    metric = f"{by} of {name}"
    if by == "systems":
        both = sides_of_systems(oracle, labels, values, span, labels_span)
        return judge_systems(oracle, both, context, limit, metric, unit)
    read = number if by == "tau" else category
    units = Units.of(
        oracle,
        by_unit(oracle, "labels", labels, partial(read, oracle, "labels")),
        by_unit(oracle, "values", values, partial(read, oracle, "values")),
    )
    if by != "tau":
        require_shared_category(oracle, units)
    if by != "accuracy":
        pairs = order_of_two(units) if by == "tau" else beyond_chance(units)
        return _of_pairs(oracle, units, pairs, context, limit, metric=metric, unit=unit)
    return judge_numbers(
        oracle,
        dict(zip(units.names, equal_shares(units), strict=True)),
        context,
        promise="at least",
        limit=limit,
        span=(0.0, 1.0),
        name=metric,
        unit=unit,
        left_out=dict.fromkeys(units.unlabelled, UNLABELLED),
    )


def _of_pairs(
    oracle: str,
    units: Units,
    pairs: UnitPairs,
    context: Context,
    limit: float,
    *,
    metric: str,
    unit: str,
) -> Verdict:
    by = oracle.partition(":")[2]
    claim = Claim(oracle, "at least", limit, measures=_MEASURES[by])
    ratio = Ratio(pairs.over, pairs.under, pairs.reach, pairs.unknown, pairs.value)
    bounds = f"bounds by {len(pairs.over) + len(pairs.unknown)} pairs of {unit}"
    own = Own(
        metric,
        unit,
        units.account,
        note=joined(pairs.note, bounds),
        obstacle=pairs.obstacle or ("" if len(pairs.over) else TOO_FEW),
    )
    return concluded(claim, ratio, own, context)
