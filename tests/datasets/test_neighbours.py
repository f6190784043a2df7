"""The neighbours of items: the largest cosines of who
has them, found when they are read.
"""

from __future__ import annotations

from collections import defaultdict
from math import sqrt

import pandas as pd
import pytest

from pytest_recsys_mt.datasets import load
from tests.support.datasets import Neighbours, neighbours


def of(*users: str) -> Neighbours:
    """Users who have the items that are the letters of a word."""
    rows = [(f"u{place}", item) for place, had in enumerate(users) for item in had]
    return Neighbours(
        set("abcdefz"),
        pd.DataFrame(rows, columns=pd.Index(["user", "item"])),
    )


def test_they_are_the_largest_cosines_of_a_plain_reference() -> None:
    mini = load("mini")
    owners: dict[str, set[str]] = defaultdict(set)
    for user, item in zip(
        mini.interactions["user"],
        mini.interactions["item"],
        strict=True,
    ):
        owners[item].add(user)
    for item in sorted(mini.items)[::40]:
        shared = {
            each: len(owners[item] & owners[each])
            for each in mini.items
            if each != item
        }
        cosine = {
            each: round(count / sqrt(len(owners[item]) * len(owners[each])), 9)
            for each, count in shared.items()
            if count >= neighbours.LEAST_SHARED
        }
        near = mini.neighbours[item]
        assert item not in near
        assert len(near) == min(len(cosine), neighbours.NEAREST)
        best = sorted(cosine.values(), reverse=True)[: len(near)]
        assert [cosine[each] for each in near] == best


def test_one_common_user_makes_no_neighbours() -> None:
    assert of("ab", "ab", "ac")["a"] == ("b",)
    assert of("ab", "ac")["a"] == ()


def test_equal_cosines_are_in_the_order_of_ids_whatever_that_of_the_data() -> None:
    assert of("abc", "acb")["a"] == of("cba", "bca")["a"] == ("b", "c")


def test_the_rarer_of_two_with_as_many_common_users_is_nearer() -> None:
    assert of("abc", "abc", "b", "b", "d")["a"] == ("c", "b")


def test_an_item_that_nobody_has_has_none_and_an_unknown_one_is_no_key() -> None:
    assert of("ab")["z"] == ()
    assert "nowhere" not in of("ab")
    assert of("ab").get("nowhere", ()) == ()
    assert len(of("ab")) == len(list(of("ab"))) == 7


def test_of_very_many_users_some_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbours, "MOST_USERS", 10)
    found = of(*["ab", "ac"] * 100, "ad")
    assert set(found["a"]) <= {"b", "c"}
    assert found["b"] == ("a",)


def test_data_that_nobody_asks_for_neighbours_cost_nothing() -> None:
    known = load("mini").without({}).neighbours
    assert "_tables" not in vars(known)
    assert known != load("mini").neighbours, "to compare would find all of them"
