"""Two rankings of systems, by the means of values and of labels."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pytest_recsys_mt.oracles.judging.account import joined, missing_in_words
from pytest_recsys_mt.oracles.judging.claim import Claim
from pytest_recsys_mt.oracles.own_numbers import (
    Own,
    as_mapping,
    concluded,
    means,
    numbers_by_unit,
    span_of_numbers,
    too_many_missing,
)
from pytest_recsys_mt.oracles.own_sides import Sides, sides_of
from pytest_recsys_mt.oracles.statistics.concordance import Concordance, p_of_signs
from pytest_recsys_mt.safety.errors import OracleError
from pytest_recsys_mt.verdict.answers import Context
from pytest_recsys_mt.verdict.verdict import Verdict

__all__: list[str] = []  # what oracles share, and none itself

MEASURES = "agreement with labels on the ranking of systems (tau)"


@dataclass(frozen=True)
class Said:
    """What a verdict on an agreement says of its claim.

    Attributes:
        limit: The smallest allowed agreement.
        metric: Its name.
        unit: What the values are of, in the plural.
    """

    limit: float
    metric: str
    unit: str


def sides_of_systems(
    oracle: str,
    labels: Mapping[Any, Any],
    values: Mapping[Any, Any],
    span: object,
    labels_span: object,
) -> tuple[Sides, Sides]:
    """The systems by their values and by their labels, in one order."""
    if set(labels) != set(values):
        raise OracleError(
            f"{oracle}: labels are of the systems {sorted(map(str, labels))}, and values of {sorted(map(str, values))}; "
            f"give both for the same systems",
        )
    found = []
    for what, given, ends in (
        ("values", values, span),
        ("labels", labels, span if labels_span is None else labels_span),
    ):
        reach = span_of_numbers(
            oracle, "span" if what == "values" else "labels_span", ends
        )
        columns = {}
        for system in values:
            of_system = as_mapping(given[system])
            if not isinstance(of_system, Mapping):
                raise OracleError(
                    f"{oracle}: {what}[{system!r}] must be a mapping from units to numbers, got {of_system!r}",
                )
            numbers = numbers_by_unit(oracle, f"{what}[{system!r}]", of_system, reach)
            columns[str(system)] = dict(zip(numbers, means(numbers), strict=True))
        found.append(sides_of(oracle, columns, reach))
    return found[0], found[1]


def judge_systems(
    oracle: str,
    both: tuple[Sides, Sides],
    context: Context,
    said: Said,
) -> Verdict:
    """The verdict on two rankings of systems."""
    values, labels = both
    claim = Claim(oracle, "at least", said.limit, measures=MEASURES)
    few = values.too_few_shared(context) or labels.too_few_shared(context)
    obstacle = values.obstacle or labels.obstacle or few
    own = Own(said.metric, said.unit, labels.account, obstacle=obstacle)
    missing = values.account.missing
    if not obstacle and missing:
        obstacle = too_many_missing(missing, values.account.asked, context)
    if obstacle or context.made_up:
        nothing = Concordance([1.0], [1.0], math.nan)
        return concluded(claim, nothing, replace(own, obstacle=obstacle), context)
    differences = values.differences(), labels.differences()
    pairs = list(differences[0])
    of_each = [(differences[0][pair], differences[1][pair]) for pair in pairs]
    agree = [p_of_signs(*each, same=True) for each in of_each]
    differ = [p_of_signs(*each, same=False) for each in of_each]
    signs = [
        np.sign(side.means[one] - side.means[other])
        for side in both
        for one, other in pairs
    ]
    products = np.array(signs).reshape(2, -1).prod(axis=0)
    found = Concordance(agree, differ, float(products.mean()))
    concordant, discordant = found.proven(context.alpha)
    note = (
        f"of {len(pairs)} pairs of systems, {concordant} are proven to be in one order and {discordant} to be in the "
        f"other one"
    )
    of_values = "; ".join(missing_in_words(values.account))
    note = joined(note, f"of the values: {of_values}" if of_values else "")
    return concluded(claim, found, replace(own, note=note), context)
