"""Who asked for what, and what it cost: the same rows however the tests are run."""

from typing import Any

import pytest

from tests.plugin.conftest import TOYS, record_of

MODELS = '''
import hashlib
import os
import re
from pytest_recsys_mt import Completion
from pytest_recsys_mt.requests import Usage


class Chat:
    """Ranks by a hash of prompt and seed; of some prompts it is silent at first."""

    identity = {"provider": "mine", "model": "chat", "sampling": {"max_tokens": 20}}
    name = "chat"

    def complete_each(self, prompts):
        for position, prompt in enumerate(prompts):
            text = prompt.messages[-1].content
            drawn = hashlib.sha256(f"{text} {prompt.seed}".encode()).hexdigest()
            yield [(position, self.answer(text, drawn))]

    def answer(self, text, drawn):
        with open(f"{self.name}.log", "a+") as log:
            log.seek(0)
            is_new = drawn not in log.read()
            log.write(f"{drawn}\\n")
        if drawn[0] == "0" and is_new:
            return Completion(None, Usage(90, 20), "length")
        films = re.findall(r"(?m)^\\d+\\. (.+)$", text)
        films.sort(key=lambda film: hashlib.sha256((film + drawn).encode()).digest())
        said = "\\n".join(f"{n}. {film}" for n, film in enumerate(films[:10], 1))
        return Completion(said or "overall: tie", Usage(90, 10), "length" if drawn[0] == "f" else "stop")

    def complete(self, prompts):
        return [completion for ((_, completion),) in self.complete_each(prompts)]


class Other(Chat):
    identity = {**Chat.identity, "model": "other"}
    name = "other"


class Judge(Chat):
    identity = {**Chat.identity, "model": "judge"}
    name = "judge"
'''
EARLY = """
from pytest_recsys_mt import Message, Prompt, metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import reorder_history, scale_ratings

def test_single(recsys):
    case, = recsys.runner.cases[:1]
    recsys.ask(case.request.replace(k=3))

@metamorphic(scale_ratings(2), reorder_history)
def test_relation(source, followup):
    assert same_ranking(source, followup, margin=0.0001).status != "error"

def test_prompt(recsys):
    recsys.texts.complete(Prompt((Message("user", "a question"),)))

def test_profile(recsys, recsys_profiler):
    recsys_profiler.complete(Prompt((Message("user", "a profile"),)))
"""
LATE = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.suites.arena import preferred
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import scale_ratings, shift_ratings

@metamorphic(scale_ratings(2), shift_ratings(1))
def test_relation(source, followup):
    verdict = same_ranking(source, followup, margin=0.9)
    assert verdict

def test_judge(recsys_arena):
    preferred(recsys_arena)
"""
PRICES = "\n".join(
    f'["models.py:{name}"]\ninput = 1000\noutput = 10000'
    for name in ("Chat", "Other", "Judge")
)
USERS = 22  # a second look has what the first, of 20, lacks
OPTIONS = [
    "--recsys-model=models.py:Chat", "--recsys-model=models.py:Other", "--recsys-judge=models.py:Judge",
    "-orecsys_profiler=models.py:Judge", f"--recsys-users={USERS}", "--recsys-prices=prices.toml",
    "--recsys-json=record.json", "-p", "no:cacheprovider", "--recsys-shrink=0",
]  # fmt: skip


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makepyfile(toys=TOYS, models=MODELS)
    pytester.makefile(".toml", prices=PRICES)
    for suite, text in {"early": EARLY, "late": LATE}.items():
        pytester.mkdir(suite).joinpath(f"test_{suite}.py").write_text(text)
    pytester.syspathinsert()
    return pytester


def bill(project: pytest.Pytester, cache: str, *options: str) -> dict[str, Any]:
    """The calls of the record of a run."""
    for log in project.path.glob("*.log"):
        log.unlink()
    project.result = project.runpytest(*OPTIONS, f"--recsys-cache={cache}", *options)  # type: ignore[attr-defined]
    calls: dict[str, Any] = record_of(project.path / "record.json")["calls"]
    return calls


def rows(calls: dict[str, Any], model: str = "models.py:") -> list[dict[str, Any]]:
    """The rows of the models that keep their answers."""
    return [row for row in calls["by"] if row["model"].startswith(model)]


def asked(project: pytest.Pytester) -> dict[str, int]:
    """How many prompts each of these models got."""
    logs = project.path.glob("*.log")
    return {
        f"models.py:{log.stem.title()}": len(log.read_text().split()) for log in logs
    }


@pytest.mark.parametrize(
    "options",
    [(), pytest.param(("-n", "2"), marks=pytest.mark.slow)],
    ids=["one process", "two workers"],
)
def test_the_rows_name_who_asked_and_why(
    project: pytest.Pytester,
    options: tuple[str, ...],
) -> None:
    calls = bill(project, "cache", *options)
    for model, count in asked(project).items():
        assert sum(row["attempts"] for row in rows(calls, model)) == count, model
    for model in ("models.py:Chat", "models.py:Other"):
        # Suites of two workers are asked apart, so some users are asked again at the
        # end.
        of = {
            (row["suite"], row["purpose"]): row
            for row in rows(calls, model)
            if row["suite"]
        }
        assert of.keys() - {("late", "retry")} == {
            ("early", "source"), ("early", "follow-up"), ("early", "request"), ("early", "question"),
            ("early", "retry"), ("late", "follow-up"), 
        }, "the first suite asks the source, so the second has it for nothing"  # fmt: skip
        assert of["early", "source"]["made"] == 2 * USERS
        assert of["early", "follow-up"]["made"] == 2 * 2 * USERS
        assert of["late", "follow-up"]["made"] == 2 * 20
    judged = {(row["suite"], row["purpose"]) for row in rows(calls, "models.py:Judge")}
    assert {("early", "profile"), ("late", "judge")} <= judged
    assert calls["retries"] == sum(
        row["attempts"] for row in calls["by"] if row["purpose"] == "retry"
    )
    assert calls["failed_usd_at_most"] == pytest.approx(calls["retries"] * 0.29)
    assert calls["cut_off_usd"] == pytest.approx(calls["cut_off"] * 0.19)
    assert calls["retries"] * calls["cut_off"] > 0
    shown = project.result.stdout.str()  # type: ignore[attr-defined]
    for axis in ("suite", "model", "purpose"):
        assert f"\n  by {axis}: " in shown
    assert max(map(len, shown[shown.index("\ncalls: ") :].splitlines()[:8])) <= 80


@pytest.mark.slow
def test_workers_and_reruns_give_the_same_rows_and_a_replay_their_calls(
    project: pytest.Pytester,
) -> None:
    once = bill(project, "one")
    # Suites of two workers are asked apart, so some users are asked again at the end.
    told = [row for row in once["by"] if row["purpose"] != "retry"]
    two = bill(project, "two", "-n", "2")
    assert [
        row for row in two["by"] if row["purpose"] not in {"again", "retry"}
    ] == told
    assert {row["suite"] for row in two["by"] if row["purpose"] == "again"} == {""}
    assert bill(project, "three", "--reruns=1") == once
    replayed = bill(project, "one", "--recsys-mode=replay")
    assert not asked(project)
    kept = {
        (row["suite"], row["model"], row["purpose"]): row["cached"]
        for row in rows(replayed)
    }
    made = {
        (row["suite"], row["model"], row["purpose"]): row["made"]
        for row in rows(once)
        if row["purpose"] != "retry"
    }
    assert kept == made
    assert not any(row["attempts"] or row["usd"] for row in rows(replayed))
