"""Whether the place of the wanted item among the candidates matters."""

import pytest

from pytest_recsys_mt import NotApplicable, annotate, dimension, thresholds
from pytest_recsys_mt.oracles import (
    cand_dif_within,
    curve,
    no_position_bias,
    same_score,
)
from pytest_recsys_mt.relations import place_positive

LIMIT = thresholds(__file__, "position")
ENOUGH = 200

pytestmark = pytest.mark.recsys_design(prompt="rank")


def test_the_first_place_gains_nothing(recsys):
    first = recsys.run(place_positive(1))
    assert cand_dif_within(recsys.run(), first, "hit@5", LIMIT["cand_dif"])


def test_accuracy_is_the_same_in_both_halves_of_the_places(recsys):
    if recsys.live:
        raise NotApplicable(
            "a recommender that can be asked is asked about every place",
        )
    if recsys.design.users < ENOUGH:
        raise NotApplicable(
            f"this test compares places over different users, which needs {ENOUGH} users",
        )
    assert no_position_bias(recsys.run(), "hit@5", groups=2, margin=LIMIT["half"])


def test_accuracy_is_the_same_at_every_place(recsys):
    if recsys.design.candidates < 2:
        raise NotApplicable(
            "fewer than two candidates have no places; give --recsys-candidates=20",
        )
    sides = {
        place: recsys.run(place_positive(place))
        for place in places(recsys.design.candidates)
    }
    first, *others = sides
    verdicts = [
        same_score(sides[first], sides[place], "ndcg@5", LIMIT["place"])
        for place in others
    ]
    points = [list(point) for point in curve(sides, "ndcg@5")]
    figures = {"x": "place of the wanted item", "y": "ndcg@5", "points": points}
    verdicts[-1] = annotate(verdicts[-1], curve=figures)
    verdicts[-1] = dimension(verdicts[-1], "candidate position", best="low")
    assert all(verdicts)


def places(candidates):
    """Five places from the first to the last."""
    return [1 + round(step * (candidates - 1) / 4) for step in range(5)]
