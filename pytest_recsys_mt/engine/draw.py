"""A sample of users that is like all of them in what can be known before the first call."""

from dataclasses import replace

from pytest_recsys_mt.answers import Answers
from pytest_recsys_mt.engine.cases import Split
from pytest_recsys_mt.errors import DataError
from pytest_recsys_mt.oracles.not_worse import mean_metric
from pytest_recsys_mt.oracles.scores.metrics import metric_named
from pytest_recsys_mt.oracles.statistics.same_distribution import same_distribution
from pytest_recsys_mt.requests.design import Design

ALPHA = 0.05
"""A sample whose p-value is below this is drawn anew."""

DRAWS = 20
"""Samples to try. A sound procedure's sample is refused with probability `ALPHA` at most."""


def accepted_draw(split: Split, everybody: Answers, design: Design) -> int:
    """The number of the first sample of users that is accepted.

    A sample is accepted if the two-sample Kolmogorov-Smirnov test finds no difference between
    the nDCG of its users and that of all users, as in section 4.1 of
    https://arxiv.org/abs/2411.00331. The paper states neither alpha nor what follows a refusal.
    """
    metric = metric_named("ndcg")
    values = {asked.user: mean_metric(asked, metric) for asked in everybody.sample().asked}
    p_values = []
    for draw in range(DRAWS):
        users = replace(split, draw=draw).users(design)
        _, p_value = same_distribution(
            [values[user] for user in users if user in values], list(values.values())
        )
        if p_value >= ALPHA:
            return draw
        p_values.append(p_value)
    raise DataError(
        f"{DRAWS} samples of {design.users} users of dataset {split.dataset.name!r} all differ from "
        f"all users (Kolmogorov-Smirnov p at most {max(p_values):.3g}); raise --recsys-users"
    )
