"""EASE, iALS and RP3beta against what they minimise or
count, computed without their formulas.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pytest_recsys_mt import RecommenderError
from pytest_recsys_mt.datasets import Dataset
from pytest_recsys_mt.requests import Item
from tests.recommenders.data import ask, fitted, requests, simulate
from tests.support.recommenders import (
    IALS,
    Floats,
    ScoringRecommender,
    ease,
    ials,
    random_walk,
    weigh,
)

FEW, MANY = simulate(), simulate(users=90, items=50)
"""Fewer users than items, and the other way round."""
either = pytest.mark.parametrize(
    "dataset",
    [FEW, MANY],
    ids=["few users", "many users"],
)
weighed = pytest.mark.parametrize("weights", ["binary", "ratings"])


def dense(recommender: ScoringRecommender, dataset: Dataset, weights: str) -> Floats:
    """The weights of the training interactions, users in the order of their histories."""
    found = np.zeros((len(dataset.histories), len(recommender.catalogue)))
    for row, history in enumerate(dataset.histories.values()):
        for rating in history:
            column = recommender.catalogue.column[rating.item.id]
            unit = np.array([dataset.scale.unit(rating.value)])
            found[row, column] = weigh(unit, weights)[0]  # type: ignore[arg-type]
    return found


@either
@weighed
@pytest.mark.parametrize("strength", [0.5, 200.0])
def test_ease_predicts_each_item_by_ridge_regression_on_all_others(
    dataset: Dataset,
    weights: str,
    strength: float,
) -> None:
    model = fitted(f"ease?weights={weights}&regularisation={strength}", dataset)
    known = dense(model, dataset, weights)
    expected = np.zeros_like(known)
    for item in range(known.shape[1]):
        others = np.delete(known, item, axis=1)
        penalty = np.sqrt(strength) * np.eye(others.shape[1])
        stacked = np.vstack([others, penalty])
        aims = np.concatenate([known[:, item], np.zeros(len(penalty))])
        expected[:, item] = others @ np.linalg.lstsq(stacked, aims, rcond=None)[0]
    assert model.score(requests(dataset)) == pytest.approx(expected, abs=1e-8)


@either
def test_ease_is_the_same_in_blocks(
    dataset: Dataset,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = fitted("ease", dataset).score(requests(dataset))
    monkeypatch.setattr(ease, "block_rows", lambda columns: 7)
    assert (fitted("ease", dataset).score(requests(dataset)) == whole).all()


def test_ease_says_when_its_matrix_would_not_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ease, "LARGEST", 39)
    with pytest.raises(
        RecommenderError,
        match=r"40 users and 60 items.*at most 39.*'ials'",
    ):
        fitted("ease", FEW)


@weighed
def test_ials_stands_where_its_loss_has_no_slope_and_answers_its_own_users_with_their_vectors(
    weights: str,
) -> None:
    """The loss over all cells, computed cell by cell,
    rises whichever way a vector is moved.
    """
    model = fitted(
        f"ials?dim=3&alpha=1.5&regularisation=0.8&weights={weights}&iterations=400",
        FEW,
    )
    assert isinstance(model, IALS)
    known = dense(model, FEW, weights)
    items = model._vectors
    scores = model.score(requests(FEW))
    users: Floats = np.linalg.lstsq(items, scores.T, rcond=None)[0].T.astype(np.float64)
    assert users @ items.T == pytest.approx(
        scores,
        abs=1e-8,
    )  # scores are products of vectors

    def loss(u: Floats, q: Floats) -> float:
        cells = (1 + 1.5 * known) * ((known > 0) - u @ q.T) ** 2
        return float(cells.sum() + 0.8 * ((u**2).sum() + (q**2).sum()))

    least, rng = loss(users, items), np.random.default_rng(0)
    for _ in range(50):
        step_u, step_q = (1e-3 * rng.normal(size=part.shape) for part in (users, items))
        there, back = (
            loss(users + step_u, items + step_q),
            loss(users - step_u, items - step_q),
        )
        assert there > least
        assert back > least
        assert abs(there - back) < 0.01 * (there + back - 2 * least)  # no slope


def test_ials_comes_to_the_exact_solutions_by_enough_steps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, rng = fitted("ials?dim=6", MANY), np.random.default_rng(0)
    assert isinstance(model, IALS)
    rows = model.catalogue.interactions(MANY, "binary")
    rows.data[: rows.indptr[1]] = 0.0  # a user of whom nothing counts
    items = rng.normal(size=(rows.shape[1], 6))
    start = rng.normal(size=(rows.shape[0], 6))
    monkeypatch.setattr(
        ials,
        "BLOCK",
        64,
    )  # users of several lengths, in several blocks
    monkeypatch.setattr(ials, "STEPS", 20)
    nearer = model._nearer(rows, items, start)
    assert nearer == pytest.approx(model._solved(rows, items), abs=1e-9)


def test_ials_does_not_mind_the_order_of_the_users(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ials, "BLOCK", 64)
    names = {user: f"{99 - place:02d}" for place, user in enumerate(MANY.histories)}
    frame = MANY.interactions.assign(user=MANY.interactions["user"].map(names))
    turned = MANY.replace(
        interactions=frame.sort_values("user", kind="stable"),
        as_is=False,
    )
    asked = requests(MANY)
    assert (
        fitted("ials", turned).score(asked) == fitted("ials", MANY).score(asked)
    ).all()


def test_ials_minds_its_seed_and_nothing_else_that_is_random() -> None:
    asked = requests(FEW)
    one, same, other = (fitted("ials", FEW, seed).score(asked) for seed in (1, 1, 2))
    assert (one == same).all()
    assert not np.array_equal(one, other)


@either
@weighed
@pytest.mark.parametrize(
    ("neighbours", "alpha", "beta"),
    [(4, 0.8, 0.5), (100, 1.0, 0.0)],
)
def test_rp3beta_follows_each_walk(
    dataset: Dataset,
    weights: str,
    neighbours: int,
    alpha: float,
    beta: float,
) -> None:
    spec = (
        f"rp3beta?neighbours={neighbours}&alpha={alpha}&beta={beta}&weights={weights}"
    )
    model = fitted(spec, dataset)
    known = dense(model, dataset, weights)
    count = known.shape[1]
    walks = np.zeros((count, count))
    for user in known:
        for i in np.flatnonzero(user):
            for j in np.flatnonzero(user):
                if i != j:
                    step = (user[i] / known[:, i].sum() * user[j] / user.sum()) ** alpha
                    walks[i, j] += step / known[:, j].sum() ** beta
    walks *= count * known.sum(0).max() ** beta
    kept = np.zeros_like(walks)
    for place, row in enumerate(walks.round(10)):
        best = np.argsort(-row, kind="stable")[:neighbours]
        kept[place, best] = row[best]
    assert model.score(requests(dataset)) == pytest.approx(known @ kept, abs=1e-7)


def test_rp3beta_is_the_same_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = fitted("rp3beta", FEW).score(requests(FEW))
    monkeypatch.setattr(random_walk, "block_rows", lambda columns: 7)
    assert (fitted("rp3beta", FEW).score(requests(FEW)) == whole).all()


def test_more_beta_means_less_popular_answers() -> None:
    means = []
    for beta in (0.0, 0.5, 1.0):
        answers = fitted(f"rp3beta?beta={beta}", MANY).recommend(requests(MANY))
        means.append(
            np.mean([MANY.popularity[item] for one in answers for item in one.items]),
        )
    assert means[0] > means[1] > means[2]


@pytest.mark.parametrize("name", ["ease", "ials", "rp3beta"])
def test_what_was_chosen_together_is_recommended_together(name: str) -> None:
    """Two groups of users with nothing in common."""
    rng = np.random.default_rng(0)
    rows = [
        (f"u{group}{user}", f"{group}{item:02}", 3.0, item)
        for group in "ab"
        for user in range(20)
        for item in rng.choice(12, 7, replace=False)
    ]
    items = {
        f"{group}{n:02}": Item(f"{group}{n:02}") for group in "ab" for n in range(12)
    }
    frame = pd.DataFrame(rows, columns=["user", "item", "rating", "timestamp"])
    spec = {"ease": "ease?regularisation=5", "ials": "ials?dim=4&regularisation=1"}.get(
        name,
        name,
    )
    model = fitted(spec, Dataset("groups", items, frame, FEW.scale))
    (answer,) = model.recommend([ask(("b03", 4.0), ("b07", 4.0), k=8)])
    assert {item[0] for item in answer.items} == {"b"}


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            "ease?regularisation=0",
            "ease: regularisation must be above 0 and finite, got 0.0",
        ),
        (
            "ease?regularisation=inf",
            "ease: regularisation must be above 0 and finite, got inf",
        ),
        ("ials?dim=0", "ials: dim must be at least 1, got 0"),
        ("ials?alpha=-1", "ials: alpha must be at least 0"),
        (
            "ials?regularisation=0",
            "ials: regularisation must be above 0 and finite, got 0.0",
        ),
        ("rp3beta?alpha=0", "rp3beta: alpha must be above 0 and finite, got 0.0"),
        ("rp3beta?beta=-0.1", "rp3beta: beta must be at least 0"),
        ("rp3beta?neighbours=0", "rp3beta: neighbours must be at least 1, got 0"),
    ],
)
def test_parameters_that_cannot_be_are_refused(spec: str, message: str) -> None:
    with pytest.raises(RecommenderError, match=message):
        fitted(spec, FEW)
