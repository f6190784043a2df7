"""Which item a relation on preferences changes, and how."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from pytest_recsys_mt import NotApplicable, RelationError, relations
from pytest_recsys_mt.relations import Transformation
from pytest_recsys_mt.requests import Item, Rating, Request, Scale, World

NEAR = World(
    neighbours={"a": ("x",), "b": ("x", "y"), "c": ("x", "y", "d"), "d": ("p", "q")},
)


def asked(
    history: Sequence[tuple[str, float]],
    offered: str | None = "xyz",
    timed: bool = False,
) -> Request:
    rated = tuple(
        Rating(Item(item), value, 100 + at if timed else None)
        for at, (item, value) in enumerate(history)
    )
    candidates = None if offered is None else tuple(map(Item, offered))
    return Request("me", rated, Scale(1, 5), candidates, k=2)


def changed(
    relation: Transformation,
    request: Request,
    world: World = NEAR,
) -> list[str]:
    followup = relation(request, np.random.default_rng(0), world)
    return [f"{rating.item.id}{rating.value:g}" for rating in followup.history]


def test_it_raises_the_item_that_says_most() -> None:
    assert changed(relations.raise_rating, asked([("a", 2), ("b", 2)])) == ["a2", "b5"]
    # Two neighbours and one point to rise say less than one neighbour and three points.
    assert changed(relations.raise_rating, asked([("a", 2), ("b", 4)])) == ["a5", "b4"]
    assert changed(relations.raise_rating, asked([("a", 5), ("b", 5), ("d", 1), ("a", 4)])) == [
        "a5", "b5", "d1", "a5",
    ]  # fmt: skip


def test_what_is_disliked_is_disliked_with_its_like() -> None:
    history = [("a", 3), ("c", 4), ("d", 5)]
    assert changed(relations.dislike_item, asked(history)) == ["a3", "c1", "d1"]
    assert changed(relations.forget_item, asked(history)) == ["a3"]


def test_a_candidate_that_is_known_is_no_neighbour() -> None:
    request = asked([("a", 3), ("d", 3)], None).replace(seen=("p", "q"))
    assert changed(relations.forget_item, request) == ["d3"]


def test_the_item_moves_to_the_end_with_the_time_of_the_latest() -> None:
    request = asked([("b", 4), ("a", 3), ("b", 2), ("d", 1)], timed=True)
    followup = relations.choose_again(request, np.random.default_rng(0), NEAR)
    assert [(each.item.id, each.value, each.timestamp) for each in followup.history] == [
        ("a", 3, 101), ("d", 1, 103), ("b", 2, 103),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("relation", "history", "why"),
    [
        (relations.raise_rating, [], "the history is empty"),
        (relations.raise_rating, [("a", 5)], "no rating of the history can be changed"),
        (relations.dislike_item, [("a", 1)], "no rating of the history can be changed"),
        (relations.forget_item, [("d", 4)], "no neighbour of such an item is offered"),
        (relations.forget_item, [("c", 4), ("d", 4)], "no other item would stay"),
        (relations.choose_again, [("a", 4)], "no rating of the history can be changed"),
        (relations.drop_dislikes, [("a", 4), ("b", 3)], "on one side of the middle"),
        (relations.drop_dislikes, [("a", 2)], "on one side of the middle"),
    ],
)
def test_it_says_why_a_request_cannot_be_served(
    relation: Transformation,
    history: Sequence[tuple[str, float]],
    why: str,
) -> None:
    with pytest.raises(NotApplicable, match=why):
        changed(relation, asked(history))


def of_genres(*genres: Sequence[str], k: int = 2) -> Request:
    offered = tuple(
        Item(str(place), attributes={"genres": each})
        for place, each in enumerate(genres)
    )
    return Request("me", (), Scale(1, 5), offered, k)


def excluded(request: Request) -> str:
    return relations.exclude_genre(
        request,
        np.random.default_rng(0),
        World(),
    ).instruction


def test_enough_is_left_to_recommend() -> None:
    request = of_genres(("War", "Drama"), ("War",), ("War", "Drama"), (), ())
    assert excluded(request) == 'Recommend nothing of the genre "War".'
    assert excluded(request.replace(k=3)) == 'Recommend nothing of the genre "Drama".'
    with pytest.raises(NotApplicable, match="leaves enough to recommend"):
        excluded(request.replace(k=5))


def test_an_earlier_instruction_stays_and_none_is_given_twice() -> None:
    request = of_genres(("War",), (), ()).replace(instruction="Be brief.")
    assert excluded(request) == 'Be brief. Recommend nothing of the genre "War".'
    with pytest.raises(NotApplicable, match="already"):
        excluded(request.replace(instruction=excluded(request)))


def test_an_open_question_excludes_what_the_user_had_most_of() -> None:
    history = tuple(
        Rating(Item(str(place), attributes={"genres": (genre,)}), 3)
        for place, genre in enumerate(("War", "Drama", "Drama"))
    )
    request = Request("me", history, Scale(1, 5), None, 2)
    assert excluded(request) == 'Recommend nothing of the genre "Drama".'


def test_a_promise_that_there_is_not_is_refused() -> None:
    with pytest.raises(RelationError, match="promised must be 'ratings'"):
        Transformation(
            "mine",
            apply=lambda request, rng, world: request,
            promised="recent",  # type: ignore[arg-type]
        )


def test_an_exception_for_a_promise_that_there_is_not_is_refused() -> None:
    with pytest.raises(RelationError, match="unless must be 'ratings'"):
        Transformation(
            "mine",
            apply=lambda request, rng, world: request,
            unless=("order", "recent"),  # type: ignore[arg-type]
        )
