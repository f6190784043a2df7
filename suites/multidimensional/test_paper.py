"""The protocol of "Beyond Utility: Evaluating LLM as Recommender", as published.

Up to 1,000 users, each asked once for a cell of a table, all cells of a line of the same users
(https://arxiv.org/abs/2411.00331, section 4). `recsys-mt paper multidimensional RECORD` makes Tables 2 to 5 and Figures
2 to 4 of the record; Figure 6 is in `test_generation`. Figures 5 and 7 show examples in words.

These tests make 15,000 calls a recommender. So they run only if this file is named, or with --recsys-effort=thorough.
"""

import pytest

from pytest_recsys_mt import annotate, thresholds
from pytest_recsys_mt.oracles import at_least, cand_dif_within, curve
from pytest_recsys_mt.relations import place_positive

UTILITY = thresholds(__file__, "utility")
POSITION = thresholds(__file__, "position")
MEASURES = ("hit@5", "ndcg@5", "aplt@5", "serendipity@5", "hallucination@5")
NOVELTY = ("self_information@5", "intra_list_diversity@5")

pytestmark = [
    pytest.mark.recsys_thorough,
    pytest.mark.recsys_design(prompt="rank", users=1000, replicates=1),
]


def means(side, names):
    return {name: points[0][1] for name in names if (points := curve({0: side}, name))}


def test_table_3(recsys):
    side, data = recsys.run(), recsys.dataset
    counts = (len(data.histories), len(data.items), len(data.interactions))
    density = 100 * counts[2] / (counts[0] * counts[1])
    about = {"users": counts[0], "items": counts[1], "interactions": counts[2], "density": density}
    verdict = at_least(side, "ndcg@5", UTILITY["ndcg@5"])
    assert annotate(verdict, means=means(side, (*MEASURES, *NOVELTY)), data=about)


def test_table_5(recsys):
    reranking = recsys.using(recall=True)
    side, first = reranking.run(), reranking.run(place_positive(1))
    verdicts = [
        annotate(at_least(side, "hit@5", UTILITY["rerank:hit@5"]), means=means(side, MEASURES)),
        *(cand_dif_within(side, first, each, POSITION["cand_dif"]) for each in MEASURES[:2]),
    ]
    for verdict in verdicts:
        assert verdict


def test_figure_3(recsys):
    lengths = (0, 1, 2, 5, 10, 20, 40)
    assert by_place({length: recsys.using(history=length).run() for length in lengths})


def test_figure_4(recsys):
    assert by_place({place: recsys.run(place_positive(place)) for place in (1, 6, 10, 15, 20)})


def by_place(sides):
    *_, last = sides.values()
    points = {str(place): mean for place, mean, *_ in curve(sides, "hit@5")}
    return annotate(at_least(last, "hit@5", UTILITY["hit@5"]), points=points)
