from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from pytest_recsys_mt import OracleError
from pytest_recsys_mt.oracles import Score, decreases, increases, same_score
from pytest_recsys_mt.verdict.answers import Context
from tests.oracles.support import FakeAnswers, Lists, ask, sides

POPULAR, NICHE = list("abcde"), list("vwxyz")
COUNTS = {**dict.fromkeys(POPULAR, 100), **dict.fromkeys(NICHE, 10), "new": 0}
CONTEXT = Context(popularity=COUNTS)


def drawn(popular_share: float, users: int, seed: int, replicates: int = 2) -> Lists:
    rng = np.random.default_rng(seed)
    pools = rng.random((users, replicates, 5)) < popular_share
    return [
        [
            [(POPULAR if hit else NICHE)[place] for place, hit in enumerate(row)]
            for row in answers
        ]
        for answers in pools
    ]


@pytest.mark.parametrize("users", [6, 15, 60])
def test_a_score_that_moves_is_seen_in_its_direction(users: int) -> None:
    both = sides(drawn(0.9, users, 1), drawn(0.1, users, 2), CONTEXT)
    assert decreases(*both)
    assert increases(*both).status == "violated"


def test_the_estimate_is_the_difference_of_mean_logarithms() -> None:
    verdict = decreases(*sides([[POPULAR]] * 3, [[NICHE]] * 3, CONTEXT))
    assert verdict.estimate == pytest.approx(math.log(10))
    assert verdict.floor is None


def test_noise_is_on_neither_side_of_zero() -> None:
    both = sides(drawn(0.5, 200, 3), drawn(0.5, 200, 4), CONTEXT)
    assert increases(*both).status == decreases(*both).status == "inconclusive"


def test_a_margin_tells_a_recommender_that_ignores_the_wish() -> None:
    both = sides(drawn(0.5, 200, 3), drawn(0.5, 200, 4), CONTEXT)
    assert decreases(*both, margin=0.3).status == "violated"


def test_a_constant_answer_never_holds() -> None:
    both = sides(
        [[POPULAR]] * 100,
        [[POPULAR]] * 100,
        Context(deterministic=True, popularity=COUNTS),
    )
    assert decreases(*both).status == "inconclusive"
    assert decreases(*both, margin=0.2).status == "violated"


def test_items_without_popularity_are_left_out_and_counted() -> None:
    followup = [[["new", "unknown:x", *NICHE[:3]]]] * 20
    verdict = decreases(*sides([[POPULAR]] * 20, followup, CONTEXT))
    assert verdict.estimate == pytest.approx(math.log(10))
    assert "40 recommended items without log_popularity" in verdict.reason


def test_users_without_a_score_count_at_both_ends() -> None:
    followup = [[NICHE]] * 15 + [[["new"]], [[]]] + [[NICHE]] * 3
    verdict = decreases(*sides([[POPULAR]] * 20, followup, CONTEXT))
    assert verdict.account["undefined"] == 2
    assert (
        "2 users of 20 got no number (an answer has no log_popularity (2))"
        in verdict.reason
    )


def test_a_score_of_your_own() -> None:
    length = Score(
        "length",
        lambda answer, asked, context: (len(answer.items), 0),
        lambda asked, context: (0, 5),
    )
    verdict = decreases(
        *sides([[POPULAR]] * 30, [[POPULAR[:2]]] * 30, CONTEXT),
        score=length,
        margin=1,
    )
    assert verdict.oracle == "decreases:length"
    assert verdict.status == "holds"
    assert verdict.estimate == 3


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ({"score": "log_popularty"}, "'log_popularty'.*did you mean 'log_popularity'"),
        (
            {"margin": -0.1},
            r"increases:log_popularity: margin must be at least 0, got -0\.1",
        ),
        ({"margin": math.inf}, "margin must be a number, got inf"),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, Any], names: str) -> None:
    source, followup = sides([[POPULAR]], [[NICHE]], CONTEXT)
    assert isinstance(source, FakeAnswers)
    with pytest.raises(OracleError, match=names):
        increases(source, followup, **arguments)


def test_a_mean_may_neither_fall_nor_rise() -> None:
    alike = sides(drawn(0.5, 200, 1), drawn(0.5, 200, 2), CONTEXT)
    assert same_score(*alike, margin=0.3)
    lower = sides(drawn(0.9, 100, 1), drawn(0.1, 100, 2), CONTEXT)
    higher = sides(drawn(0.1, 100, 1), drawn(0.9, 100, 2), CONTEXT)
    assert (
        same_score(*lower, margin=0.3).status == same_score(*higher, margin=0.3).status
    )
    assert same_score(*lower, margin=0.3).status == "violated"


def test_too_few_users_cannot_show_that_a_mean_stays() -> None:
    few = sides(drawn(0.5, 12, 1), drawn(0.5, 12, 2), CONTEXT)
    verdict = same_score(*few, margin=0.3)
    assert verdict.status == "inconclusive"
    assert "more users" in verdict.reason


@pytest.mark.parametrize("margin", [0, -0.1, math.nan, "0.1"])
def test_a_mean_needs_room_to_stay(margin: Any) -> None:
    with pytest.raises(OracleError, match=r"same_score:log_popularity.*margin"):
        same_score(*sides([[POPULAR]] * 3, [[NICHE]] * 3, CONTEXT), margin=margin)


def test_a_follow_up_that_asks_for_more_has_the_wider_span() -> None:
    """Invented titles count up to the length that was asked for, on either side."""
    invented = Score(
        "invented",
        lambda answer, asked, context: (
            float(sum("?" in item for item in answer.items)),
            0,
        ),
        lambda asked, context: (0.0, float(asked.request.k)),
    )
    short = ask([[["a"]]] * 100, 1)
    long = ask([[["?1", "?2", "?3", "?4"]]] * 100, 4)
    source = FakeAnswers(short, Context(deterministic=True))
    followup = FakeAnswers(long, Context(deterministic=True), "longer")
    verdict = same_score(source, followup, score=invented, margin=0.5)
    assert (verdict.status, verdict.estimate) == ("violated", 4)
    assert verdict.interval is not None
    assert verdict.interval[0] <= 4 <= verdict.interval[1]


def test_a_score_beyond_its_span_is_an_error_that_names_it() -> None:
    wild = Score("wild", lambda *_: (7.0, 0), lambda *_: (0.0, 1.0))
    both = sides([[POPULAR]] * 3, [[NICHE]] * 3, CONTEXT)
    with pytest.raises(
        OracleError,
        match=r"wild: an answer to user u0 scores 7.*from 0 to 1",
    ):
        same_score(*both, score=wild, margin=0.5)
