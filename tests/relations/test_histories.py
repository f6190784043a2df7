"""The relations that change what is told of the past."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pytest_recsys_mt import NotApplicable, RelationError, relations
from pytest_recsys_mt.relations import Transformation
from pytest_recsys_mt.requests import Item, Rating, Request, Scale, World
from tests.relations.examples import CATALOGUE, HALF, WORLD, request, requests

SEEDS = st.integers(0, 2**32)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def opinions(source: Request) -> list[tuple[str, float]]:
    return [(rating.item.id, rating.value) for rating in source.history]


def items(source: Request) -> list[Item]:
    return [rating.item for rating in source.history]


@given(source=requests(min_history=2), seed=SEEDS)
def test_reorder_moves_items_and_not_moments(source: Request, seed: int) -> None:
    followup = relations.reorder_history(source, rng(seed))
    assert sorted(opinions(followup)) == sorted(opinions(source))
    assert opinions(followup) != opinions(source)
    before, after = source.history, followup.history
    assert [rating.timestamp for rating in after] == [
        rating.timestamp for rating in before
    ]


def test_every_new_order_is_as_likely() -> None:
    source = request(items=(0, 1, 2))
    orders = Counter(
        tuple(opinions(relations.reorder_history(source, rng(seed))))
        for seed in range(1_000)
    )
    assert len(orders) == 5
    assert min(orders.values()) > 150


@pytest.mark.parametrize("history", [(), (1,), (1, 1)])
def test_reorder_needs_something_to_reorder(history: tuple[int, ...]) -> None:
    with pytest.raises(NotApplicable, match="fewer than two different ratings"):
        relations.reorder_history(
            request(items=history, values=(2.0,) * len(history)),
            rng(),
        )


@given(source=requests(min_history=1))
def test_duplicate_tells_the_same_story_earlier(source: Request) -> None:
    followup = relations.duplicate_history(source, rng())
    size = len(source.history)
    assert followup.history[size:] == source.history
    assert opinions(followup)[:size] == opinions(source)
    earlier = [rating.timestamp for rating in followup.history[:size]]
    moments = [rating.timestamp for rating in source.history]
    if moments[0] is not None and earlier[-1] is not None:
        assert earlier[-1] < moments[0]
        assert np.diff(earlier).tolist() == np.diff(moments).tolist()  # type: ignore[arg-type]


@given(source=requests(min_history=2), seed=SEEDS, data=st.data())
def test_drop_leaves_the_others_in_order(
    source: Request,
    seed: int,
    data: st.DataObject,
) -> None:
    n = data.draw(st.integers(1, len(source.history) - 1))
    followup = relations.drop_history(n)(source, rng(seed))
    assert len(followup.history) == len(source.history) - n
    rest = iter(source.history)
    assert all(rating in rest for rating in followup.history)


def test_every_item_may_be_dropped() -> None:
    source = request(items=(0, 1, 2, 3))
    kept = Counter(
        item.id
        for seed in range(400)
        for item in items(relations.drop_history(1)(source, rng(seed)))
    )
    assert all(count == pytest.approx(300, abs=40) for count in kept.values())


@given(source=requests(min_history=2), data=st.data())
def test_truncate_keeps_the_latest(source: Request, data: st.DataObject) -> None:
    n = data.draw(st.integers(1, len(source.history) - 1))
    assert relations.truncate_history(n)(source, rng()).history == source.history[-n:]


@pytest.mark.parametrize(
    "factory",
    [relations.drop_history, relations.truncate_history],
)
def test_short_histories_are_counted_under_one_reason(
    factory: Callable[[int], Transformation],
) -> None:
    for size in (0, 1, 2, 3):
        with pytest.raises(
            NotApplicable,
            match=r"^the history has no more than 3 items$",
        ):
            factory(3)(request(items=tuple(range(size))), rng())
    factory(3)(request(items=(0, 1, 2, 3)), rng())


@given(source=requests(min_history=1), seed=SEEDS, n=st.integers(1, 10))
def test_noise_is_added_between_what_stays(source: Request, seed: int, n: int) -> None:
    followup = relations.noisy_profile(n)(source, rng(seed), WORLD)
    known = {rating.item.id for rating in source.history}
    known |= {item.id for item in source.candidates or ()}
    stray = [rating for rating in followup.history if rating not in source.history]
    assert tuple(rating for rating in followup.history if rating in source.history) == (
        source.history
    )
    assert len({rating.item.id for rating in stray}) == n
    assert not known & {rating.item.id for rating in stray}
    assert all(
        source.scale.low <= rating.value <= source.scale.high for rating in stray
    )
    steps = [(rating.value - source.scale.low) * 2 for rating in stray]
    assert all(step.is_integer() for step in steps)


@given(source=requests(min_history=3), seed=SEEDS)
def test_noise_as_in_the_paper_replaces(source: Request, seed: int) -> None:
    relation = relations.noisy_profile(2, paper=True)
    assert relation.name == "noisy_profile(2, paper=True)"
    followup = relation(source, rng(seed), WORLD)
    kept = [
        after == before
        for before, after in zip(source.history, followup.history, strict=True)
    ]
    assert kept.count(False) == 2
    moments = [rating.timestamp for rating in source.history]
    assert [rating.timestamp for rating in followup.history] == moments


def test_noise_comes_at_every_place_with_every_rating() -> None:
    source = request(items=(0, 1, 2))
    places: Counter[int] = Counter()
    values: Counter[float] = Counter()
    for seed in range(1_000):
        history = relations.noisy_profile(1)(source, rng(seed), WORLD).history
        (place,) = (
            at for at, rating in enumerate(history) if rating not in source.history
        )
        places[place] += 1
        values[history[place].value] += 1
    assert sorted(places) == [0, 1, 2, 3]
    assert min(places.values()) > 190
    assert sorted(values) == [1, 2, 3, 4, 5]
    assert min(values.values()) > 150


@pytest.mark.parametrize(
    ("values", "scale", "step"),
    [
        ((1.0, 4.0), Scale(1, 5), 1.0),
        ((1.5, 4.0), Scale(1, 5), 0.5),
        ((1.0, 4.0), Scale(0.5, 5), 0.5),
        ((0.0, 1.0), Scale(0, 1), 1.0),
    ],
)
def test_noise_is_rated_in_the_steps_of_the_user(
    values: tuple[float, ...],
    scale: Scale,
    step: float,
) -> None:
    source = request(items=(0, 1), values=values, scale=scale)
    drawn = {
        rating.value
        for seed in range(200)
        for rating in relations.noisy_profile(1)(source, rng(seed), WORLD).history
        if rating not in source.history
    }
    assert drawn == set(np.arange(scale.low, scale.high + step / 2, step).tolist())


def test_noise_on_a_fine_scale_is_continuous() -> None:
    source = request(items=(0, 1), values=(1.23, 4.0))
    stray = relations.noisy_profile(9)(source, rng(), WORLD).history
    values = {rating.value for rating in stray if rating not in source.history}
    assert len(values) == 9
    assert all(type(value) is float and 1 <= value <= 5 for value in values)


def test_noise_happens_between_its_neighbours() -> None:
    source = request(items=(0, 1))
    for seed in range(20):
        history = relations.noisy_profile(1)(source, rng(seed), WORLD).history
        (place,) = (
            at for at, rating in enumerate(history) if rating not in source.history
        )
        assert history[place].timestamp == {0: 1000, 1: 1030, 2: 1060}[place]


def test_noise_needs_a_larger_catalogue() -> None:
    source = request(items=(0, 1), candidates=(2, 3))
    world = World(catalogue=CATALOGUE[:6])
    relations.noisy_profile(2)(source, rng(), world)
    for world in (World(), World(catalogue=CATALOGUE[:5])):
        with pytest.raises(NotApplicable, match="too few items beyond"):
            relations.noisy_profile(2)(source, rng(), world)
    with pytest.raises(NotApplicable, match="no more than 2 items"):
        relations.noisy_profile(2, paper=True)(source, rng(), WORLD)


@given(source=requests(min_history=1), seed=SEEDS)
def test_swapped_histories_are_others_and_leak_nothing(
    source: Request,
    seed: int,
) -> None:
    try:
        followup = relations.swap_history(source, rng(seed), WORLD)
    except NotApplicable:
        assume(False)
    assert 0 < len(followup.history) <= len(source.history)
    assert not set(items(followup)) & set(source.candidates or ())
    shared = set(items(followup)) & set(items(source))
    assert len(shared) < len(followup.history) / 2
    offered = set(source.candidates or ())
    assert any(
        followup.history
        == tuple(rating for rating in donor if rating.item not in offered)[
            -len(source.history) :
        ]
        for name, donor in WORLD.histories.items()
        if name != source.user
    )


def _history(*positions: int, value: float = 3.0) -> tuple[Rating, ...]:
    return tuple(Rating(CATALOGUE[at], value) for at in positions)


def test_the_least_overlap_is_chosen() -> None:
    source = request(items=(0, 1, 2, 3), candidates=None)
    world = World(
        histories={
            "near": _history(0, 10, 11, 12),
            "far": _history(50, 51, 52, 53, 54),
            "same": _history(0, 1, 2, 3),
        },
    )
    for seed in range(10):
        followup = relations.swap_history(source, rng(seed), world)
        assert items(followup) == [CATALOGUE[at] for at in (51, 52, 53, 54)]


@pytest.mark.parametrize(
    "histories",
    [
        {},
        {"me": _history(50, 51, 52, 53)},
        {"same": _history(0, 1, 2, 3)},
        {"half": _history(0, 1, 50, 51)},
        {"short": _history(50)},
        {"offered": _history(20, 21, 22, 23)},
        {"off the scale": _history(50, 51, 52, 53, value=9.0)},
    ],
    ids=lambda histories: ",".join(histories) or "none",
)
def test_no_fit_donor(histories: dict[str, tuple[Rating, ...]]) -> None:
    source = request(items=(0, 1, 2, 3))
    with pytest.raises(NotApplicable, match="no other user has a history"):
        relations.swap_history(source, rng(), World(histories=histories))


@pytest.mark.parametrize("n", [0, -1, 1.5, "2", None, True])
@pytest.mark.parametrize(
    "factory",
    [
        relations.drop_history, relations.truncate_history, relations.noisy_profile,
        relations.add_irrelevant_candidates, relations.extend_list, relations.ask_k,
    ],
)  # fmt: skip
def test_impossible_numbers(factory: Callable[[int], Transformation], n: int) -> None:
    with pytest.raises(
        RelationError,
        match=rf"^{factory.__name__}: (n|k) must be an integer",
    ):
        factory(n)


def test_numbers_of_other_libraries_are_numbers() -> None:
    assert relations.drop_history(np.int64(2)).name == "drop_history(2)"  # type: ignore[arg-type]


def test_strays_come_from_the_whole_rest_of_the_catalogue() -> None:
    source = request(items=tuple(range(10)), candidates=tuple(range(10, HALF)))
    drawn = Counter(
        item.id
        for seed in range(400)
        for item in items(relations.noisy_profile(10)(source, rng(seed), WORLD))
        if CATALOGUE.index(item) >= HALF
    )
    assert len(drawn) == HALF
    assert all(count == pytest.approx(100, abs=45) for count in drawn.values())
