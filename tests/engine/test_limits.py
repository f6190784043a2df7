"""A limit that is reached ends the asking, and nothing else."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.engine.test_modes import WORKERS
from tests.plugin.conftest import TOYS, record_of
from tests.support.calls import Budget, Limits, account

MODELS = '''
import os
import pathlib
from pytest_recsys_mt import Completion, Recommendation
from pytest_recsys_mt.requests import Usage
from toys import Faithful


def note(what):
    with pathlib.Path("asked.log").open("a") as log:
        log.write(f"{what}\\n")


class Chat:
    """A text model whose calls take 100 tokens each."""

    identity = {"provider": "mine", "model": "chat", "sampling": {"max_tokens": 20}}

    def complete_each(self, prompts):
        for position, prompt in enumerate(prompts):
            note(prompt.seed)
            yield [(position, Completion("1. Alien (1979)", Usage(90, 10), "length"))]

    def complete(self, prompts):
        return [completion for ((_, completion),) in self.complete_each(prompts)]


class Lasting(Faithful):
    """Its answers are kept."""

    fingerprint = "1"

    def recommend(self, requests):
        for request in requests:
            note(f"{request.user} {request.scale.high}")
        return super().recommend(requests)


class Passing(Lasting):
    fingerprint = None


class Dying(Chat):
    """Takes its process with it in every tenth call."""

    def complete_each(self, prompts):
        for arrived in super().complete_each(prompts):
            if len(pathlib.Path("asked.log").read_text().splitlines()) % 10 == 0:
                os._exit(1)
            yield arrived
'''
TESTS = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import scale_ratings

@metamorphic(scale_ratings(2))
def test_a_first(source, followup):
    assert same_ranking(source, followup, margin=0.5)

@metamorphic(scale_ratings(3))
def test_b_second(source, followup):
    assert same_ranking(source, followup, margin=0.5)
"""


class Project:
    def __init__(self, pytester: pytest.Pytester) -> None:
        pytester.makepyfile(toys=TOYS, models=MODELS, test_it=TESTS)
        pytester.syspathinsert()
        self.pytester = pytester
        self.cache = pytester.path / "cache"

    def run(self, model: str, *arguments: str) -> dict[str, Any]:
        path = self.pytester.path / "record.json"
        path.unlink(missing_ok=True)
        self.result = self.pytester.runpytest_inprocess(
            f"--recsys-model=models.py:{model}", f"--recsys-json={path}", "--recsys-users=20",
            f"--recsys-cache={self.cache}", "-p", "no:cacheprovider", *arguments,
        )  # fmt: skip
        return record_of(path) if path.exists() else {}

    @property
    def asked(self) -> list[str]:
        log: Path = self.pytester.path / "asked.log"
        return log.read_text().splitlines() if log.exists() else []


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    return Project(pytester)


def statuses(record: dict[str, Any]) -> list[str]:
    return [row["status"] for row in record["results"]]


def test_what_is_judged_stays_and_the_rest_is_inconclusive(project: Project) -> None:
    record = project.run("Lasting", "--recsys-max-calls=50")
    assert statuses(record) == ["holds", "inconclusive"]
    assert len(project.asked) == record["calls"]["made"] == 50
    assert record["calls"]["planned"] == 60
    reason = record["results"][1]["reason"]
    # Some of the 20 users were answered, but the limit chose them.
    assert reason == "not asked: --recsys-max-calls=50 is reached (20)"
    project.result.assert_outcomes(passed=1, failed=1)
    assert list(project.cache.glob("spent-*")) == []


def test_an_inconclusive_verdict_may_skip(project: Project) -> None:
    project.run("Lasting", "--recsys-max-calls=50", "--recsys-inconclusive=skip")
    project.result.assert_outcomes(passed=1, skipped=1)


def test_answers_from_the_cache_cost_nothing(project: Project) -> None:
    project.run("Lasting", "--recsys-max-calls=50")
    project.result.stdout.no_fnmatch_line("*by purpose:*")
    record = project.run("Lasting", "--recsys-max-calls=10", "-v")
    project.result.stdout.fnmatch_lines(
        ["  by purpose: follow-up 10 sent, 30 cached; source 20 cached"],
    )
    assert statuses(record) == ["holds", "holds"]
    assert (record["calls"]["cached"], record["calls"]["made"]) == (50, 10)


@WORKERS
@pytest.mark.parametrize("model", ["Lasting", "Passing"])
def test_workers_share_one_limit(
    project: Project,
    model: str,
    workers: list[str],
) -> None:
    project.run(model, "--recsys-max-calls=30", *workers)
    assert len(project.asked) == 30
    assert list(project.cache.glob("spent-*")) == []


def test_a_worker_that_dies_gives_back_nothing_of_what_it_sent(
    project: Project,
) -> None:
    record = project.run("Dying", "--recsys-max-calls=25", "-n1")
    assert len(project.asked) <= 25
    assert any("a worker died: what it paid for" in note for note in record["notes"])


def test_what_is_in_flight_is_spent_for_other_workers(tmp_path: Path) -> None:
    first, second = (Budget(Limits(calls=10), tmp_path / "account") for _ in range(2))
    first.open()
    first.spend(100, 0.5)
    first.reserve([(50, 0.25)] * 3)
    second.open()
    assert (second.calls, second.tokens, second.usd) == (4, 250, 1.25)
    first.close()  # they have cost nothing
    second.open()
    assert (second.calls, second.tokens, second.usd) == (1, 100, 0.5)


def test_no_call_is_put_past_the_tokens_of_the_run(project: Project) -> None:
    record = project.run("Chat", "-orecsys_max_tokens=3050")
    assert len(project.asked) == 31, "the call that passes the limit is the last"
    assert (
        record["calls"]["prompt_tokens"] + record["calls"]["completion_tokens"] == 3100
    )
    assert statuses(record) == ["inconclusive", "inconclusive"]
    assert "-o recsys_max_tokens=3050 is reached" in record["results"][0]["reason"]


def test_no_call_is_put_past_the_cost_of_the_run(project: Project) -> None:
    prices = project.pytester.path / "prices.toml"
    prices.write_text("[chat]\ninput = 10000\noutput = 10000\n")
    record = project.run("Chat", f"--recsys-prices={prices}", "--recsys-max-usd=20.5")
    assert len(project.asked) == 21
    assert record["calls"]["usd"] == pytest.approx(21.0)
    assert record["calls"]["cut_off"] == 21
    project.result.stdout.fnmatch_lines(
        [
            "calls: 120 planned, *21 made, 0 failed; 2100 tokens, $21.00; 21",
            "*answers cut off*",
        ],
    )


def test_a_cost_that_is_not_known_cannot_be_limited(project: Project) -> None:
    assert project.run("Chat", "--recsys-max-usd=1") == {}
    assert project.result.ret == pytest.ExitCode.USAGE_ERROR
    project.result.stderr.fnmatch_lines(
        [
            "ERROR: the price of 'models.py:Chat' is not known*--recsys-max-usd=1.0*--recsys-prices*",
        ],
    )
    assert project.asked == []


@pytest.fixture
def priced(project: Project) -> str:
    """The option of prices that know the recommender alone."""
    prices = project.pytester.path / "prices.toml"
    prices.write_text('["models.py:Lasting"]\ninput = 0\noutput = 0\n')
    return f"--recsys-prices={prices}"


@pytest.mark.parametrize("option", ["judge", "against", "sampler", "profiler"])
def test_nor_can_that_of_others_that_are_asked(
    project: Project,
    priced: str,
    option: str,
) -> None:
    named = f"--recsys-{option}=models.py:Chat"
    assert project.run("Lasting", named, priced, "--recsys-max-usd=1") == {}
    assert project.result.ret == pytest.ExitCode.USAGE_ERROR
    project.result.stderr.fnmatch_lines(
        ["*the price of 'models.py:Chat' is not known*"],
    )
    assert project.asked == []


def test_a_quick_look_ends_at_two_dollars_where_the_price_is_known(
    project: Project,
) -> None:
    prices = project.pytester.makefile(
        ".toml",
        prices='["models.py:Chat"]\ninput = 10_000\noutput = 10_000',
    )
    quick = ("--recsys-effort=quick", "test_it.py", "-k", "a_first")
    assert project.run("Chat", *quick)["gate"]["incomplete"] == []
    project.run("Chat", *quick, f"--recsys-prices={prices}", "--recsys-mode=refresh")
    project.result.stdout.fnmatch_lines(["*--recsys-max-usd=2.0 is reached*"])
    assert record_of(project.pytester.path / "record.json")["calls"]["usd"] < 3.0


def test_a_judge_that_makes_no_calls_needs_no_price(
    project: Project,
    priced: str,
) -> None:
    record = project.run(
        "Lasting",
        "--recsys-judge=toys:Judge",
        priced,
        "--recsys-max-usd=1",
    )
    assert statuses(record) == ["holds", "holds"]


def test_a_fixture_whose_cost_is_not_known_is_not_asked(project: Project) -> None:
    project.pytester.makeconftest(
        """
        import pytest
        from models import Lasting

        @pytest.fixture
        def recommender():
            return Lasting()
        """,
    )
    path = project.pytester.path / "record.json"
    project.pytester.runpytest_inprocess("--recsys-max-usd=1", f"--recsys-json={path}")
    record = record_of(path)
    assert project.asked == []
    assert statuses(record) == ["inconclusive", "inconclusive"]
    assert "the price of fixture:Lasting is not known" in record["results"][0]["reason"]


def test_single_answers_end_with_the_limit_too(project: Project) -> None:
    project.pytester.makepyfile(
        test_it="""
        from pytest_recsys_mt.oracles import complete_list

        def test_single(recsys):
            recsys.ask(*(case.request for case in recsys.runner.cases))
            raise AssertionError("not reached")
        """,
    )
    record = project.run("Lasting", "--recsys-max-calls=5")
    assert len(project.asked) == 5
    assert statuses(record) == ["inconclusive"]
    assert (
        record["results"][0]["reason"] == "not asked: --recsys-max-calls=5 is reached"
    )
    project.result.assert_outcomes(failed=1)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[chat", "*is not TOML*"),
        ("[chat]\ninput = 1\n", "*the price of 'chat'*input and output*"),
        ("[chat]\ninput = -1\noutput = 2\n", "*the price of 'chat'*"),
        ("[chat]\ninput = 1\noutput = 2\ncached = 3\n", "*the price of 'chat'*cached*"),
        (None, "*cannot be read: No such file*"),
    ],
    ids=["no TOML", "half a price", "below zero", "an unknown key", "no file"],
)
def test_a_price_file_that_says_no_price_ends_the_run(
    project: Project,
    text: str | None,
    says: str,
) -> None:
    prices = project.pytester.path / "prices.toml"
    if text is not None:
        prices.write_text(text)
    project.run("Chat", f"--recsys-prices={prices}")
    assert project.result.ret == pytest.ExitCode.USAGE_ERROR
    project.result.stderr.fnmatch_lines([f"ERROR: --recsys-prices={says}"])


def test_room_is_what_is_left(tmp_path: Path) -> None:
    budget = Budget(Limits(calls=10, tokens=1000, usd=1.0), tmp_path / "spent.json")
    assert budget.room([(0, 0)] * 20) == 10
    assert budget.room([(300, 0)] * 20) == 3
    assert budget.room([(100, 0), (800, 0), (200, 0)]) == 2, "each counts as what it is"
    assert budget.room([(0, 0.6)] * 20) == 1
    assert budget.room([(5000, 0)] * 20) == 1, (
        "one call at a time, until the limit is reached"
    )
    budget.spend(1000, 0.0)
    assert budget.room([(300, 0)] * 20) == 0
    assert budget.reached == "-o recsys_max_tokens=1000 is reached"


def test_an_account_is_one_for_all_who_open_it(tmp_path: Path) -> None:
    path = account(tmp_path, "../run")
    assert path.parent == tmp_path
    one, two = Budget(Limits(calls=3), path), Budget(Limits(calls=3), path)
    for budget in (one, two, one):
        budget.open()
        budget.spend(10, 0.5)
        budget.close()
    two.open()
    assert (two.calls, two.tokens, two.usd) == (3, 30, 1.5)
    assert json.loads(path.read_text()) == [3, 30, 1.5]
    assert two.reached
