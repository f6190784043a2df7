"""The answers must stay as accurate."""

from functools import partial

from pytest_recsys_mt.oracles.judging.difference import judge_mean, paired_differences
from pytest_recsys_mt.oracles.judging.effect import Effects
from pytest_recsys_mt.oracles.judging.item_slices import held_out
from pytest_recsys_mt.oracles.judging.slices import Slices
from pytest_recsys_mt.oracles.scores.metrics import (
    NOTHING_HELD_OUT,
    Metric,
    metric_named,
)
from pytest_recsys_mt.safety.errors import NotApplicable
from pytest_recsys_mt.verdict.answers import Answers, Asked, Context, Pairs
from pytest_recsys_mt.verdict.verdict import Verdict


def not_worse(
    full: Answers,
    short: Answers,
    metric: str = "ndcg@10",
    margin: float = 0.02,
    *,
    slices: Slices | None = None,
) -> Verdict:
    """The second answers may be less accurate than the first by at most the margin.

    The effect of a user is the mean metric of the first answers minus that of the
    second, against the items held out for that user.

    Example:
        assert not_worse(recsys.run(), recsys.run(drop_history(1)), "ndcg@5", margin=0.02)

    Args:
        full: The answers to compare with, for example to requests with the full
            history.
        short: The answers that must not be worse.
        metric: ``hit@k``, ``ndcg@k`` or ``mrr@k``; without ``@k`` at the depth of the
            request.
        margin: By how much the mean user's metric may fall, in (0, 1).
        slices: Groups of users to judge too; as in `same_ranking`. Those of ``items:``
            take the whole lists, and of the held-out items those in a group.

    Raises:
        OracleError: If the requests ask for fewer places than the metric needs.
    """
    named = metric_named(metric)
    oracle, measures = f"not_worse:{named.name}", f"loss of {named.name}"
    measure = partial(metric_losses, metric=named)
    return judge_mean(
        oracle,
        "at most",
        full,
        short,
        margin,
        measures=measures,
        measure=measure,
        slices=slices,
        by_items=held_out,
    )


def metric_losses(pairs: Pairs, context: Context, metric: Metric) -> Effects:
    """The fall of each user's mean metric from source to follow-up, in [-1, 1]."""
    loss = lambda source, followup, context: (
        mean_metric(source, metric) - mean_metric(followup, metric)
    )
    return paired_differences(pairs, context, loss)


def mean_metric(asked: Asked, metric: Metric) -> float:
    """Mean of the metric over one user's answers; not
    applicable if no item was held out for this user.
    """
    if not asked.relevant:
        raise NotApplicable(NOTHING_HELD_OUT)
    return sum(metric.of(answer, asked) for answer in asked.answers) / len(
        asked.answers,
    )
