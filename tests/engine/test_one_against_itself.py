"""An A/A test: one recommender against itself, however its answer is asked for."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.promises import settings_of
from pytest_recsys_mt import Verdict
from pytest_recsys_mt.oracles import never_differs, served_as_trained
from pytest_recsys_mt.requests import Recommendation, Request
from tests.support.engine import Run, Side
from tests.support.oracles_judging import CHANCE, sensitivity_of
from tests.support.oracles_statistics import Bets
from tests.support.parity import DAY, WAYS, add, arguments, in_words, one_recommender
from tests.support.requests import Design

SHOP = """
import hashlib, random
from pytest_recsys_mt import Recommendation

class Shop:
    deterministic = True
    fingerprint = "1"

    def recommend(self, requests):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        ranked = sorted(request.candidates, key=lambda item: self.score(request.user, item.id))
        return Recommendation(tuple(item.id for item in ranked[: request.k]))

    def score(self, user, item):
        digest = hashlib.sha256(f"{user} {item}".encode()).digest()
        return int.from_bytes(digest[:6], "big") / 2**48

class Hashed(Shop):
    def score(self, user, item):
        return hash(item) if hash(user) % 4 == 0 else super().score(user, item)

class Noisy(Shop):
    deterministic = False

    def score(self, user, item):
        return super().score(user, item) + random.gauss(0, 0.05) + hash(item) % 1000 / 2000
"""


class Ranker:
    """Ranks by a fixed order, which the code changes although the fingerprint does not."""

    fingerprint = "1"

    def __init__(self, *, backwards: bool = False, deterministic: bool = True) -> None:
        self.deterministic = deterministic
        self._backwards = backwards

    def recommend(self, requests: Sequence[Request]) -> list[Recommendation]:
        return [
            Recommendation(tuple(sorted(items, reverse=self._backwards)[: request.k]))
            for request in requests
            for items in [[item.id for item in request.candidates or ()]]
        ]


@pytest.mark.parametrize(
    ("typed", "module", "chosen"),
    [
        ("a a", "itself", "by_default"),
        ("a.py:A ./a.py:A", "itself", "by_default"),
        ("a.py:A ./a.py:B", "promise", "test_served_as_trained_by_default"),
        ("a a --exact", "itself", "exactly"),
        ("a a --margin 5", "itself", "within_5_percent"),
    ],
)
def test_the_command_sees_that_both_are_one(
    typed: str,
    module: str,
    chosen: str,
) -> None:
    parser = argparse.ArgumentParser()
    add(parser.add_subparsers())
    given, _ = parser.parse_known_args(["parity", *typed.split()])
    found = arguments(given)
    assert f"python_files={module}.py" in found
    assert found[found.index("-k") + 1] == chosen
    against = any(each.startswith("--recsys-against") for each in found)
    assert against is (module == "promise")


def test_two_specs_of_one_class_with_one_fingerprint_are_one(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "aa_shop.py").write_text(SHOP)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    run = Run(settings_of(Design(users=5), 0, tmp_path), name="specs")

    def named(spec: str) -> SimpleNamespace:
        return SimpleNamespace(
            runner=run.runner(
                run.recommenders.recommender(spec),
                spec,
                Design(users=5),
            ),
        )

    shop = named("aa_shop:Shop")
    assert one_recommender(shop, named("aa_shop.py:Shop"))
    assert not one_recommender(shop, named("aa_shop:Hashed"))
    assert not one_recommender(named("random"), named("mostpop")), (
        "these give no fingerprint"
    )
    run.close()


@pytest.mark.parametrize("spread", [0.02, 0.15])
def test_what_is_said_of_so_many_users_is_shown_as_often_as_said(spread: float) -> None:
    rng = np.random.default_rng(5)
    reach, alpha, users, runs = (-0.5, 1.0), 0.05, 150, 300
    measured = np.clip(rng.normal(0, spread, users), *reach)
    found = sensitivity_of(list(measured), reach, 0.05, alpha, (0.02, 0.05))
    assert found.margin is not None
    assert found.loss is not None
    of_five = found.users[0.05]
    assert of_five is not None

    def draw(loss: float, users: int) -> Bets:
        drawn = rng.choice(measured - measured.mean(), users) + loss
        return Bets(np.clip(drawn, *reach).astype(np.float64), *reach)

    shown = [
        sum(draw(0, users).p_at_least(found.margin) <= alpha for _ in range(runs)),
        sum(draw(found.loss, users).p_at_most(0.05) <= alpha for _ in range(runs)),
        sum(draw(0, of_five).p_at_least(0.05) <= alpha for _ in range(runs)),
    ]
    assert all(CHANCE - 0.07 < count / runs < CHANCE + 0.07 for count in shown), shown
    few = sensitivity_of(list(measured[:4]), reach, 0.05, alpha, (0.02,))
    assert few.loss is None or few.loss > found.loss
    assert "called violated" in in_words("a", 0.9, 4, few)


def asked_today(
    folder: Path,
    recommender: Ranker,
    oracle: object = never_differs,
) -> Verdict:
    """The verdict on cached answers against those of this run, of
    a recommender that keeps its fingerprint.
    """
    design = Design(users=20)
    run = Run(settings_of(design, 0, folder), name=str(id(recommender)))
    runner = run.runner(recommender, "ranker", design)
    source = Side(runner, runner.context())
    followup = Side(runner, runner.context(), (WAYS[DAY],), 1)
    verdict: Verdict = oracle(source, followup)  # type: ignore[operator]
    run.close()
    return verdict


def test_an_answer_that_differs_from_the_cached_one_is_found(tmp_path: Path) -> None:
    assert asked_today(tmp_path, Ranker()).status == "holds"
    assert asked_today(tmp_path, Ranker()).status == "holds"
    verdict = asked_today(tmp_path, Ranker(backwards=True))
    assert (verdict.status, verdict.relation) == ("violated", DAY)
    assert (
        "20 of 20 users got another answer in this run than in an earlier one"
        in verdict.reason
    )
    again = asked_today(tmp_path, Ranker(backwards=True))
    assert again.status == "violated", "cached answers of today do not hide it tomorrow"


def test_a_noisy_one_that_changed_since_is_called_violated(tmp_path: Path) -> None:
    assert (
        asked_today(tmp_path, Ranker(deterministic=False), served_as_trained).status
        != "violated"
    )
    changed = Ranker(deterministic=False, backwards=True)
    assert asked_today(tmp_path, changed, served_as_trained).status == "violated"


@pytest.mark.parametrize(
    ("name", "further", "says"),
    [
        ("Hashed", "--users=20", "users got another answer"),
        pytest.param(
            "Noisy",
            "--users=60 --margin=10",
            "two answers of shop.py:Noisy to one request agree 0.",
            marks=pytest.mark.slow,  # twice as many calls, and the same command
        ),
    ],
)
def test_what_depends_on_the_process_is_named(
    name: str,
    further: str,
    says: str,
    tmp_path: Path,
) -> None:
    (tmp_path / "shop.py").write_text(SHOP)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    command = "import sys; from pytest_recsys_mt.cli import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", command, "parity", f"shop.py:{name}", f"./shop.py:{name}",
         *further.split(), "--recsys-json=record.json", f"--recsys-cache={tmp_path}/cache"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout
    assert (
        f"both are one recommender: this is an A/A test of shop.py:{name}"
        in done.stdout
    )
    assert says in " ".join(done.stdout.split())
    assert f"FAILED itself.py::test_itself[shop.py-{name}-ask_elsewhere-" in done.stdout
    rows = json.loads((tmp_path / "record.json").read_text())["results"]
    statuses = {row["relation"]: row["status"] for row in rows if row["relation"]}
    assert statuses.pop("ask_elsewhere") == "violated"
    assert statuses
    assert set(statuses.values()) == {"holds"}
