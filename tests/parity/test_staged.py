"""Recommenders that show their stages."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_recsys_mt import RecommenderError
from tests.support.parity import Answered, Differing, staged
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

class Broken(Shop):
    def sell(self, requests):
        raise RuntimeError("no index")

    def rank(self, requests):
        return [sorted(found)[::-1] for found in self.retrieve(requests)]

class Noisy(Broken):
    deterministic = False

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
    text = printed("shop.py:Shop", "shop.py:Stale", "--recsys-users=40")
    assert "items of the other side for 20 users; it loses" in text
    assert "by 'retrieve'." in text
    text = printed("shop.py:Shop", "shop.py:Empty", "--exact", "--recsys-users=40")
    assert "by 'retrieve', " in text
    assert "by 'sell'." in text
    text = printed("shop.py:Shop", "shop.py:Broken", "--recsys-users=40")
    assert "it loses" not in text
    assert "No stage of shop.py:Broken loses an item" not in text
    assert "Stages of shop.py:Broken gave no answer: 'sell' for 20 of 20" in text
    assert "no index" in text
    text = printed("shop.py:Shop", "shop.py:Noisy", "--recsys-users=40")
    assert "Stages are not compared: shop.py:Noisy does not declare that" in text


def test_a_stage_is_judged_like_a_recommender(project: Path) -> None:
    text = printed("-m", "pytest", "--recsys-model=shop.py:Empty", "--recsys-users=100")
    assert "1 failed, 1 passed" in text
    assert "few_items_lost" in text
    text = printed("-m", "pytest", "--recsys-model=shop.py:Shop", "--recsys-users=100")
    assert "2 passed" in text


USERS = 3


def said(
    monkeypatch: pytest.MonkeyPatch,
    answers: Mapping[str, Answered],
    stages: tuple[tuple[str, ...], tuple[str, ...]] = (("find", "rank"),) * 2,
    deterministic: tuple[bool, bool] = (True, True),
) -> str:
    """The sentence on the stages of `A` and `B`, of whom A shows ``x`` to each user, and B
    does not; by the answer of each stage to all of them.
    """
    both = tuple(
        SimpleNamespace(
            model=model,
            deterministic=always,
            runner=SimpleNamespace(subject=SimpleNamespace(stages=own)),
        )
        for model, own, always in zip("AB", stages, deterministic, strict=True)
    )

    def answer(spec: str, requests: list[Any], purpose: str) -> list[Answered]:
        assert purpose == "control"
        return [answers.get(spec, Answered(("x", "y")))] * len(requests)

    monkeypatch.setattr(staged, "answers_of", answer)
    request: Any = None
    differing = [Differing(request, (("x", "y"), ("y",)))] * USERS
    return staged.lost_by_stages(both, lambda spec: spec, differing)  # type: ignore[arg-type]


FAILED = Answered(None, "RuntimeError: no index")
Y = Answered(("y",))


@pytest.mark.parametrize(
    ("answers", "sentence"),
    [
        (
            {"B?stage=find": Y, "B?stage=rank": Y},
            "The lists of B lack 3 items of the other side for 3 users; it loses 3 by 'find'.",
        ),
        (
            {},
            "The lists of B lack 3 items of the other side for 3 users; it loses 3 after its last stage 'rank'.",
        ),
        # A later stage adds it again.
        (
            {"B?stage=find": Y},
            "The lists of B lack 3 items of the other side for 3 users; it loses 3 after its last stage 'rank'.",
        ),
        (
            dict.fromkeys(("A?stage=rank", "B?stage=rank"), Y),
            "The lists of B lack 3 items of the other side for 3 users; it loses 3 that the last stage of A lacks too.",
        ),
        (
            {"B?stage=find": FAILED},
            "Stages of B gave no answer: 'find' for 3 of 3 users; the first reason: RuntimeError: no index.",
        ),
        (
            {"A?stage=find": FAILED, "A?stage=rank": FAILED},
            "Stages of A gave no answer: 'find' for 3 of 3 users, 'rank' for 3 of 3 users; the first reason: RuntimeError: no index.",
        ),
    ],
)
def test_what_the_stages_show_is_said(
    monkeypatch: pytest.MonkeyPatch,
    answers: Mapping[str, Answered],
    sentence: str,
) -> None:
    assert said(monkeypatch, answers) == sentence


@pytest.mark.parametrize(
    ("stages", "deterministic", "sentence"),
    [
        (
            (("find", "rank"), ("rank",)),
            (True, True),
            "Stages are not compared: A shows 'find', 'rank', and B shows 'rank'.",
        ),
        (
            ((), ("rank",)),
            (True, True),
            "Stages are not compared: A shows none, and B shows 'rank'.",
        ),
        (
            (("rank",), ("rank",)),
            (True, False),
            "Stages are not compared: B does not declare that it always answers alike.",
        ),
        (
            (("rank",), ()),
            (False, False),
            "Stages are not compared: A and B do not declare that they always answer alike.",
        ),
        (((), ()), (False, True), ""),
        (((), ()), (True, True), ""),
    ],
)
def test_it_is_said_why_stages_are_not_compared(
    monkeypatch: pytest.MonkeyPatch,
    stages: tuple[tuple[str, ...], tuple[str, ...]],
    deterministic: tuple[bool, bool],
    sentence: str,
) -> None:
    assert said(monkeypatch, {}, stages, deterministic) == sentence


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
