"""CandDif: how much more accurate a recommender is if the wanted candidate stands
first.

Source:
    Equations 8 and 23 of https://arxiv.org/abs/2411.00331, with the natural logarithm
    that its tables use. Accuracy is first averaged over users and then transformed.
"""

import dataclasses
import math
from functools import partial

import numpy as np

from pytest_recsys_mt.oracles.arguments import not_negative
from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.judging.claim import Claim
from pytest_recsys_mt.oracles.judging.difference import require_answer, scored
from pytest_recsys_mt.oracles.judging.effect import Effects
from pytest_recsys_mt.oracles.judging.judge import judge_pair
from pytest_recsys_mt.oracles.not_worse import mean_metric
from pytest_recsys_mt.oracles.scores.metrics import Metric, metric_named
from pytest_recsys_mt.oracles.statistics.jackknife import Jackknife, linearised
from pytest_recsys_mt.safety.errors import OracleError
from pytest_recsys_mt.verdict.answers import Answers, Asked, Context, Pairs
from pytest_recsys_mt.verdict.verdict import Verdict

__all__ = ["cand_dif", "cand_dif_within"]


def cand_dif(first: float, random: float) -> float | None:
    """``-ln(1 - first) + ln(1 - random)``, of two accuracies.

    Example:
        >>> round(cand_dif(first=0.5, random=0.4), 3)
        0.182

    Args:
        first: Mean accuracy with the wanted candidate in the first place, in [0, 1].
        random: Mean accuracy with it in a random place, in [0, 1].

    Returns:
        0 if the place does not matter. ``inf`` if only `first` is 1, ``-inf`` if only
        `random` is 1. None if both are 1, because they cannot be compared.
    """
    for name, value in (("first", first), ("random", random)):
        if not 0 <= value <= 1:
            raise OracleError(
                f"cand_dif: {name} is an accuracy in [0, 1], got {value!r}",
            )
    if first == 1 or random == 1:
        return None if first == random else math.copysign(math.inf, first - random)
    return math.log1p(-random) - math.log1p(-first)


def cand_dif_within(
    source: Answers,
    followup: Answers,
    metric: str = "hit@5",
    margin: float = 0.2,
) -> Verdict:
    """Accuracy must hardly change if the wanted candidate stands first.

    Only its place may differ between the sides: not the order of the others, not the
    prompt. With several answers per user, their mean accuracy counts.

    The source has the held-out item at a random place among the candidates, the
    follow-up has it in the first. Arguments are those of `not_worse`, but `margin` is
    the largest allowed absolute `cand_dif`, above 0.

    Example:
        assert cand_dif_within(recsys.run(), recsys.run(place_positive(1)), "hit@5", margin=0.2)

    Returns:
        ``holds`` if `cand_dif` is within the margin, ``violated`` if it is beyond, by
        the approximate bounds of the jackknife over users. The reason gives both
        accuracies and their difference. Not applicable if an accuracy is 1,
        inconclusive if it is 1 without one of the users.
    """
    named = metric_named(metric)
    oracle = f"cand_dif_within:{named.name}"
    if not_negative(oracle, "margin", margin) == 0:
        raise OracleError(
            f"{oracle}: no test can show that a number is exactly 0; margin must be above 0",
        )
    claim = Claim(
        oracle,
        "within",
        float(margin),
        ask_everybody=True,
        measures=f"advantage of the first place in {named.name} (CandDif)",
    )
    return judge_pair(source, followup, claim, partial(cand_dif_effects, metric=named))


def cand_dif_effects(pairs: Pairs, context: Context, *, metric: Metric) -> Effects:
    """The share of each user in `cand_dif` of the two sides, by the jackknife."""

    def at_both_places(source: Asked, followup: Asked) -> tuple[float, float]:
        if source.relevant:
            require_answer(source, followup)
        return mean_metric(source, metric), mean_metric(followup, metric)

    effects, (random, first) = scored(
        at_both_places,
        pairs.source,
        pairs.followup,
        width=2,
        reach=(-1.0, 1.0),
        noise="no bias",
    )
    rows = effects.rows
    if not len(rows):
        return effects
    before, after = float(random.mean()), float(first.mean())
    note = (
        f"{metric.name} {before:.4f} at random places and {after:.4f} in the first, "
        f"{after - before:+.4f}"
    )
    value = cand_dif(after, before)
    if value is None or not math.isfinite(value):
        reason = f"an accuracy of 1 cannot be compared ({note})"
        left_out = {**effects.left_out, reason: rows.tolist()}
        return dataclasses.replace(
            effects,
            rows=rows[:0],
            effect=random[:0],
            left_out=left_out,
        )
    of_others = [
        cand_dif(*means) for means in zip(_others(first), _others(random), strict=True)
    ]
    finite = [
        other for other in of_others if other is not None and math.isfinite(other)
    ]
    whole = len(finite) == len(rows)
    effect = linearised(value, np.array(finite) if whole else np.full(len(rows), value))
    # A user whose sides differ by 1 changes it by this factor.
    one = 1 / (1 - max(before, after))
    reach = max(one, float(np.abs(effect).max()))
    return dataclasses.replace(
        effects,
        effect=effect,
        reach=(-reach, reach),
        mean=Jackknife(effect, -math.inf, math.inf, one),
        obstacle=""
        if whole
        else "the accuracy is 1 without one of the users; ask more users",
        note=note,
        joint=True,
        approximate=True,
    )


def _others(values: Floats) -> list[float]:
    if len(values) == 1:
        return [float(values[0])]
    return [float(np.delete(values, row).mean()) for row in range(len(values))]
