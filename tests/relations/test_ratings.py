"""The two rating relations, against the paper's Table 1 and as affine maps."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_recsys_mt import NotApplicable, RelationError
from pytest_recsys_mt.relations import invert_ratings, scale_ratings, shift_ratings
from pytest_recsys_mt.requests import Request, Scale
from tests.relations.examples import PAPER_USER, PRINTED, request, requests

RNG = np.random.default_rng(0)

ORIGINAL = (
    "Given a user, as a recommender system, provide recommendations. The user 509 likes the "
    "following items: Dukes of Hazzard, The (2005) 2/5, Miss Congeniality (2000) 3/5, Click (2006) "
    "1/5, Ultraviolet (2006) 2/5, Monty Python and the Holy Grail (1975) 4/5. (1 being lowest and "
    "5 being highest ). Give me back 5 recommendations"
)
MULTIPLIED = (
    "Given a user, as a recommender system, provide recommendations. The user 509 likes the "
    "following items: Dukes of Hazzard, The (2005) 4/10, Miss Congeniality (2000) 6/10, Click "
    "(2006) 2/10, Ultraviolet (2006) 4/10, Monty Python and the Holy Grail (1975) 8/10. (1 being "
    "lowest and 10 being highest ). Give me back 5 recommendations"
)
SHIFTED = (
    "Given a user, as a recommender system, provide recommendations. The user 509 likes the "
    "following items: Dukes of Hazzard, The (2005) 3/6, Miss Congeniality (2000) 4/6, Click (2006) "
    "2/6, Ultraviolet (2006) 3/6, Monty Python and the Holy Grail (1975) 5/6. (2 being lowest and "
    "6 being highest ). Give me back 5 recommendations"
)


def values(source: Request) -> list[float]:
    return [rating.value for rating in source.history]


def prompt(source: Request) -> str:
    return PRINTED.render(source)[-1].content


def test_multiplication_as_printed_in_table_1() -> None:
    followup = scale_ratings(2, paper=True)(PAPER_USER, RNG)
    assert values(followup) == [4, 6, 2, 4, 8]
    assert followup.scale == Scale(1, 10)
    assert prompt(PAPER_USER) == ORIGINAL
    assert prompt(followup) == MULTIPLIED


@pytest.mark.parametrize("paper", [False, True])
def test_shift_as_printed_in_table_1(paper: bool) -> None:
    followup = shift_ratings(1, paper=paper)(PAPER_USER, RNG)
    assert values(followup) == [3, 4, 2, 3, 5]
    assert followup.scale == Scale(2, 6)
    assert prompt(followup) == SHIFTED
    assert shift_ratings(1, paper=paper).name == "shift_ratings(1)"


def test_both_anchors_are_multiplied_by_default() -> None:
    followup = scale_ratings(2)(PAPER_USER, RNG)
    assert values(followup) == [4, 6, 2, 4, 8]
    assert followup.scale == Scale(2, 10)


@given(
    source=requests(min_history=1),
    factor=st.floats(0.01, 100).filter(lambda x: x != 1),
)
def test_multiplication_keeps_every_opinion(source: Request, factor: float) -> None:
    followup = scale_ratings(factor)(source, RNG)
    for before, after in zip(source.history, followup.history, strict=True):
        assert followup.scale.unit(after.value) == pytest.approx(
            source.scale.unit(before.value),
        )
        assert (after.item, after.timestamp) == (before.item, before.timestamp)
    assert values(followup) == [value * factor for value in values(source)]


@given(source=requests(min_history=1), offset=st.integers(-50, 50).filter(bool))
def test_shift_keeps_every_opinion(source: Request, offset: int) -> None:
    followup = shift_ratings(offset)(source, RNG)
    for before, after in zip(source.history, followup.history, strict=True):
        assert followup.scale.unit(after.value) == pytest.approx(
            source.scale.unit(before.value),
        )
        assert (after.item, after.timestamp) == (before.item, before.timestamp)
    assert shift_ratings(-offset)(followup, RNG) == source


def test_the_printed_multiplication_needs_a_scale_that_does_not_start_below_0() -> None:
    with pytest.raises(NotApplicable, match="starts below 0"):
        scale_ratings(2, paper=True)(request(scale=Scale(-10, 10)), RNG)


@pytest.mark.parametrize(
    "factor",
    [0, 1, 1.0, -2, float("nan"), float("inf"), "2", None, True],
)
def test_impossible_factors(factor: float) -> None:
    with pytest.raises(RelationError, match=r"scale_ratings: factor must be .* got"):
        scale_ratings(factor)


def test_the_printed_multiplication_needs_a_factor_above_1() -> None:
    with pytest.raises(RelationError, match="above 1"):
        scale_ratings(0.5, paper=True)
    assert scale_ratings(0.5)(PAPER_USER, RNG).scale == Scale(0.5, 2.5)


@pytest.mark.parametrize(
    "offset",
    [0, 0.0, float("nan"), -float("inf"), "1", None, False],
)
def test_impossible_offsets(offset: float) -> None:
    with pytest.raises(RelationError, match="shift_ratings: offset must"):
        shift_ratings(offset)


def test_names_do_not_depend_on_the_kind_of_number() -> None:
    assert scale_ratings(2).name == scale_ratings(2.0).name == "scale_ratings(2)"
    assert scale_ratings(np.float64(0.5)).name == "scale_ratings(0.5)"
    assert shift_ratings(-1).name == "shift_ratings(-1)"
    assert scale_ratings(2, paper=True).name == "scale_ratings(2, paper=True)"


def test_ratings_that_are_all_the_same_say_as_little_turned_round() -> None:
    """A model of counts answers a history of ones and
    one of fives alike, and rightly so.
    """
    history = tuple(dataclasses.replace(each, value=5) for each in PAPER_USER.history)
    with pytest.raises(NotApplicable, match="all ratings are the same"):
        invert_ratings(PAPER_USER.replace(history=history), RNG)
