"""Recommenders that show their stages."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_recsys_mt import RecommenderError
from tests.support.recommenders import resolve

SHOP = '''
from pytest_recsys_mt import Recommendation

class Shop:
    """Takes the items of the smallest numbers, without those that are sold out."""

    deterministic = True
    ignores = ("history", "ratings")
    stages = ("retrieve", "sell", "rank")
    sold_out = frozenset()
    unindexed = frozenset()

    def retrieve(self, requests):
        return [
            [item.id for item in request.candidates if item.id not in self.unindexed]
            for request in requests
        ]

    def sell(self, requests):
        return [
            [item for item in found if item not in self.sold_out]
            for found in self.retrieve(requests)
        ]

    def rank(self, requests):
        return [sorted(found) for found in self.sell(requests)]

    def recommend(self, requests):
        return [
            Recommendation(tuple(found[: request.k]))
            for request, found in zip(requests, self.rank(requests))
        ]

ITEMS = [f"m{number:03}" for number in range(1, 351)]

class Stale(Shop):
    unindexed = frozenset(ITEMS[:60])

class Empty(Shop):
    sold_out = frozenset(ITEMS[:150:3])
    unindexed = frozenset(ITEMS[1:60:6])

class Fast(Shop):
    stages = ("retrieve", "rank")

class Wrong(Shop):
    stages = ("retrieve", "score")
'''
TEST = """
from pytest_recsys_mt.oracles import few_items_lost

def test_retrieval(recsys, recsys_recommenders):
    stage = recsys_recommenders(f"{recsys.model}?stage=retrieve")
    assert few_items_lost(recsys.run(), stage.run(), margin=0.05)

def test_stock(recsys, recsys_recommenders):
    retrieved = recsys_recommenders(f"{recsys.model}?stage=retrieve")
    sold = recsys_recommenders(f"{recsys.model}?stage=sell")
    assert few_items_lost(retrieved.run(), sold.run(), margin=0.05)
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "shop.py").write_text(SHOP)
    (tmp_path / "test_stages.py").write_text(TEST)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def printed(*arguments: str) -> str:
    program = "import sys; from pytest_recsys_mt.cli import main; sys.exit(main())"
    start = ("-c", program, "parity") if arguments[0] != "-m" else ()
    done = subprocess.run(
        [sys.executable, *start, *arguments, "-p", "no:cacheprovider"],
        env=os.environ,
        capture_output=True,
        text=True,
        check=False,
    )
    return " ".join((done.stdout + done.stderr).split())


def test_the_stage_that_loses_items_is_named(project: Path) -> None:
    text = printed("shop.py:Shop", "shop.py:Stale")
    assert "items of the other side for 20 users; its stages lose" in text
    assert "by 'retrieve'." in text
    text = printed("shop.py:Shop", "shop.py:Empty", "--exact")
    assert "by 'retrieve', " in text
    assert "by 'sell'." in text
    # Of other stages nothing is said.
    assert "its stages lose" not in printed("shop.py:Shop", "shop.py:Fast")


def test_a_stage_is_judged_like_a_recommender(project: Path) -> None:
    text = printed("-m", "pytest", "--recsys-model=shop.py:Empty", "--recsys-users=100")
    assert "1 failed, 1 passed" in text
    assert "few_items_lost" in text
    text = printed("-m", "pytest", "--recsys-model=shop.py:Shop", "--recsys-users=100")
    assert "2 passed" in text


@pytest.mark.usefixtures("project")
def test_a_stage_that_is_not_there_is_named() -> None:
    with pytest.raises(
        RecommenderError,
        match="there is no stage 'sel'; it shows 'retrieve', 'sell', 'rank'",
    ):
        resolve("shop.py:Shop?stage=sel")
    with pytest.raises(
        RecommenderError, match="stages holds 'score', which is no method"
    ):
        resolve("shop.py:Wrong?stage=retrieve")
    made = resolve("shop.py:Shop?stage=retrieve")
    assert made.deterministic  # type: ignore[union-attr]
    assert not made.stages  # type: ignore[union-attr]
    assert made.recommend([]) == []  # type: ignore[union-attr]
