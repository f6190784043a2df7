"""What is drawn is as real as a recommender needs it, and small where it can be."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import find, given, reject, settings
from hypothesis import strategies as st

from pytest_recsys_mt import NotApplicable, relations
from pytest_recsys_mt.datasets import Dataset, load
from pytest_recsys_mt.relations import Transformation
from pytest_recsys_mt.requests import Rating, Request, World
from pytest_recsys_mt.strategies import (
    profiles,
    reproducible,
    requests,
    transformations,
)
from tests.support.relations import usual_of

MINI = load("mini")
WORLD = World(tuple(MINI.items.values()), dict(list(MINI.histories.items())[:10]))


def is_real(profile: tuple[Rating, ...], dataset: Dataset) -> bool:
    steps = set(dataset.interactions["rating"])
    times = [rating.timestamp for rating in profile]
    return (
        all(dataset.items[rating.item.id] == rating.item for rating in profile)
        and len({rating.item.id for rating in profile}) == len(profile)
        and all(rating.value in steps for rating in profile)
        and all(time is not None for time in times)
        and times == sorted(set(times))  # type: ignore[type-var]
    )


@reproducible
@given(profiles(min_size=2, max_size=7))
def test_profiles_are_distinct_items_on_the_scale_in_the_order_of_time(
    profile: tuple[Rating, ...],
) -> None:
    assert 2 <= len(profile) <= 7
    assert is_real(profile, MINI)


@reproducible
@given(requests(max_history=6, min_candidates=3, max_candidates=9))
def test_requests_offer_what_is_not_in_the_history(request: Request) -> None:
    assert is_real(request.history, MINI)
    assert 1 <= len(request.history) <= 6
    assert request.candidates is not None
    offered = [item.id for item in request.candidates]
    assert 3 <= len(set(offered)) == len(offered) <= 9
    assert not set(offered) & {rating.item.id for rating in request.history}
    assert 1 <= request.k <= len(offered)
    assert request.scale == MINI.scale


@reproducible
@given(requests(k=4, max_candidates=5), requests(k=4, max_candidates=0))
def test_k_and_the_whole_catalogue_can_be_asked_for(
    listed: Request,
    open_: Request,
) -> None:
    assert listed.k == open_.k == 4
    assert listed.candidates is not None
    assert 4 <= len(listed.candidates) <= 5
    assert open_.candidates is None


@pytest.mark.parametrize(
    ("condition", "history", "candidates"),
    [
        (lambda request: True, 1, 2),
        (lambda request: len(request.history) > 3, 4, 2),
        (lambda request: len(request.candidates) > 6, 1, 7),
        (lambda request: request.k >= 3, 1, 3),
    ],
    ids=["any", "long history", "many candidates", "long answer"],
)
def test_requests_shrink_to_few_items_with_low_ratings(
    condition: Callable[[Request], bool],
    history: int,
    candidates: int,
) -> None:
    found = find(requests(), condition, settings=reproducible)
    assert found.candidates is not None
    assert (len(found.history), len(found.candidates)) == (history, candidates)
    assert {rating.value for rating in found.history} == {1.0}


def test_a_dataset_of_ones_own_gives_its_items_and_steps() -> None:
    frame = MINI.interactions[MINI.interactions["user"].isin(["u001", "u002", "u003"])]
    own = Dataset(
        "own",
        {item: MINI.items[item] for item in set(frame["item"])},
        frame,
        MINI.scale,
    )

    @settings(reproducible, max_examples=30)
    @given(requests(own))
    def check(request: Request) -> None:
        assert is_real(request.history, own)
        assert request.candidates is not None
        assert {item.id for item in request.candidates} <= own.items.keys()

    check()


def test_the_catalogue_may_be_smaller_than_the_sizes() -> None:
    frame = MINI.interactions.groupby("user").head(2).head(6)
    own = Dataset(
        "own",
        {item: MINI.items[item] for item in set(frame["item"])},
        frame,
        MINI.scale,
    )

    @settings(reproducible, max_examples=30)
    @given(requests(own, max_history=2, max_candidates=50))
    def check(request: Request) -> None:
        assert len(request.candidates or ()) + len(request.history) <= len(own.items)

    check()


@reproducible
@given(requests(), transformations(text=True), st.integers(0, 2**32))
def test_transformations_serve_these_requests_or_say_why_not(
    request: Request,
    transformation: Transformation,
    seed: int,
) -> None:
    assert isinstance(transformation, Transformation)
    try:
        changed = transformation(request, np.random.default_rng(seed), WORLD)
    except NotApplicable:
        reject()
    assert isinstance(changed, Request)


@pytest.mark.parametrize("text", [False, True])
def test_every_transformation_is_drawn_and_text_only_on_demand(text: bool) -> None:
    drawn: list[Transformation] = []

    @settings(reproducible, max_examples=600)
    @given(transformations(text=text))
    def collect(transformation: Transformation) -> None:
        drawn.append(transformation)

    collect()
    names = {transformation.name.partition("(")[0] for transformation in drawn}
    # A drawn request is not sent to anybody, and nobody is fitted for it.
    sent_otherwise = {
        "ask_alone",
        "ask_after_another",
        "ask_elsewhere",
        "ask_in_one_batch",
    }
    every = {
        name
        for name in set(relations.__all__) - {"Transformation"} - sent_otherwise
        if all(each.training is None for each in usual_of(getattr(relations, name)))
    }
    assert (names == every) is text
    assert any("text" in transformation.needs for transformation in drawn) is text


@pytest.mark.parametrize(
    ("draw", "sizes"),
    [
        (profiles, {"min_size": 3, "max_size": 2}),
        (profiles, {"min_size": -1}),
        (requests, {"min_history": 5, "max_history": 4}),
        (requests, {"min_candidates": 0}),
        (requests, {"max_candidates": 3, "k": 4}),
        (requests, {"k": 0}),
    ],
)
def test_impossible_sizes_are_refused_when_they_are_written(
    draw: Callable[..., Any],
    sizes: dict[str, int],
) -> None:
    with pytest.raises(ValueError, match=r"needs sizes from|k must be"):
        draw(**sizes)


def test_nothing_is_loaded_before_the_first_example() -> None:
    code = (
        "from pytest_recsys_mt import strategies\n"
        "drawn = strategies.requests('no-such-data'), strategies.profiles('no-such-data')\n"
        "print(strategies._loaded.cache_info().currsize)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "0"
