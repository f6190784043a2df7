"""The protocol of "Beyond Utility: Evaluating LLM as Recommender", as published.

Up to 1,000 users, each asked once for a cell of a table, all cells of a line of the
same users (https://arxiv.org/abs/2411.00331, section 4). `recsys-mt paper
multidimensional RECORD` makes Tables 2 to 5, the measures of appendix A.1 and Figures 2
to 4 of the record; Figure 6 and the line "P-only" of Table 3 are in `test_generation`.
Figures 5 and 7 show examples in words.

Tables 3 to 5 have the means of five fits with other seeds; language models, and
recommenders that can be fitted once only, are asked once.

These tests make 15,500 calls a language model, and 23,000 a fitted recommender. So they
run only if this file is named, or with --recsys-effort=thorough.
"""

from contextlib import suppress
from statistics import fmean

import pytest

from pytest_recsys_mt import NotApplicable, annotate, thresholds
from pytest_recsys_mt.oracles import (
    at_least,
    cand_dif_within,
    curve,
    means_of_users,
)
from pytest_recsys_mt.relations import demonstrations, focus_on_recent, place_positive

UTILITY = thresholds(__file__, "utility")
POSITION = thresholds(__file__, "position")
MEASURES = ("hit@5", "ndcg@5", "aplt@5", "serendipity@5", "hallucination@5")
NOVELTY = ("self_information@5", "intra_list_diversity@5")
APPENDIX = (
    "arp@5",
    "popreo@5",
    "item_coverage@5",
    "oic@5",
    "exposure_gini@5",
    "dpd@5",
    "jain@5",
)

pytestmark = [
    pytest.mark.recsys_thorough,
    pytest.mark.recsys_design(prompt="rank", users=1000, replicates=1),
]


def fits(recsys):
    sides = [recsys.run()]
    with suppress(NotApplicable):
        for number in range(1, 1 if recsys.reads_text else 5):
            sides.append(recsys.using(initialisation=number).run())
    return sides


def means(sides, names):
    """The means over users and fits, of the scores that all fits have."""
    curves = {name: curve(dict(enumerate(sides)), name) for name in names}
    return {
        name: fmean(point[1] for point in points)
        for name, points in curves.items()
        if len(points) == len(sides)
    }


def compared(recsys, sides):
    """What the marks of Table 3 are found by: scores by user, and the group of a line."""
    return {
        "group": "language models" if recsys.reads_text else "traditional models",
        "by_user": {name: means_of_users(sides, name) for name in MEASURES[:2]},
    }


def test_table_3(recsys):
    sides, data = fits(recsys), recsys.dataset
    counts = (len(data.histories), len(data.items), len(data.interactions))
    density = 100 * counts[2] / (counts[0] * counts[1])
    about = {
        "users": counts[0],
        "items": counts[1],
        "interactions": counts[2],
        "density": density,
    }
    verdict = at_least(sides[0], "ndcg@5", UTILITY["ndcg@5"])
    found = means(sides, (*MEASURES, *NOVELTY, *APPENDIX))
    assert annotate(
        verdict,
        means=found,
        fits=len(sides),
        data=about,
        **compared(recsys, sides),
    )


@pytest.mark.parametrize(
    "strategy",
    [focus_on_recent, demonstrations(3)],
    ids=["LLMRank", "LLMSRec"],
)
def test_table_3_by_prompt(recsys, strategy):
    """The lines of Table 3 with another strategy, in the words of `relations`."""
    side = recsys.run(strategy)
    verdict = at_least(side, "ndcg@5", UTILITY["ndcg@5"])
    found = means([side], MEASURES[:2])
    assert annotate(verdict, means=found, **compared(recsys, [side]))


def test_table_5(recsys):
    if not recsys.design.candidates:
        raise NotApplicable(
            "the whole catalogue is ranked, and no candidates that others found; give --recsys-candidates=20",
        )
    reranking = recsys.using(recall=True)
    sides, first = fits(reranking), reranking.run(place_positive(1))
    side, found = sides[0], means(sides, MEASURES)
    verdicts = [
        annotate(
            at_least(side, "hit@5", UTILITY["rerank:hit@5"]),
            means=found,
            fits=len(sides),
        ),
        *(
            cand_dif_within(side, first, each, POSITION["cand_dif"])
            for each in MEASURES[:2]
        ),
    ]
    for verdict in verdicts:
        assert verdict


def test_figure_3(recsys):
    """At each length, what is fitted learns from no
    longer histories either (equation 7).
    """
    sides = {}
    for length in (0, 1, 2, 5, 10, 20, 40):
        reduced = {} if recsys.reads_text else {"training_history": length}
        with suppress(NotApplicable):  # without any history, there is nothing to fit
            sides[length] = recsys.using(history=length, **reduced).run()
    assert by_place(sides)


def test_figure_4(recsys):
    assert by_place(
        {place: recsys.run(place_positive(place)) for place in (1, 6, 10, 15, 20)},
    )


def by_place(sides):
    *_, last = sides.values()
    points = {str(place): mean for place, mean, *_ in curve(sides, "hit@5")}
    return annotate(at_least(last, "hit@5", UTILITY["hit@5"]), points=points)
