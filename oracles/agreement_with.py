"""A judge, or a metric, must agree with human labels."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Literal, get_args

from pytest_recsys_mt.oracles.arguments import finite, one_of
from pytest_recsys_mt.oracles.judged import judge_numbers
from pytest_recsys_mt.oracles.judging.account import joined
from pytest_recsys_mt.oracles.judging.claim import Claim
from pytest_recsys_mt.oracles.labelled_systems import (
    Said,
    judge_systems,
    sides_of_systems,
)
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
from pytest_recsys_mt.oracles.own_numbers import (
    Own,
    as_mapping,
    by_unit,
    concluded,
    require_words,
)
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

    By ``accuracy``, it is the mean share of equal values and labels. ``kappa`` takes off
    what chance gives (Cohen 1960), since a judge who always says the frequent category
    is accurate. ``tau`` is for numbers and ordinal labels: of two units that the labels
    tell apart, how much more often the values have their order than the other one
    (Somers' d, which is Kendall's tau where nothing is tied). ``systems`` is Kendall's
    tau of two rankings of systems, by their mean values and mean labels.

    Error rates hold for any number of units: the bounds of kappa and tau bet on pairs of
    units, each unit in one. Of systems, a pair counts as far as it is proven.

    Example:
        labels = {f"q{n}": ("good", "bad")[n % 3 == 0] for n in range(60)}
        verdicts = {**labels, "q1": "bad", "q2": None}
        assert agreement_with(labels, verdicts, recsys.context, at_least=0.6, by="kappa", unit="questions")

    Args:
        labels: From a unit (any key) to its label, or to a sequence of several people's;
            None among these says that one gave none, and the others count. By ``systems``, from a system to such a mapping of numbers.
        values: Those of the judge or metric, in the same form. A labelled unit without
            a value counts against every claim; one without a label is left out.
        context: The fixture's `recsys.context`.
        at_least: The smallest allowed agreement, up to 1; it must be given.
        by: ``accuracy``, ``kappa``, ``tau`` or ``systems``.
        span: The smallest and the largest possible value, for ``systems``.
        labels_span: The same of labels; by default `span`.
        name: The name of the values in reports.
        unit: What they are of, in the plural.

    Raises:
        OracleError: If values and labels share no category, unit or system.
    """
    oracle = f"agreement_with:{by}"
    require_words(oracle, context, name, unit)
    limit = _limit(oracle, by, at_least, (span, labels_span))
    labels, values = as_mapping(labels), as_mapping(values)
    said = Said(limit, f"{by} of {name}", unit)
    if by == "systems":
        both = sides_of_systems(oracle, labels, values, span, labels_span)
        return judge_systems(oracle, both, context, said)
    return _of_units(oracle, by, labels, values, context, said)


def _limit(
    oracle: str, by: By, at_least: float | None, spans: tuple[Any, Any]
) -> float:
    """The checked limit; spans are for systems alone."""
    one_of(oracle, "by", by, BY)
    limit = finite(oracle, "at_least", at_least)
    least = 0.0 if by == "accuracy" else -1.0
    if not least < limit <= 1:
        raise OracleError(
            f"{oracle}: at_least must be above {least:g} and at most 1, got {at_least!r}",
        )
    if by != "systems" and spans != (None, None):
        raise OracleError(
            f"{oracle}: span and labels_span are for by='systems'; leave them out",
        )
    return limit


def _of_units(
    oracle: str,
    by: By,
    labels: Mapping[Any, Any],
    values: Mapping[Any, Any],
    context: Context,
    said: Said,
) -> Verdict:
    """The verdict on the agreement of single units, or of two of them."""
    read = number if by == "tau" else category
    units = Units.of(
        oracle,
        by_unit(oracle, "labels", labels, partial(read, oracle, "labels"), some=True),
        by_unit(oracle, "values", values, partial(read, oracle, "values")),
    )
    if by != "tau":
        require_shared_category(oracle, units)
    if by != "accuracy":
        pairs = order_of_two(units) if by == "tau" else beyond_chance(units)
        return _of_pairs(oracle, units, pairs, context, said)
    return judge_numbers(
        oracle,
        dict(zip(units.names, equal_shares(units), strict=True)),
        context,
        promise="at least",
        limit=said.limit,
        span=(0.0, 1.0),
        name=said.metric,
        unit=said.unit,
        left_out=dict.fromkeys(units.unlabelled, UNLABELLED),
    )


def _of_pairs(
    oracle: str,
    units: Units,
    pairs: UnitPairs,
    context: Context,
    said: Said,
) -> Verdict:
    by = oracle.partition(":")[2]
    claim = Claim(oracle, "at least", said.limit, measures=_MEASURES[by])
    ratio = Ratio(pairs.over, pairs.under, pairs.reach, pairs.unknown, pairs.value)
    bounds = f"bounds by {len(pairs.over) + len(pairs.unknown)} pairs of {said.unit}"
    own = Own(
        said.metric,
        said.unit,
        units.account,
        note=joined(pairs.note, bounds),
        obstacle=pairs.obstacle or ("" if len(pairs.over) else TOO_FEW),
    )
    return concluded(claim, ratio, own, context)
