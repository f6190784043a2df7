"""Hypothesis strategies: requests, profiles and transformations for property tests of a
recommender.

    from hypothesis import given
    from pytest_recsys_mt.strategies import reproducible, requests

    @reproducible
    @given(request=requests())
    def test_the_order_of_the_history_is_irrelevant(recsys, request):
        backwards = request.replace(history=request.history[::-1])
        first, second = recsys.ask(request, backwards)
        assert first.items == second.items

`recsys.ask` uses the cache, so an example has the same outcome on every try. A failing
request shrinks to few history items, low ratings and few candidates, even if the
recommender is stochastic. A claim that holds only for the mean user is not a property
of every request: leave it to `@metamorphic` and a verdict.
"""

from __future__ import annotations

import functools
import itertools
import operator
from typing import TYPE_CHECKING, NamedTuple

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from pytest_recsys_mt import relations
from pytest_recsys_mt.datasets import load
from pytest_recsys_mt.relations import Transformation
from pytest_recsys_mt.relations.transformation import usual_of
from pytest_recsys_mt.requests import Item, Rating, Request, Scale

__all__ = ["profiles", "reproducible", "requests", "transformations"]

if TYPE_CHECKING:
    from pytest_recsys_mt.datasets.dataset import Dataset

USER = "anybody"
"""The user of every drawn request; recommenders answer
for the history, not for this name.
"""

LONGEST_GAP = 30 * 24 * 3600
"""Most seconds between two ratings of a profile."""

reproducible = settings(
    deadline=None,
    derandomize=True,
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
"""Settings for property tests that use `recsys`, as a decorator above `@given`.

The examples are the same in every run, so a second run finds all answers in the cache.
Examples have no time limit, because the first ones pay for training and for the calls.
One `recsys` serves all examples of a test; no example changes it, so Hypothesis's
warning about this is off. A failing example is shrunk, and not examined further. Change
more with ``settings(reproducible, max_examples=20)``.
"""


class _Ground(NamedTuple):
    """The parts of a dataset that examples are drawn from.

    Attributes:
        items: The catalogue, the most popular first.
        values: The ratings that occur, lowest first: the steps of the scale.
        scale: The scale of the ratings.
        start: Time of the first interaction, in Unix seconds.
    """

    items: tuple[Item, ...]
    values: tuple[float, ...]
    scale: Scale
    start: int


def profiles(
    dataset: Dataset | str = "mini",
    *,
    min_size: int = 1,
    max_size: int = 20,
) -> st.SearchStrategy[tuple[Rating, ...]]:
    """Histories: distinct items of the catalogue, rated in the steps of the data,
    oldest first.

    They shrink to fewer items, to popular items and to low ratings.

    Args:
        dataset: A dataset, or a value of ``--recsys-data``, loaded when the first
            example is drawn. A recommender knows only the items of the dataset it was
            trained on.
        min_size: Fewest items.
        max_size: Most items.

    Raises:
        ValueError: If the sizes are negative or in the wrong order.
    """
    _require("profile", 0, min_size, max_size)
    return st.deferred(lambda: _profiles(_ground(dataset), min_size, max_size))


def requests(
    dataset: Dataset | str = "mini",
    *,
    min_history: int = 1,
    max_history: int = 20,
    min_candidates: int = 2,
    max_candidates: int = 20,
    k: int | None = None,
) -> st.SearchStrategy[Request]:
    """Requests: a profile, and candidates to choose from that are not in it.

    They shrink to fewer history items, fewer candidates, low ratings and a small `k`.

    Args:
        dataset: As in `profiles`.
        min_history: Fewest items in the history.
        max_history: Most items in the history.
        min_candidates: Fewest candidates.
        max_candidates: Most candidates; 0 leaves the choice to the whole catalogue.
        k: Length of the answer; if None, from 1 to the number of candidates (to 10 for
            the whole catalogue). Requests have at least `k` candidates.

    Raises:
        ValueError: If sizes are negative, in the wrong order, or smaller than `k`.
    """
    _require("history", 0, min_history, max_history)
    if k is not None and k < 1:
        raise ValueError(f"k must be at least 1, got {k!r}")
    if max_candidates:
        min_candidates = max(min_candidates, k or min_candidates)
        _require("candidates", 1, min_candidates, max_candidates)
    sizes = min_candidates, max_candidates

    def strategy() -> st.SearchStrategy[Request]:
        ground = _ground(dataset)
        return _requests(ground, _profiles(ground, min_history, max_history), sizes, k)

    return st.deferred(strategy)


def transformations(*, text: bool = False) -> st.SearchStrategy[Transformation]:
    """The transformations of `pytest_recsys_mt.relations`, with usual arguments.

    It leaves out those that change how a request is sent, such as `ask_alone`, or the
    data that the recommender is fitted to, such as `permute_rows`.

    Apply one with a generator, and with a `World` if it draws on other items or users.
    It raises `NotApplicable` for requests that it cannot serve: then call
    ``hypothesis.reject()``.

    Args:
        text: Whether to draw also those that change only the text of a prompt.
    """
    usual = [
        each
        for name in relations.__all__
        for each in usual_of(getattr(relations, name))
    ]
    return st.sampled_from(
        [
            each
            for each in usual
            if each.asked == "together"
            and each.training is None
            and (text or "text" not in each.needs)
        ],
    )


@functools.lru_cache(maxsize=4)
def _loaded(name: str) -> _Ground:
    return _ground_of(load(name))


def _ground(dataset: Dataset | str) -> _Ground:
    return _loaded(dataset) if isinstance(dataset, str) else _ground_of(dataset)


def _ground_of(dataset: Dataset) -> _Ground:
    popularity = dataset.popularity
    frame = dataset.interactions
    return _Ground(
        tuple(
            sorted(
                dataset.items.values(),
                key=lambda item: (-popularity[item.id], item.id),
            ),
        ),
        tuple(sorted({float(value) for value in frame["rating"].unique()})),
        dataset.scale,
        int(frame["timestamp"].min()),
    )


def _profiles(
    ground: _Ground,
    least: int,
    most: int,
) -> st.SearchStrategy[tuple[Rating, ...]]:
    # Items are drawn by their position, which compares faster than an item.
    places = st.sampled_from(range(len(ground.items)))
    parts = st.tuples(
        places,
        st.sampled_from(ground.values),
        st.integers(1, LONGEST_GAP),
    )

    def rated(drawn: list[tuple[int, float, int]]) -> tuple[Rating, ...]:
        times = itertools.accumulate((gap for _, _, gap in drawn), initial=ground.start)
        return tuple(
            Rating(ground.items[place], value, time + gap)
            for (place, value, gap), time in zip(drawn, times, strict=False)
        )

    most = min(most, len(ground.items))
    return st.lists(
        parts,
        min_size=least,
        max_size=most,
        unique_by=operator.itemgetter(0),
    ).map(rated)


@st.composite
def _requests(
    draw: st.DrawFn,
    ground: _Ground,
    history: st.SearchStrategy[tuple[Rating, ...]],
    candidates: tuple[int, int],
    k: int | None,
) -> Request:
    profile = draw(history)
    offered: list[Item] | None = None
    if candidates[1]:
        seen = {rating.item.id for rating in profile}
        free = [place for place, item in enumerate(ground.items) if item.id not in seen]
        least, most = candidates[0], min(candidates[1], len(free))
        places = st.lists(
            st.sampled_from(free),
            min_size=least,
            max_size=most,
            unique=True,
        )
        offered = [ground.items[place] for place in draw(places)]
    if k is None:
        k = draw(st.integers(1, 10 if offered is None else len(offered)))
    return Request(
        user=USER,
        history=profile,
        scale=ground.scale,
        candidates=None if offered is None else tuple(offered),
        k=k,
    )


def _require(what: str, floor: int, least: int, most: int) -> None:
    if not floor <= least <= most:
        raise ValueError(
            f"a {what} needs sizes from {floor} up, the smaller one first, got {least!r} to {most!r}",
        )
