"""Longer histories must not harm, and the recommender must
be ahead with the shortest histories.
"""

import pytest

from pytest_recsys_mt import NotApplicable, annotate, dimension, thresholds
from pytest_recsys_mt.oracles import ahead_when_cold, curve, monotone

LIMIT = thresholds(__file__, "history")
LENGTHS = (0, 1, 2, 5, 10, 20, 40)

pytestmark = pytest.mark.recsys_design(prompt="rank")


def test_longer_histories_are_not_worse(recsys):
    # Without a history, a recommender that reads no text recommends by other means,
    # such as popularity.
    lengths = LENGTHS if recsys.reads_text else LENGTHS[1:]
    sides = by_length(recsys, lengths)
    assert dimension(judged(sides, LIMIT["shown"]), "history length", best="low")


def test_more_to_learn_from_is_not_worse(recsys):
    if recsys.reads_text:
        raise NotApplicable("a text model is not fitted to histories")
    assert judged(by_length(recsys, fitted=True), LIMIT["learned"])


def test_short_histories_are_enough_to_be_ahead(recsys, recsys_against):
    ours, other = (by_length(each, fitted=True) for each in (recsys, recsys_against))
    assert ahead_when_cold(ours, other, "ndcg@5")


def judged(sides, margin):
    verdict = monotone(list(sides.values()), "ndcg@5", margin)
    points = [list(point) for point in curve(sides, "ndcg@5")]
    figures = {"x": "items of the history", "y": "ndcg@5", "points": points}
    return annotate(verdict, curve=figures)


def by_length(recsys, lengths=LENGTHS, fitted=False):
    """The answers by length of the history, up to the longest history of any user.

    If `fitted`, the training data has no longer histories either.
    """
    sides, before = {}, None
    for length in lengths:
        reduced = {"training_history": length} if fitted else {}
        try:
            shorter = recsys.using(history=length, **reduced)
        except NotApplicable:
            continue  # without any history, there is nothing to fit
        histories = [case.request.history for case in shorter.runner.cases]
        if histories != before:
            sides[length], before = shorter.run(), histories
    return sides
