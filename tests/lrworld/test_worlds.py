from __future__ import annotations

import pytest

from pytest_recsys_mt import NotApplicable
from pytest_recsys_mt.datasets import Dataset, load
from pytest_recsys_mt.suites.lrworld import MEASURES, Measure, questions_for, rare
from tests.support.suites_lrworld import worlds


def measure(dataset: str, name: str) -> Measure:
    return next(
        each for each in MEASURES if (each.dataset, each.name) == (dataset, name)
    )


@pytest.fixture(scope="module")
def mini() -> Dataset:
    return load("mini")


def test_questions_are_made_once_and_speak_of_their_domain(mini: Dataset) -> None:
    found = questions_for(measure("movielens", "genre"), mini, 15, 0)
    assert len(found) == 15
    assert {question.domain for question in found} == {"movie"}
    assert questions_for(measure("movielens", "genre"), load("mini"), 15, 0) is found
    assert questions_for(measure("movielens", "genre"), mini, 15, 1) != found


def test_what_is_missing_is_said(
    mini: Dataset,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(
        NotApplicable,
        match="format of amazon, and mini is in that of movielens",
    ):
        questions_for(measure("amazon", "rules"), mini, 10, 0)
    with pytest.raises(NotApplicable, match="image"):
        questions_for(measure("movielens", "image"), mini, 10, 0)

    def lacking(*_: object, **__: object) -> None:
        raise ImportError("no torch", name="torch")

    monkeypatch.setattr(worlds, "generate", lacking)
    with pytest.raises(NotApplicable, match=r"needs torch .*\[train\]"):
        questions_for(measure("movielens", "user_to_items"), mini, 9, 0)


def test_rare_items_are_below_the_mean_log_popularity(mini: Dataset) -> None:
    found = questions_for(measure("movielens", "genre"), mini, 60, 0)
    names = rare(found, mini)
    popularity = {question.id: question.popularity or 0 for question in found}
    assert 0 < len(names) < len(found)
    most = max(popularity[name] for name in names)
    assert most < min(popularity[q.id] for q in found if q.id not in names)
    users = questions_for(measure("movielens", "similar_users"), mini, 5, 0)
    with pytest.raises(NotApplicable, match="about items"):
        rare(users, mini)
