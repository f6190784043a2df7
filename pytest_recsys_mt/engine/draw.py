"""A sample of users that is like all of them in the facts
that are known before the first call.
"""

from dataclasses import replace

from pytest_recsys_mt.engine.cases import Split
from pytest_recsys_mt.oracles.not_worse import mean_metric
from pytest_recsys_mt.oracles.scores.metrics import metric_named
from pytest_recsys_mt.oracles.statistics.same_distribution import same_distribution
from pytest_recsys_mt.requests.design import Design
from pytest_recsys_mt.safety.errors import DataError
from pytest_recsys_mt.verdict.answers import Answers

ALPHA = 0.05
"""A sample whose p-value is below this is drawn again."""

DRAWS = 20
"""Samples to try. A sound procedure's sample is
refused with probability `ALPHA` at most.
"""


def accepted_draw(split: Split, everybody: Answers, design: Design) -> int:
    """The number of the first sample of users that is accepted, for `Split.draw`.

    A sample is accepted if the two-sample Kolmogorov-Smirnov test finds no difference
    between the nDCG of its users and that of all users, as in section 4.1 of
    https://arxiv.org/abs/2411.00331. The paper states neither alpha nor the step after
    a refusal.

    Args:
        split: Draws the samples.
        everybody: The answers to all users.
        design: Says how many users a sample has.

    Raises:
        DataError: If none of `DRAWS` samples is accepted.
    """
    metric = metric_named("ndcg")
    ndcg_by_user = {
        asked.user: mean_metric(asked, metric) for asked in everybody.sample().asked
    }
    of_all = list(ndcg_by_user.values())
    p_values = []
    for draw in range(DRAWS):
        users = replace(split, draw=draw).users(design)
        of_sample = [ndcg_by_user[user] for user in users if user in ndcg_by_user]
        _, p_value = same_distribution(of_sample, of_all)
        if p_value >= ALPHA:
            return draw
        p_values.append(p_value)
    raise DataError(
        f"{DRAWS} samples of {design.users} users of dataset {split.dataset.name!r} all differ from "
        f"all users (Kolmogorov-Smirnov p at most {max(p_values):.3g}); raise --recsys-users",
    )
