"""The sparse implementations against the formulas, written out in plain Python."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from pytest_recsys_mt.datasets import Dataset
from tests.recommenders.data import SCALE, ask, fitted, requests, simulate, table
from tests.support.recommenders import LEAST_WEIGHT

Profiles = dict[str, dict[str, dict[str, float]]]
"""Weights by kind, user and item."""


def weight(value: float, kind: str) -> float:
    return (
        1.0
        if kind == "binary"
        else LEAST_WEIGHT + (1 - LEAST_WEIGHT) * SCALE.unit(value)
    )


def cosine(one: dict[str, float], other: dict[str, float]) -> float:
    product = sum(one[key] * other[key] for key in one.keys() & other.keys())
    return (
        round(product / (math.hypot(*one.values()) * math.hypot(*other.values())), 10)
        if product
        else 0
    )


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return simulate()


@pytest.fixture(scope="module")
def by_user(dataset: Dataset) -> Profiles:
    return {
        kind: {
            user: {rating.item.id: weight(rating.value, kind) for rating in history}
            for user, history in dataset.histories.items()
        }
        for kind in ("ratings", "binary")
    }


@pytest.mark.parametrize("kind", ["ratings", "binary"])
@pytest.mark.parametrize("neighbours", [1, 4, 30])
def test_itemknn_sums_the_cosines_of_each_history_items_neighbours(
    dataset: Dataset,
    by_user: Profiles,
    kind: str,
    neighbours: int,
) -> None:
    columns: dict[str, dict[str, float]] = {item: {} for item in dataset.items}
    for user, profile in by_user[kind].items():
        for item, value in profile.items():
            columns[item][user] = value
    nearest = {}
    for item in dataset.items:
        others = {
            other: cosine(columns[item], columns[other])
            for other in dataset.items
            if other != item
        }
        order = sorted(others, key=lambda x: (-others[x], -dataset.popularity[x], x))
        nearest[item] = {other: others[other] for other in order[:neighbours]}
    knn = fitted(f"itemknn?neighbours={neighbours}&weights={kind}", dataset)
    scores = knn.score(requests(dataset))
    for row, profile in zip(scores, by_user[kind].values(), strict=True):
        expected = [
            sum(value * nearest[item].get(other, 0) for item, value in profile.items())
            for other in knn.catalogue.ids
        ]
        np.testing.assert_allclose(row, expected, atol=2e-10)


@pytest.mark.parametrize("kind", ["ratings", "binary"])
@pytest.mark.parametrize("neighbours", [1, 4, 30])
def test_userknn_sums_the_profiles_of_the_nearest_users(
    dataset: Dataset,
    by_user: Profiles,
    kind: str,
    neighbours: int,
) -> None:
    knn = fitted(f"userknn?neighbours={neighbours}&weights={kind}", dataset)
    scores = knn.score(requests(dataset))
    for row, profile in zip(scores, by_user[kind].values(), strict=True):
        likeness = {
            user: cosine(profile, other) for user, other in by_user[kind].items()
        }
        nearest = sorted(likeness, key=lambda user: (-likeness[user], user))[
            :neighbours
        ]
        expected = [
            sum(likeness[user] * by_user[kind][user].get(item, 0) for user in nearest)
            for item in knn.catalogue.ids
        ]
        np.testing.assert_allclose(row, expected, atol=2e-10)


@pytest.mark.parametrize(
    ("k1", "b"),
    [(1.5, 0.75), (0.0, 0.75), (2.0, 0.0), (1.2, 1.0)],
)
def test_bm25_is_okapi_over_titles_and_attributes(
    dataset: Dataset,
    by_user: Profiles,
    k1: float,
    b: float,
) -> None:
    documents = {
        item.id: re.findall(
            r"\w+",
            f"{item.title} {item.attributes['logline']}".casefold(),
        )
        + [f"<{genre}>" for genre in item.attributes["genres"]]
        for item in dataset.items.values()
    }
    count = len(documents)
    mean = sum(map(len, documents.values())) / count

    def okapi(term: str, item: str) -> float:
        spread = sum(term in document for document in documents.values())
        often = documents[item].count(term)
        length = k1 * (1 - b + b * len(documents[item]) / mean)
        return (
            math.log(1 + (count - spread + 0.5) / (spread + 0.5))
            * often
            * (k1 + 1)
            / (often + length)
        )

    weights = {
        (t, i): okapi(t, i) for i, document in documents.items() for t in document
    }
    bm25 = fitted(f"bm25?k1={k1}&b={b}", dataset)
    some = requests(dataset)[:10]
    for row, request in zip(bm25.score(some), some, strict=True):
        profile = by_user["ratings"][request.user]
        expected = [
            sum(
                value * weights.get((term, item), 0)
                for asked, value in profile.items()
                for term in set(documents[asked])
            )
            for item in bm25.catalogue.ids
        ]
        np.testing.assert_allclose(row, expected, atol=1e-8)


def test_mostpop_counts_interactions_and_not_ratings() -> None:
    data = table(("u", "b", 0.5), ("v", "b", 0.5), ("u", "c", 5), ("w", "a", 5))
    assert fitted("mostpop", data).recommend([ask(("f", 5), k=6)])[0].items == (
        "b",
        "a",
        "c",
        "d",
        "e",
    )


def test_a_low_rating_counts_less_than_a_high_one() -> None:
    data = table(("u", "a", 5), ("u", "b", 5), ("v", "c", 5), ("v", "d", 5))
    for spec in ("itemknn", "userknn"):
        knn = fitted(spec, data)
        assert knn.recommend([ask(("a", 5), ("c", 1), k=1)])[0].items == ("b",)
        assert knn.recommend([ask(("a", 1), ("c", 5), k=1)])[0].items == ("d",)


def test_binary_weights_ignore_ratings() -> None:
    data = simulate()
    for name in ("itemknn", "userknn", "bm25"):
        recommender = fitted(f"{name}?weights=binary", data)
        low, high = ask(("i1", 1), ("i2", 5)), ask(("i1", 5), ("i2", 2))
        scores = recommender.score([low, high])
        assert (scores[0] == scores[1]).all()
        mixed = fitted(name, data).score([low, high])
        assert (mixed[0] != mixed[1]).any()


def test_a_director_matches_a_director_only() -> None:
    data = table(("u", "a", 5))
    items = {
        "a": data.items["a"],
        "b": type(data.items["b"])("b", "", None, {"directors": ("Clint Eastwood",)}),
        "c": type(data.items["c"])("c", "", None, {"directors": ("Clint Eastwood",)}),
        "d": type(data.items["d"])("d", "", None, {"cast": ("Clint Eastwood",)}),
        "e": type(data.items["e"])(
            "e",
            "",
            None,
            {"image": "clint eastwood", "runtime": 120},
        ),
    }
    bm25 = fitted("bm25", type(data)("people", items, data.interactions, SCALE))
    scores = dict(zip(bm25.catalogue.ids, bm25.score([ask(("b", 5))])[0], strict=True))
    assert scores["c"] > 0
    assert scores["a"] == scores["d"] == scores["e"] == 0
