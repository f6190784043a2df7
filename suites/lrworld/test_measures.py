"""The 31 measures of LRWorld and the two on Last.fm must each be better than guessing,
and than popularity.

A measure runs on data in the format of its dataset (``--recsys-data``) and skips on
others. Your own table works for all measures whose attributes it has.
``--recsys-users`` is the number of questions per measure. ``--recsys-questions`` asks
those of a file instead.
"""

import pytest

from pytest_recsys_mt import NotApplicable, thresholds
from pytest_recsys_mt.oracles import (
    better_than_baseline,
    better_than_chance,
    constant_answer,
)
from pytest_recsys_mt.suites.lrworld import (
    LASTFM,
    MEASURES,
    ask,
    baselines,
    beside,
    credits_of,
    questions_of,
)

THRESHOLD = thresholds(__file__, "above")
POPULARITY = thresholds(__file__, "baseline")["popularity"]
CONSTANT = thresholds(__file__, "constant")["most_chosen"]


def name_of(measure):
    return f"{measure.dataset}-{measure.name}"


def column(measure):
    """Where it stands on a leaderboard: a table for each
    scale, columns by factor as in the paper.
    """
    return {
        "table": f"{measure.scale} ({'accuracy' if measure.scale == 'knowledgeability' else 'hit@1'})",
        "name": measure.name,
        "place": [*MEASURES, *LASTFM].index(measure),
    }


@pytest.mark.parametrize("measure", [*MEASURES, *LASTFM], ids=name_of)
def test_better_than_guessing(recsys, measure):
    model = recsys.texts
    questions = questions_of(recsys, measure)
    replies = ask(model, questions)
    choices, figures = replies.choices, replies.figures
    if measure in LASTFM:
        figures |= replies.llara
    steady = constant_answer(choices, recsys.context, CONSTANT)
    chance = better_than_chance(
        choices,
        recsys.context,
        THRESHOLD[measure.factor],
        metric="accuracy" if measure.scale == "knowledgeability" else "hit@1",
        dimension=f"{measure.factor}: {measure.name}",
        details={
            "figures": figures,
            "baselines": baselines(questions),
            "answers": replies.answers,
            "column": column(measure),
            "published": beside(measure, recsys.model, choices.accuracy),
        },
    )
    assert steady
    assert chance


@pytest.mark.parametrize("measure", [*MEASURES, *LASTFM], ids=name_of)
def test_better_than_popularity(recsys, measure):
    model = recsys.texts
    questions = questions_of(recsys, measure)
    popularity = credits_of("popularity", questions)
    if popularity is None:
        raise NotApplicable(
            "the file of questions does not say how popular the options are",
        )
    assert better_than_baseline(
        ask(model, questions).choices,
        popularity,
        recsys.context,
        "popularity",
        margin=POPULARITY,
        details={
            "column": False,
        },  # the board has the model's values, and popularity's next to them
    )
