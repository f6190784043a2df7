"""Kept runs as sides of `recsys-mt parity`."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_recsys_mt import PolicyError
from tests.support.cli import main
from tests.support.parity import ANSWERS_FILE, ask_lists
from tests.support.report import is_kept, kept

SHOP = """
from pytest_recsys_mt import Recommendation

class Shop:
    deterministic = True

    def recommend(self, requests):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        offered = sorted(item.id for item in request.candidates)
        return Recommendation(tuple(self.best(offered, request)[: request.k]))

    def best(self, offered, request):
        return offered

class Stale(Shop):
    def best(self, offered, request):
        return offered[1:] if int(request.user[1:]) % 2 else offered
"""
TEST = """
from pytest_recsys_mt.oracles import complete_list

def test_lists(recsys):
    assert complete_list(recsys.run())
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a kept run of `Shop` and one of `Stale`."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "shop.py").write_text(SHOP)
    (folder / "test_lists.py").write_text(TEST)
    (folder / "pytest.ini").write_text("[pytest]\n")
    for name in ("Shop", "Stale"):
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        command += [f"--recsys-model=shop.py:{name}", "--recsys-users=120"]
        command += ["--recsys-candidates=15", "--recsys-keep=baseline"]
        command.append(f"--recsys-json={name}.json")
        subprocess.run(command, cwd=folder, env=os.environ, check=True)
    return folder


def parity(
    project: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    *arguments: str,
) -> tuple[int, str]:
    monkeypatch.chdir(project)
    capfd.readouterr()
    status = main(["parity", *arguments])
    return status, " ".join("".join(capfd.readouterr()).split())


@pytest.mark.parametrize(
    ("sides", "outcome"),
    [
        (("1", "shop.py:Shop"), "the same lists"),
        (("shop.py:Stale", "accepted"), "other lists"),
        (("1", "2"), "other lists"),
        (("Shop.json", "1:shop.py:Shop"), "the same lists"),
    ],
)
def test_a_kept_run_is_a_side(
    project: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    sides: tuple[str, str],
    outcome: str,
) -> None:
    if "accepted" in sides:
        monkeypatch.chdir(project)
        main(["runs", "accept", "1"])
    status, text = parity(project, capfd, monkeypatch, *sides, "--margin=5")
    assert outcome in text
    assert status == (outcome == "other lists")
    assert "120 requests: 120 compared" in text
    assert "the first 10 titles of the lists of 120 users" in text


def test_what_a_kept_run_cannot_show_is_said(
    project: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    record = json.loads((project / "Shop.json").read_text())
    (model,) = record["lists"]
    record["lists"]["other"] = record["lists"][model]
    (project / "two.json").write_text(json.dumps(record))
    status, text = parity(project, capfd, monkeypatch, "two.json", "1")
    assert status == 2
    assert "name one of two.json:other, two.json:shop.py:Shop" in text
    record["varying"] = [model]
    (project / "noisy.json").write_text(json.dumps(record))
    status, text = parity(project, capfd, monkeypatch, f"noisy.json:{model}", "1")
    assert status == 2
    assert "varies by itself" in text
    status, text = parity(project, capfd, monkeypatch, "9", "1")
    assert status == 2
    assert "there is no run 9" in text


@pytest.mark.parametrize(
    "spec", ["itemknn", "shop.py:Shop", "recorded:a.jsonl", "a.jsonl"]
)
def test_recommenders_and_logs_are_no_kept_runs(spec: str) -> None:
    assert not is_kept(spec)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"settings": {"k": 5}}, "other --recsys-k: 10 in Shop.json, 5 in other.json"),
        (
            {"settings": {"history": 5}},
            "other --recsys-history: 20 in Shop.json, 5 in other.json",
        ),
        ({"seed": 1}, "other seed: 0 in Shop.json, 1 in other.json"),
        (
            {"data_digest": "0" * 64},
            "other data: {data} in Shop.json, 000000000000 in other.json",
        ),
        (
            {"digests": {"users": "1" * 64}},
            "other users: {users} in Shop.json, 111111111111 in other.json",
        ),
    ],
)
def test_runs_of_other_questions_are_not_compared(
    project: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    change: dict[str, Any],
    reason: str,
) -> None:
    record = json.loads((project / "Shop.json").read_text())
    reason = reason.format(
        data=record["data_digest"][:12],
        users=record["digests"]["users"][:12],
    )
    for name, value in change.items():
        record[name] = {**record[name], **value} if isinstance(value, dict) else value
    (project / "other.json").write_text(json.dumps(record))
    status, text = parity(project, capfd, monkeypatch, "Shop.json", "other.json")
    assert status == 2
    assert reason in text
    assert "other lists" not in text


def test_runs_of_other_tests_are_compared(
    project: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    record = json.loads((project / "Shop.json").read_text())
    record["results"][0]["nodeid"] = "test_more.py::test_lists[shop.py:Shop]"
    record["digests"]["users"] = "1" * 64
    (project / "other.json").write_text(json.dumps(record))
    sides = ("Shop.json", "other.json")
    status, text = parity(project, capfd, monkeypatch, *sides, "--margin=5")
    assert status == 0
    assert "the same lists" in text


@pytest.mark.parametrize(
    "options",
    [
        ["--recsys-history=5"],
        ["--recsys-candidates", "5"],
        ["--recsys-k=5"],
        ["--recsys-seed=1"],
        ["-x", "--recsys-users=20"],
        ["--recsys-data=mini"],
        ["--recsys-prompt=p.txt"],
        ["--recsys-prompts=p.json"],
    ],
)
def test_the_settings_of_a_kept_run_stay(
    project: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
) -> None:
    sides = ("1", "shop.py:Shop")
    status, text = parity(project, capfd, monkeypatch, *sides, *options)
    assert status == 2
    assert (
        "is that of shop.py:Shop of run 1, whose users are asked; leave it out" in text
    )


class Asked:
    """A recommender of the run that answers nothing."""

    def __init__(self, digest: str) -> None:
        self.model = "shop.py:Shop"
        self.dataset = SimpleNamespace(name="mini", digest=digest, items={})

    def run(self) -> Any:
        return SimpleNamespace(sample=lambda: SimpleNamespace(asked=()))


@pytest.mark.parametrize(
    ("kept", "reason"),
    [
        ("a" * 64, "the data changed since run 7: mini is bbbbbbbbbbbb"),
        ("b" * 64, "gave no list of a user of the kept run"),
        # Records of no data have no digest.
        (None, "gave no list of a user of the kept run"),
    ],
)
def test_data_that_changed_since_the_kept_run_are_noticed(
    monkeypatch: pytest.MonkeyPatch,
    kept: str | None,
    reason: str,
) -> None:
    task = {"answers": "", "users": [], "places": 10, "run": "run 7"}
    monkeypatch.setenv(ANSWERS_FILE, json.dumps({**task, "data_digest": kept}))
    with pytest.raises(pytest.fail.Exception, match=reason):
        ask_lists(Asked("b" * 64))


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("lists", "a", "'lists' is a, not an object"),
        ("lists", {"m": None}, "'lists' of m is none, not an object"),
        ("lists", {"m": {"u1": None}}, "'lists' of m, u1 is none, not a list of texts"),
        ("lists", {"m": {"u1": "Heat"}}, "'lists' of m, u1 is Heat, not a list of"),
        ("lists", {"m": {"u1": ["Heat", 3]}}, "'lists' of m, u1 is ['Heat', 3], not a"),
        ("groups", {"plan": {"u1": None}}, "'groups' of plan, u1 is none, not a text"),
        ("varying", None, "'varying' is none, not a list of texts"),
    ],
)
def test_damaged_lists_are_refused(
    project: Path,
    name: str,
    value: object,
    reason: str,
) -> None:
    record = json.loads((project / "Shop.json").read_text())
    path = project / "damaged.json"
    path.write_text(json.dumps({**record, name: value}))
    with pytest.raises(PolicyError, match=f"damaged record: {re.escape(reason)}"):
        kept(str(path))
