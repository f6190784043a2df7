"""The points of a curve: a mean score at each step of a series, with its bounds; and the
scores behind such a mean.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from pytest_recsys_mt.oracles.aggregates.aggregate import Aggregate
from pytest_recsys_mt.oracles.aggregates.measures import Measure, measure_named
from pytest_recsys_mt.oracles.benchmark import score_values
from pytest_recsys_mt.oracles.judging.account import too_many_unread
from pytest_recsys_mt.oracles.judging.aggregate_effects import aggregate_value
from pytest_recsys_mt.oracles.judging.effect import Effects
from pytest_recsys_mt.oracles.judging.seen import Seen
from pytest_recsys_mt.oracles.scores.score import Score, score_named
from pytest_recsys_mt.oracles.statistics.bounds import Rate
from pytest_recsys_mt.verdict.answers import Answers, Context, Sample

__all__ = ["curve", "means_of_users"]


def curve(
    sides: Mapping[float, Answers],
    score: Measure = "ndcg@10",
) -> list[tuple[float, float, float, float]]:
    """The mean score of each side, or an aggregate of it, for reports.

    This function judges nothing. The bounds are valid for each point alone. For shares
    of users, such as hits, they are exact (Clopper and Pearson 1934, Biometrika 26).

    Example:
        points = curve({n: recsys.using(history=n).run() for n in (2, 5, 10)}, "ndcg@5")

    Args:
        sides: Answers of all users, by position on the axis.
        score: As in `at_least`.

    Returns:
        Position, mean, and its lower and upper one-sided (1 - alpha) bounds, in the
        given order. Positions without a scored user are left out, those where too many
        answers could not be read, and those where an aggregate is undefined.
    """
    named = measure_named(score)
    points = []
    for place, answers in sides.items():
        context = answers.context
        sample = answers.sample()
        if getattr(named, "unread", False):
            sample = sample.whole()
        values = _effects(sample, context, named)
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
            _effects(sample.whole(), context, named).effect if sample.unread else None
        )
        point = mean.estimate if whole is None else float(whole.mean())
        points.append(
            (place, point, mean.lower(context.alpha), mean.upper(context.alpha)),
        )
    return points


def means_of_users(
    sides: Sequence[Answers],
    score: str | Score = "ndcg@10",
) -> dict[str, float]:
    """The mean score of each user over some sides, for reports and for tests of two
    recommenders on the same users.

    This function judges nothing. As in `curve`, an answer of which nothing could be
    read recommends nothing.

    Example:
        fits = [recsys.using(initialisation=number).run() for number in range(5)]
        ours = means_of_users(fits, "ndcg@5")

    Args:
        sides: Answers of all users, such as those of several initialisations.
        score: As in `at_least`; no aggregate, as no user has one.

    Returns:
        By user, in the order of the first side; users without a score on some side are
        left out.
    """
    named = score_named(score)
    columns = []
    for answers in sides:
        sample = answers.sample().whole()
        effects = score_values(sample, answers.context, named)
        users = [sample.asked[row].user for row in effects.rows]
        columns.append(dict(zip(users, map(float, effects.effect), strict=True)))
    if not columns:
        return {}
    return {
        user: float(np.mean([column[user] for column in columns]))
        for user in columns[0]
        if all(user in column for column in columns)
    }


def _effects(sample: Sample, context: Context, measure: Score | Aggregate) -> Effects:
    if isinstance(measure, Aggregate):
        return aggregate_value(sample, context, measure)
    return score_values(sample, context, measure)
