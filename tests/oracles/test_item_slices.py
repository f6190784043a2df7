"""Verdicts judge groups of items beside all users."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest

from benchmarks.calibration import bound
from pytest_recsys_mt import OracleError, Verdict, oracles
from pytest_recsys_mt.oracles import (
    few_items_lost,
    not_worse,
    same_hits,
    same_order,
    same_ranking,
    self_agreement,
)
from pytest_recsys_mt.requests import Item, Recommendation
from pytest_recsys_mt.verdict.answers import Asked, Context
from tests.oracles.support import FakeAnswers, ask, plackett_luce
from tests.support.oracles_judging import (
    TAKEN_BY,
    divided,
    effects_of_items,
    item_groups_of,
    listed,
    popularity_groups,
    require_item_slicings,
    similarity_effects,
)
from tests.support.oracles_similarities import similarity_named

HEADS = [f"h{number}" for number in range(10)]
TAILS = [f"t{number}" for number in range(20)]
COUNTS = {**dict.fromkeys(HEADS, 100), **dict.fromkeys(TAILS, 1), "new": 0}
CATALOGUE = {
    name: Item(
        name, f"Film {name}", 2000, {"genres": ("Drama", "War")[: 1 + place % 2]}
    )
    for place, name in enumerate([*HEADS, *TAILS])
} | {"new": Item("new", "Film new", 2026)}
TAIL = ["items:popularity"]


def known(**context: Any) -> Context:
    facts = {"deterministic": True, "items": CATALOGUE, "popularity": COUNTS}
    return Context(**{**facts, **context})


def sides(
    before: Sequence[Sequence[str]],
    after: Sequence[Sequence[str]],
    relevant: Sequence[str] = (),
    **context: Any,
) -> tuple[FakeAnswers, FakeAnswers]:
    """One answer a side of each user."""
    facts = known(**context)
    return tuple(  # type: ignore[return-value]
        FakeAnswers(ask([[each] for each in lists], 10, None, relevant), facts, label)
        for lists, label in ((before, ""), (after, "changed"))
    )


def tail_replaced(users: int = 80) -> tuple[list[list[str]], list[list[str]]]:
    """Lists of nine head items and, for every second user, of one tail item last, in
    whose place there is another one afterwards.
    """
    before, after = [], []
    for place in range(users):
        last, other = ("t0", "t1") if place % 2 else (HEADS[9], HEADS[9])
        before.append([*HEADS[:9], last])
        after.append([*HEADS[:9], other])
    return before, after


def group(verdict: Verdict, value: str) -> Any:
    (found,) = [each for each in verdict.slices if each.value == value]
    return found


def test_popularity_divides_by_shares_of_the_interactions() -> None:
    counts = {"cold": 0, "a": 1, "b": 1, "c": 2, "d": 6, "e": 10, "f": 20, "g": 10}
    # 50 interactions: the tail may hold 10, and has 1 + 1 + 2 + 6; the head holds 20 alone.
    assert popularity_groups(counts) == {
        "cold": {"cold"},
        "tail": {"a", "b", "c", "d"},
        "middle": {"e", "g"},
        "head": {"f"},
    }
    # Items with equal numbers stay together, although they hold more than a fifth.
    assert popularity_groups({"a": 5, "b": 5}) == {"tail": {"a", "b"}}


def test_an_attribute_divides_items_and_rare_values_are_one_group() -> None:
    assert {value: len(of) for value, of in divided("items:genres", "it", known()).items()} == {
        "Drama": 30,
        "War": 15,
    }  # fmt: skip
    brands = {
        f"i{place}": Item(f"i{place}", "Film", None, {"brand": place // 2 if place < 20 else f"b{place}"})
        for place in range(25)
    }  # fmt: skip
    found = divided("items:brand", "it", known(items=brands))
    assert len(found) == 11
    assert found["0"] == {"i0", "i1"}
    assert found["others"] == {f"i{place}" for place in range(20, 25)}


def test_a_change_of_tail_items_alone_is_found_and_named() -> None:
    before, after = tail_replaced()
    alone = same_ranking(*sides(before, after), margin=0.1)
    assert alone.status == "holds"
    found = same_ranking(*sides(before, after), margin=0.1, slices=TAIL)
    assert found.status == "violated"
    assert found.broken is not None
    assert (found.broken.slicing, found.broken.value) == ("items:popularity", "tail")
    assert group(found, "tail").estimate == pytest.approx(1)
    assert group(found, "head").estimate == pytest.approx(0)
    assert group(found, "cold").users == 0
    assert "is violated for items of popularity tail: the loss" in found.summary
    assert "for all users it is" in found.summary
    # Whoever has nothing of a group is counted, and said.
    counted = group(found, "tail").users
    assert (
        f"without any of items:popularity: cold {found.users}, tail {found.users - counted}"
        in found.summary
    )
    assert all(each.followup[-1] == "Film t1 (2000)" for each in found.examples[:3])


def test_held_out_items_are_judged_by_their_group() -> None:
    before, after = tail_replaced()
    relevant = ["h0", "t0"]
    found = same_hits(*sides(before, after, relevant), margin=0.4, slices=TAIL)
    # Everybody keeps the hit of h0; half of the users lose that of t0.
    assert found.estimate == 0
    assert group(found, "head").estimate == 0
    assert group(found, "tail").estimate == pytest.approx(0.5, abs=0.1)
    worse = not_worse(*sides(before, after, ["t0"]), "hit@10", 0.1, slices=TAIL)
    assert [each.status for each in worse.slices[1:]].count("violated") == 1


def test_a_stage_may_lose_the_items_of_one_group() -> None:
    before = [[*HEADS[:9], "t0"]] * 60
    after = [[*HEADS, *TAILS[1:]]] * 60  # longer than what was asked for
    found = few_items_lost(*sides(before, after), margin=0.2, slices=TAIL)
    assert found.estimate == pytest.approx(0.1)
    assert group(found, "tail").estimate == 1
    assert group(found, "head").estimate == 0


def test_the_part_of_a_list_keeps_its_order_and_is_as_long_as_the_longest() -> None:
    source, followup = (
        Asked(ask([[["x"]]], k=4)[0].request, tuple(map(Recommendation, lists)))
        for lists in (
            [
                ("a", "x", "b", "a", "y", "c"),
                ("x", "b"),
            ],  # c stands behind what was asked for
            [("b", "x", "y", "z", "a"), ("x",)],
        )
    )
    part = listed(source, followup, {"a", "b", "c"})
    assert part is not None
    assert [each.items for each in part[0].answers] == [("a", "b"), ("b",)]
    assert [each.items for each in part[1].answers] == [("b",), ()]
    assert part[0].request.k == part[1].request.k == 2
    assert listed(source, followup, {"q"}) is None


ITEMS = {f"i{place}": Item(f"i{place}", "Film", 2000) for place in range(30)}
NOISY = known(
    deterministic=False,
    alone=True,  # how many users would be enough takes most of the time
    items=ITEMS,
    popularity={name: 300 // (1 + place) for place, name in enumerate(ITEMS)},
)
"""The tail are the items from i13 on."""


def noisy(run: int, users: int, *, broken: bool) -> Verdict:
    """A verdict on two draws of noisy rankings; of a broken recommender, the tail items
    of the second are others.
    """
    rng = np.random.default_rng(run)
    utilities = -0.1 * np.arange(30) + rng.normal(size=(users, 30))
    before, after = (plackett_luce(utilities, 2, 0.3, rng, 10) for _ in range(2))
    if broken:
        swapped = {f"i{13 + place}": f"i{13 + (place + 8) % 17}" for place in range(17)}
        after = [
            [[swapped.get(item, item) for item in answer] for answer in answers]
            for answers in after
        ]
    # For two draws of one distribution the limit is next to the true mean, 0.
    return same_ranking(
        FakeAnswers(ask(before, 10), NOISY),
        FakeAnswers(ask(after, 10), NOISY, "changed"),
        margin=0.2 if broken else 0.001,
        slices=TAIL,
    )


def test_a_sound_noisy_recommender_is_red_in_at_most_alpha_of_the_runs() -> None:
    runs = 200
    made = [noisy(run, 20, broken=False) for run in range(runs)]
    red = sum(each.status == "violated" for each in made)
    assert all(group(each, "tail").users > 10 for each in made)
    assert red / runs <= bound(runs, 0.05, 1)


def test_a_noisy_recommender_that_changes_its_tail_is_found() -> None:
    for run in range(5):
        made = noisy(run, 150, broken=True)
        assert made.broken is not None
        assert made.broken.value == "tail"
        assert group(made, "head").status != "violated"


def test_users_of_whom_nothing_is_known_count_at_both_ends_of_every_group() -> None:
    before, after = tail_replaced(6)  # every second user has a tail item
    source, followup = sides(before, after)
    pairs = source.pair(followup)
    (tail,) = [
        each
        for each in item_groups_of(TAIL, "it", listed, known())
        if each.value == "tail"
    ]
    rank = partial(similarity_effects, similarity=similarity_named("rbo", ("rbo",)))
    (found,) = effects_of_items([tail], listed, pairs, known(), rank)
    users = [asked.user for asked in pairs.source]
    assert [users[row] for row in found.effects.rows] == ["u1", "u3", "u5"]
    assert found.absent == 3
    # Between u1 and u3 stands one who failed, and who may have been shown a tail item.
    order = ["u0", "u1", "lost", *users[2:]]
    effects = found.with_unknown({"lost"}, users, order)
    assert (effects.unknown, effects.unknown_users) == ((1,), ("lost",))
    assert effects.of_all.lower(0.05) < found.effects.of_all.lower(0.05)


def test_oracles_without_such_a_number_say_so() -> None:
    source, followup = sides(*tail_replaced())
    with pytest.raises(OracleError, match="'items:popularity'") as caught:
        same_order(source, followup, slices=["taste", "items:popularity"])
    assert TAKEN_BY in str(caught.value)
    with pytest.raises(OracleError, match="self_agreement"):
        self_agreement(source, slices=TAIL)
    # Those of the run are for all tests: the verdict says which it does not judge.
    of_run = sides(*tail_replaced(), slices=("items:popularity",))
    made = same_order(*of_run)
    assert "not judged by items:popularity: same_order:kendall has no" in made.summary
    assert not made.slices
    assert len(same_ranking(*of_run).slices) == 4


def test_every_oracle_that_the_error_names_takes_items() -> None:
    source, followup = sides(*tail_replaced(), relevant=["h0", "t0"])
    names = [
        name
        for name in oracles.__all__
        if f"{name}" in TAKEN_BY.replace(",", " ").split()
    ]
    assert len(names) == 10
    for name in names:
        made = getattr(oracles, name)(source, followup, slices=TAIL)
        assert [each.value for each in made.slices] == [
            "all users",
            "cold",
            "tail",
            "head",
        ]


def test_items_that_cannot_be_divided_are_an_error_with_the_choices() -> None:
    with pytest.raises(OracleError, match=r"'items:gnres'.*did you mean 'genres'"):
        same_ranking(*sides(*tail_replaced()), slices=["items:gnres"])
    with pytest.raises(OracleError, match="no training interactions are known"):
        same_ranking(*sides(*tail_replaced(), popularity={}), slices=TAIL)
    with pytest.raises(OracleError, match="choose from popularity, genres"):
        require_item_slicings(["items:popularity", "items:x"], CATALOGUE)


def test_items_in_no_group_are_counted() -> None:
    made = same_ranking(*sides(*tail_replaced()), slices=["items:genres"])
    assert "1 of 31 items are in no group of items:genres" in made.summary
