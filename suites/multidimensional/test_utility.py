"""Ranking one wanted item among 19 others, and
re-ranking what other recommenders found.
"""

import pytest

from pytest_recsys_mt import NotApplicable, dimension, thresholds
from pytest_recsys_mt.oracles import at_least

LIMIT = thresholds(__file__, "utility")

pytestmark = pytest.mark.recsys_design(prompt="rank")


@pytest.mark.parametrize("metric", ["hit@5", "ndcg@5", "mrr@5"])
def test_ranking(recsys, metric):
    verdict = at_least(recsys.run(), metric, LIMIT[metric])
    assert dimension(verdict, "utility") if metric == "ndcg@5" else verdict


def test_reranking(recsys):
    if not recsys.design.candidates:
        raise NotApplicable(
            "the whole catalogue is ranked, and no candidates that others found; give --recsys-candidates=20",
        )
    assert at_least(recsys.using(recall=True).run(), "hit@5", LIMIT["rerank:hit@5"])
