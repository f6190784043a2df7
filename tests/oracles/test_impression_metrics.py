"""AUC and nDCG of one impression."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from tests.support.oracles_scores import auc, ndcg


@pytest.mark.parametrize(
    ("ranking", "candidates", "relevant", "expected"),
    [
        ("abcd", "abcd", "ab", 1),
        ("cdab", "abcd", "ab", 0),
        ("acbd", "dcba", "ab", 3 / 4),
        ("aacbd", "abcd", "ab", 3 / 4),
        ("axcybd", "abcd", "abz", 3 / 4),
        # Nothing was ranked: all candidates are level.
        ("", "abcd", "ab", 1 / 2),
        # b is level with d alone: right against neither c, half right against d.
        ("ac", "abcd", "ab", (2 + 1 / 2) / 4),
    ],
)
def test_auc_counts_pairs_in_the_right_order(
    ranking: str,
    candidates: str,
    relevant: str,
    expected: float,
) -> None:
    assert auc(ranking, candidates, relevant) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("candidates", "relevant"),
    [("ab", ""), ("ab", "ab"), ("ab", "x"), ("", "")],
)
def test_auc_of_one_class_alone_is_undefined(candidates: str, relevant: str) -> None:
    assert auc("ba", candidates, relevant) is None


def test_auc_is_the_mann_whitney_statistic_of_the_places() -> None:
    rng = np.random.default_rng(7)
    for _ in range(200):
        items = [str(item) for item in rng.permutation(rng.integers(2, 12))]
        shown = items[: rng.integers(0, len(items) + 1)]
        relevant = set(items[:: rng.integers(2, 4)])
        place = {
            item: -float(shown.index(item)) if item in shown else -99.0
            for item in items
        }
        hits = [place[item] for item in items if item in relevant]
        others = [place[item] for item in items if item not in relevant]
        expected = mannwhitneyu(hits, others, method="asymptotic").statistic
        assert auc(shown, items, relevant) == pytest.approx(
            expected / len(hits) / len(others),
        )


def test_ndcg_of_an_impression() -> None:
    assert ndcg("acbd", "ab", 5) == pytest.approx((1 + 1 / 2) / (1 + 1 / math.log2(3)))
    assert ndcg("cdab", "ab", 2) == 0
    assert ndcg("aab", "ab", 2) == 1
    assert ndcg("abcd", "", 5) is None
