"""The protocol of "Large Language Models as Recommender Systems: A Study of Popularity
Bias", as published.

Five folds of at most 1,000 users; a fifth of the ratings of each of them is held out at
random. All others, and all other users, are for training, and the whole remaining
history is in the request (https://arxiv.org/abs/2406.01285, sections 4.2 and 4.3). The
last tests ask a language model with each of the two instructions. `recsys-mt paper
popularity RECORD` makes the paper's tables of the record.

These tests make 5,000 calls a recommender and instruction. So they run only if this
file is named, or with --recsys-effort=thorough.
"""

import pytest

from pytest_recsys_mt import NotApplicable, annotate, thresholds
from pytest_recsys_mt.oracles import at_least, at_most, curve, within
from pytest_recsys_mt.relations import popularity_prompt

pytestmark = pytest.mark.recsys_thorough

BIAS = thresholds(__file__, "bias")
ACCURACY = thresholds(__file__, "accuracy")
VALIDITY = thresholds(__file__, "validity")

MEASURES = (
    "log_popularity_difference", "popularity_lift", "gini_difference", "gini_relative_difference", "gini_ratio",
    "herfindahl_difference", "herfindahl_relative_difference", "herfindahl_ratio", "popularity_rank_correlation",
    "malformed", "already_seen", "unknown_title", "outside_catalogue",
)  # fmt: skip
DESIGN = {
    "candidates": 0, "k": 10, "prompt": "wok", "users": 1000, "history": 100_000, "replicates": 1,
}  # fmt: skip
FOLDS = [pytest.mark.recsys_design(**DESIGN, fold=fold) for fold in range(5)]


@pytest.fixture(
    params=[pytest.param(n, marks=mark, id=f"fold{n}") for n, mark in enumerate(FOLDS)],
)
def fold(request):
    return request.param


def judged(side, fold, instruction):
    """The promises of the paper's columns, with all measures other than the bias."""
    means = {
        name: points[0][1] for name in MEASURES if (points := curve({0: side}, name))
    }
    verdicts = [
        at_least(side, "hit@5", ACCURACY["hit@5"]),
        at_least(side, "hit@10", ACCURACY["hit@10"]),
        annotate(
            within(
                side,
                "log_popularity_difference",
                BIAS["log_popularity_difference"],
            ),
            means=means,
        ),
        at_most(side, "invalid", VALIDITY["invalid"]),
    ]
    return [
        annotate(verdict, fold=fold, instruction=instruction) for verdict in verdicts
    ]


def test_table_2(recsys, fold):
    for verdict in judged(recsys.run(), fold, "none"):
        assert verdict


@pytest.mark.parametrize("mode", ["mitigate", "minimize"])
def test_table_3(recsys, fold, mode):
    if not recsys.reads_text:
        raise NotApplicable("an instruction needs a text model")
    for verdict in judged(recsys.run(popularity_prompt(mode)), fold, mode):
        assert verdict
