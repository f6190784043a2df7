"""The points of a curve: a mean score at each step of a series, with its bounds."""

from collections.abc import Mapping

import numpy as np

from pytest_recsys_mt.oracles.benchmark import score_values, scores_of
from pytest_recsys_mt.oracles.judging.account import too_many_unread
from pytest_recsys_mt.oracles.judging.seen import Seen
from pytest_recsys_mt.oracles.scores.score import Score, score_named
from pytest_recsys_mt.oracles.statistics.bounds import Rate
from pytest_recsys_mt.verdict.answers import Answers


def curve(
    sides: Mapping[float, Answers],
    score: str | Score = "ndcg@10",
) -> list[tuple[float, float, float, float]]:
    """The mean score of each side, for reports.

    This function judges nothing. The bounds are valid for each point alone. For shares
    of users, such as hits, they are exact (Clopper and Pearson 1934, Biometrika 26).

    Example:
        points = curve({n: recsys.using(history=n).run() for n in (2, 5, 10)}, "ndcg@5")

    Args:
        sides: Answers of all users, by position on the axis.
        score: As in `at_least`.

    Returns:
        Position, mean, and its lower and upper one-sided (1 - alpha) bounds, in the
        given order. Positions without a scored user are left out, and those where too
        many answers could not be read.
    """
    named = score_named(score)
    points = []
    for place, answers in sides.items():
        context = answers.context
        sample, values = scores_of(answers, named)
        if too_many_unread(sample, context) or not len(values.rows):
            continue
        seen = Seen.of(values, sample, sample.asked, ())
        # The sample has a fixed size: a curve never causes further users to be asked.
        mean = (
            Rate(int(values.effect.sum()), len(values.effect), seen.account.missing)
            if values.reach == (0, 1) and np.isin(values.effect, (0, 1)).all()
            else seen.effects.of_all
        )
        # As published: an answer of which nothing could be read recommends nothing. The
        # bounds have more.
        whole = (
            score_values(sample.whole(), context, named).effect
            if sample.unread
            else None
        )
        point = mean.estimate if whole is None else float(whole.mean())
        points.append(
            (place, point, mean.lower(context.alpha), mean.upper(context.alpha)),
        )
    return points
