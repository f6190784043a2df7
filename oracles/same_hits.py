"""The same share of answers must hit the held-out item."""

import dataclasses
from functools import partial

import numpy as np
from scipy.special import bdtr

from pytest_recsys_mt.oracles.judging.difference import judge_mean
from pytest_recsys_mt.oracles.judging.effect import Effects
from pytest_recsys_mt.oracles.judging.item_slices import held_out
from pytest_recsys_mt.oracles.judging.slices import Slices
from pytest_recsys_mt.oracles.not_worse import metric_losses
from pytest_recsys_mt.oracles.scores.metrics import Metric, metric_named
from pytest_recsys_mt.safety.errors import OracleError
from pytest_recsys_mt.verdict.answers import Answers, Context, Pairs
from pytest_recsys_mt.verdict.verdict import Verdict


def same_hits(
    source: Answers,
    followup: Answers,
    k: int | None = None,
    margin: float = 0.05,
    *,
    slices: Slices | None = None,
) -> Verdict:
    """The hit rate must neither fall nor rise by more than the margin.

    The effect of a user is the share of source answers that hit minus that of follow-up
    answers. Two one-sided tests (Schuirmann 1987) show that its mean lies within the
    margin. The verdict's note also gives the exact test of McNemar 1947 on the users'
    first answers, which tests for any difference at all.

    Arguments are those of `same_ranking`, but `margin` is how much the hit rate may
    change, and `k` in how many places a held-out item counts as a hit; None counts all
    requested places. Slices of ``items:`` take the whole lists, and of the held-out items
    those in a group.

    Example:
        assert same_hits(source, followup, k=5, margin=0.05)

    Raises:
        OracleError: If the requests ask for fewer than `k` places.
    """
    if k is not None and (isinstance(k, bool) or not isinstance(k, int) or k < 1):
        raise OracleError(
            f"same_hits: k must be an integer of at least 1, or None, got {k!r}",
        )
    metric = metric_named("hit" if k is None else f"hit@{k}")
    oracle, measure = f"same_hits:{metric.name}", partial(_hit_effects, metric=metric)
    return judge_mean(
        oracle,
        "within",
        source,
        followup,
        margin,
        measures="fall of the hit rate",
        measure=measure,
        slices=slices,
        by_items=held_out,
    )


def mcnemar(lost: int, gained: int) -> float:
    """P-value of the exact two-sided test of McNemar: 1 if no user changed."""
    changed = lost + gained
    return (
        min(1.0, 2 * float(bdtr(min(lost, gained), changed, 0.5))) if changed else 1.0
    )


def _hit_effects(pairs: Pairs, context: Context, metric: Metric) -> Effects:
    effects = metric_losses(pairs, context, metric)
    if not len(effects.rows):
        return effects
    before, after = (
        np.array([metric.of(side[row].answers[0], side[row]) for row in effects.rows])
        for side in (pairs.source, pairs.followup)
    )
    lost, gained = int((before > after).sum()), int((before < after).sum())
    note = (
        f"first answers: {lost} users lost their hit, {gained} gained one, McNemar p="
    )
    return dataclasses.replace(effects, note=f"{note}{mcnemar(lost, gained):.2g}")
