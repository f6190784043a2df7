"""The means of several sides must not be far apart."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np

from pytest_recsys_mt.oracles.arguments import not_negative, one_of, one_side
from pytest_recsys_mt.oracles.benchmark import scores_of
from pytest_recsys_mt.oracles.judging.account import joined
from pytest_recsys_mt.oracles.judging.claim import Claim
from pytest_recsys_mt.oracles.judging.seen import Seen
from pytest_recsys_mt.oracles.own_numbers import (
    NO_VALUE,
    Own,
    Span,
    as_mapping,
    concluded,
    means,
    numbered_by_value,
    numbers_by_unit,
    require_words,
    span_of_numbers,
)
from pytest_recsys_mt.oracles.own_sides import Sides, sides_of
from pytest_recsys_mt.oracles.scores.score import Score, mean_score, score_named
from pytest_recsys_mt.oracles.statistics.bounds import Mean
from pytest_recsys_mt.oracles.statistics.spread import (
    Deviation,
    Kind,
    Range,
    deviation_of,
    expected_by_noise,
    range_of,
)
from pytest_recsys_mt.oracles.user_scores import incomplete
from pytest_recsys_mt.safety.errors import NotApplicable, OracleError
from pytest_recsys_mt.verdict.answers import Answers, Context
from pytest_recsys_mt.verdict.verdict import Verdict

KINDS: tuple[Kind, ...] = get_args(Kind)


def spread_of(
    sides: Mapping[Any, Any] | Sequence[Answers],
    score: str | Score | None = None,
    *,
    at_most: float | None = None,
    of: Kind = "range",
    context: Context | None = None,
    span: tuple[float, float] | None = None,
    name: str = "",
    unit: str = "users",
) -> Verdict:
    """The mean scores of several sides, such as groups of people, prompts or languages,
    must not be far apart.

    The spread is the largest mean minus the smallest (``range``), or the ``deviation``
    over the sides: SNSR and SNSV of FairEval (https://arxiv.org/abs/2305.07609).

    The extreme sides are chosen by looking at them, so all pairs are judged. ``violated``
    means that *some* pair is proven to differ by more, with alpha over the k (k - 1)
    ordered pairs. ``holds`` means that *every* pair is proven to differ by less, which
    needs no division (intersection-union test): were it false, one pair, fixed by the
    true means, would have to be proven wrongly.

    Users of all sides are compared with themselves, and those who lack a side are left
    out (of numbers of your own, too many of them allow no verdict); where each is in one side alone, the sides are independent groups. With
    replicates, the verdict says which spread noise alone gives equal sides. The limit is
    about true means, which have no such noise.

    Example:
        sides = {str(n): recsys.using(history=n).run() for n in (2, 5, 10)}
        assert spread_of(sides, "ndcg@5", at_most=0.2)

    Args:
        sides: The answers of each side, by name or in a sequence; or, by name, a
            mapping from a unit to its number, as `judged` takes it.
        score: Of answers, as in `at_least`; ``ndcg@10`` if None.
        at_most: The largest allowed spread, above 0, which must be given.
        of: ``range`` or ``deviation``.
        context: The fixture's `recsys.context`, which numbers of your own need.
        span: The smallest and the largest possible number, likewise.
        name: The name of these numbers in reports.
        unit: What they are of, in the plural.
    """
    given = _Numbers(context, span, name)
    return _judge(sides, score, at_most, of, given, unit)


@dataclass(frozen=True)
class _Numbers:
    """What a test says of its own numbers."""

    context: Context | None
    span: tuple[float, float] | None
    name: str


def _judge(
    sides: Mapping[Any, Any] | Sequence[Answers],
    score: str | Score | None,
    at_most: float | None,
    of: Kind,
    own: _Numbers,
    unit: str,
) -> Verdict:
    oracle = f"spread_of:{of}"
    one_of(oracle, "of", of, KINDS)
    limit = not_negative(oracle, "at_most", at_most)
    if limit == 0:
        raise OracleError(
            f"{oracle}: no test can show that sides do not differ at all; at_most must be above 0",
        )
    named = _named(oracle, sides)
    are_numbers = {isinstance(side, Mapping) for side in named.values()}
    if are_numbers == {True, False}:
        raise OracleError(
            f"{oracle}: the sides mix answers with numbers of your own; give all sides as the one or the other",
        )
    if are_numbers == {True}:
        if score is not None:
            raise OracleError(
                f"{oracle}: score={score!r} is of answers, and these sides are numbers of your own: leave it out",
            )
        given = _Given.of_numbers(oracle, named, own.context, own.span, own.name)
    else:
        given = _Given.of_answers(oracle, named, score, own.context, own.span, own.name)
        if (lacking := _incomplete(oracle, named, given)) is not None:
            return given.context.report(lacking)
    low, high = given.span
    most = (high - low) / (1 if of == "range" else 2)
    if limit >= most:
        raise OracleError(
            f"{oracle}: at_most={limit:g} would hold whatever the values are, because the {of} of numbers from {low:g} "
            f"to {high:g} is at most {most:g}; give a smaller limit",
        )
    found = sides_of(oracle, given.columns, given.span, given.why)
    claim = Claim(
        f"{oracle}:{given.name}",
        "at most",
        limit,
        measures=f"{of} of the mean {given.name} over {len(named)} sides",
    )
    said = _said(found, given, of, unit)
    return concluded(claim, _spread(found, of), said, given.context)


@dataclass(frozen=True)
class _Given:
    """What a test gave, as numbers.

    Attributes:
        name: The name of the numbers.
        context: The rules of the run.
        span: The smallest and the largest possible number.
        columns: The number of each unit by side; NaN if it has none.
        replicates: The numbers of each unit by side, one for each replicate.
        why: Why a unit has none, in words.
        score: The score of answers; None for numbers.
    """

    name: str
    context: Context
    span: Span
    columns: Mapping[str, Mapping[str, float]]
    replicates: Mapping[str, Mapping[str, Sequence[float]]]
    why: str = NO_VALUE
    score: Score | None = None

    @property
    def obstacle(self) -> str:
        """Why no numbers of these units allow a verdict."""
        if self.score is not None:
            return ""  # users of a run were drawn before they were asked
        return next(filter(None, map(numbered_by_value, self.columns.values())), "")

    @classmethod
    def of_numbers(
        cls,
        oracle: str,
        sides: Mapping[str, Any],
        context: Context | None,
        span: object,
        name: str,
    ) -> _Given:
        """Numbers that the test computed."""
        if context is None:
            raise OracleError(
                f"{oracle}: numbers of your own have no run of their own; add context=recsys.context, which has the error "
                f"rates and receives the verdict",
            )
        require_words(oracle, context, name or "value", "users")
        ends = span_of_numbers(oracle, "span", span)
        read = {
            side: numbers_by_unit(oracle, f"sides[{side!r}]", values, ends)
            for side, values in sides.items()
        }
        columns = {
            side: dict(zip(numbers, means(numbers), strict=True))
            for side, numbers in read.items()
        }
        return cls(name or "value", context, ends, columns, read)

    @classmethod
    def of_answers(
        cls,
        oracle: str,
        sides: Mapping[str, Any],
        score: str | Score | None,
        context: Context | None,
        span: object,
        name: str,
    ) -> _Given:
        """The scores of answers."""
        answers = {
            side: one_side(oracle, f"sides[{side!r}]", each)
            for side, each in sides.items()
        }
        if len({id(each) for each in answers.values()}) < len(answers):
            raise OracleError(
                f"{oracle}: two of the sides {', '.join(answers)} are the same answers; give each side its own, such as "
                f"recsys.run(a_transformation)",
            )
        if context is not None or span is not None:
            raise OracleError(
                f"{oracle}: context and span are of numbers of your own; a score of answers knows its span: leave both "
                f"out",
            )
        named = score_named("ndcg@10" if score is None else score)
        columns, replicates, ends = {}, {}, []
        for side, each in answers.items():
            sample, effects = scores_of(each, named)
            users = [sample.asked[row].user for row in effects.rows]
            column = dict(zip(users, map(float, effects.effect), strict=True))
            unknown = Seen.of(effects, sample, sample.asked, ()).effects.unknown_users
            columns[side] = column | dict.fromkeys(unknown, math.nan)
            replicates[side] = _replicates(each, named, column)
            ends.append(effects.reach)
        reach = (min(low for low, _ in ends), max(high for _, high in ends))
        (first, *_) = answers.values()
        why = f"the answer on a side has no {named.name}"
        return cls(
            name or named.name,
            first.context,
            reach,
            columns,
            replicates,
            why,
            named,
        )


def _named(oracle: str, sides: Mapping[Any, Any] | Sequence[Any]) -> dict[str, Any]:
    """The sides by name; those of a sequence by their change."""
    sides = as_mapping(sides)
    if isinstance(sides, Mapping):
        named = {str(name): as_mapping(side) for name, side in sides.items()}
        if len(named) == len(sides):
            return named
        raise OracleError(
            f"{oracle}: two sides are written alike, got {list(sides)!r}",
        )
    named = {}
    for place, side in enumerate(sides, 1):
        label = getattr(side, "label", "") or "unchanged"
        named[label if label not in named else f"{label} ({place})"] = side
    return named


def _incomplete(
    oracle: str,
    sides: Mapping[str, Answers],
    given: _Given,
) -> Verdict | None:
    """The verdict if too many users of a side were not asked, or failed."""
    assert given.score is not None
    return incomplete(oracle, list(sides.values()), given.score, bounded=True)


def _replicates(
    answers: Answers,
    score: Score,
    scored: Mapping[str, float],
) -> dict[str, tuple[float, ...]]:
    """The score of each answer of the users who have several, and a score."""
    found = {}
    for asked in answers.sample().asked:
        if asked.user not in scored or len(asked.answers) < 2:
            continue
        values = []
        for answer in asked.answers:
            try:
                alone = replace(asked, answers=(answer,))
                value, _ = mean_score(alone, answers.context, score)
            except NotApplicable:
                continue
            if value is not None:
                values.append(value)
        found[asked.user] = tuple(values)
    return found


def _spread(sides: Sides, of: Kind) -> Mean:
    pairs = {} if sides.obstacle else sides.differences()
    if of == "range":
        return Range(pairs, range_of(sides.means))
    return Deviation(pairs, len(sides.names), deviation_of(sides.means))


def _said(sides: Sides, given: _Given, of: Kind, unit: str) -> Own:
    """What the verdict says beside its claim."""
    of_sides = dict(zip(sides.names, map(float, sides.means), strict=True))
    known = {side: mean for side, mean in of_sides.items() if not math.isnan(mean)}
    figures = {f"mean of {side}": mean for side, mean in known.items()}
    extremes = ""
    if not np.isnan(sides.means).any():
        largest = max(of_sides, key=of_sides.__getitem__)
        smallest = min(of_sides, key=of_sides.__getitem__)
        extremes = (
            f"largest: {largest} ({of_sides[largest]:.3f}), smallest: {smallest} "
            f"({of_sides[smallest]:.3f})"
        )
        if largest == smallest:
            extremes = f"the means of all sides are equal ({of_sides[largest]:.3f})"
    noise = _noise(given, of)
    floor = ""
    if noise is not None:
        figures[f"{of} by noise alone"] = noise
        floor = f"the noise of repeated answers alone would give {len(of_sides)} equal sides a {of} of about {noise:.3f}"
    # Of answers, a relation decides for whom there is a question on each side.
    few = sides.too_few_shared(given.context) if given.score is None else ""
    groups = "" if sides.paired else f"each of the {unit} is in one side alone"
    return Own(
        metric=f"{of} of {given.name}",
        unit=unit,
        account=sides.account,
        note=joined(extremes, floor, groups),
        figures=figures,
        obstacle=sides.obstacle or given.obstacle or few,
    )


def _noise(given: _Given, of: Kind) -> float | None:
    """The spread that replicates of one question give equal sides on average, if their
    noise were normal; None without replicates.
    """
    variances = []
    for side, by_unit in given.replicates.items():
        repeated = [each for each in by_unit.values() if len(each) > 1]
        units = sum(not math.isnan(value) for value in given.columns[side].values())
        if not repeated or not units:
            return None
        of_means = [np.var(each, ddof=1) / len(each) for each in repeated]
        variances.append(float(np.mean(of_means)) / units)
    return math.sqrt(sum(variances) / len(variances)) * expected_by_noise(
        of,
        len(variances),
    )
