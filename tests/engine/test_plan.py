"""What --recsys-plan says is what a run then does, and it does nothing itself."""

import re
from pathlib import Path

import pytest

from tests.plugin.conftest import TOYS, record_of

MODELS = '''
import pathlib
from pytest_recsys_mt import Completion
from pytest_recsys_mt.requests import Usage
from toys import ScaleSensitive


class Chat:
    """A text model with an address, a limit and a count of its tokens."""

    identity = {
        "provider": "openai", "host": "https://api.openai.com/v1", "model": "gpt-4o",
        "sampling": {"max_tokens": 100},
    }

    def complete(self, prompts):
        answers = []
        for prompt in prompts:
            with pathlib.Path("asked.log").open("a") as log:
                log.write(f"{prompt.seed}\\n")
            answers.append(Completion("1. Alien (1979)", Usage(1000, 10), "stop"))
        return answers


class Counting(Chat):
    """Likewise, with a tokenizer."""

    def prompt_tokens(self, prompt):
        return 7


class Turning(ScaleSensitive):
    """Answers alike, and does not say so."""

    deterministic = False


class Nameless:
    def complete(self, prompts):
        raise AssertionError("asked")
'''
TESTS = """
import pytest
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import complete_list, same_ranking
from pytest_recsys_mt.relations import (
    add_spaces, reorder_history, same_seed_same_answer, scale_ratings
)

@metamorphic(scale_ratings(2))
def test_one(source, followup):
    assert same_ranking(source, followup, margin=0.5)

@metamorphic(scale_ratings(2), reorder_history, same_seed_same_answer, add_spaces())
def test_two(source, followup):
    assert same_ranking(source, followup, margin=0.5)

@pytest.mark.recsys_design(k=5, users=8)
@metamorphic(reorder_history)
def test_of_another_design(source, followup):
    assert same_ranking(source, followup, margin=0.5)
"""


class Project:
    def __init__(self, pytester: pytest.Pytester) -> None:
        pytester.makepyfile(toys=TOYS, models=MODELS, test_it=TESTS)
        pytester.syspathinsert()
        self.pytester = pytester
        self.cache = pytester.path / "cache"

    def run(self, *arguments: str) -> pytest.RunResult:
        return self.pytester.runpytest_inprocess(
            "--recsys-users=12", f"--recsys-cache={self.cache}", "-p", "no:cacheprovider",
            *arguments,
        )  # fmt: skip

    def plan(self, *arguments: str) -> dict[str, int]:
        """The last line of a plan, as numbers."""
        self.printed = self.run("--recsys-plan", *arguments)
        assert self.printed.ret == 0
        text = self.printed.stdout.str()
        found = re.search(r"([\d,]+) calls planned, ([\d,]+) cached, ([\d,]+) to make; (.*)", text)
        assert found is not None, text
        self.cost = found[4]
        numbers = [int(number.replace(",", "")) for number in found.groups()[:3]]
        return dict(zip(("planned", "cached", "made"), numbers, strict=True))

    def record(self, *arguments: str) -> dict[str, int]:
        path = self.pytester.path / "record.json"
        self.run(f"--recsys-json={path}", *arguments)
        calls = record_of(path)["calls"]
        return {name: calls[name] for name in ("planned", "cached", "made")}

    @property
    def asked(self) -> list[str]:
        log: Path = self.pytester.path / "asked.log"
        return log.read_text().splitlines() if log.exists() else []


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    return Project(pytester)


@pytest.mark.parametrize(
    "models",
    [
        ["models.py:Chat"],
        ["itemknn"],
        ["toys.py:Noisy", "--recsys-replicates=3"],
        ["itemknn", "--recsys-model=models.py:Chat", "-n", "2"],
    ],
    ids=lambda models: models[0] if len(models) < 4 else "two models on two workers",
)
def test_a_plan_counts_the_calls_that_a_run_makes(project: Project, models: list[str]) -> None:
    arguments = [f"--recsys-model={models[0]}", *models[1:]]
    planned = project.plan(*arguments)
    assert planned["made"] == planned["planned"] > 0
    assert project.asked == []
    made = project.record(*arguments)
    assert made == planned
    again = project.plan(*arguments)
    assert again["planned"] == planned["planned"]
    chat = len(project.asked)
    assert again["cached"] == chat, "only what has a name that lasts is kept"


def test_a_verdict_that_is_clear_early_was_still_planned_to_the_end(project: Project) -> None:
    arguments = ["--recsys-model=models.py:Turning", "--recsys-users=60", "-k", "test_one"]
    planned = project.plan(*arguments)
    made = project.record(*arguments)
    assert planned["planned"] == made["planned"] == 60 * 2 * 2
    assert made["made"] == 20 * 2 * 2


def test_a_plan_says_what_the_calls_cost(project: Project) -> None:
    project.plan("--recsys-model=models.py:Counting", "-k", "test_one")
    project.printed.stdout.fnmatch_lines(
        [
            "*= recsys-mt: *, models.py:Counting =*",
            "calls   48 in 1 tests; 0 duplicates removed, 0 cached, 48 to make",
            "tokens  336 of prompts (counted by the model's tokenizer); at most 4,800 of*",
            "cost    at most $0.049 ($2.5 and $10 per million tokens, 2026-05)",
        ]
    )
    lines = project.printed.outlines
    start = next(place for place, line in enumerate(lines) if "recsys-mt: " in line)
    assert max(map(len, lines[start:])) <= 80  # above it, pytest names plugins and folders


def test_an_estimate_is_calibrated_by_the_answers_in_the_cache(project: Project) -> None:
    model = "--recsys-model=models.py:Chat"
    project.plan(model, "-k", "test_one")
    project.printed.stdout.fnmatch_lines(
        ["tokens * of prompts (estimated, 4 characters per token)*"]
    )
    project.run(model, "-k", "test_one")
    project.plan(model, "-k", "test_one or test_two")
    text = " ".join(project.printed.outlines)
    found = re.search(r"tokens  ([\d,]+) of prompts \(estimated, in proportion", text)
    assert found is not None, text
    to_make = 4 * 12 * 2 - 24  # scale_ratings is there already
    # Every answer reports a thousand tokens, so each call is estimated at about as many.
    assert int(found[1].replace(",", "")) == pytest.approx(1000 * to_make, rel=0.1)


def test_a_price_is_unknown_free_or_the_users_own(project: Project) -> None:
    only = ["-k", "test_one"]
    project.plan("--recsys-model=models.py:Nameless", *only)
    assert project.cost == "cost unknown"
    project.plan("--recsys-model=itemknn", *only)
    assert project.cost == "at most $0.00"
    project.printed.stdout.fnmatch_lines(["cost    none: *"])
    prices = project.pytester.path / "prices.toml"
    prices.write_text('["models.py:Counting"]\ninput = 1000\noutput = 2000.0\n')
    project.plan("--recsys-model=models.py:Counting", f"--recsys-prices={prices}", *only)
    assert project.cost == "at most $9.94"  # 336 and 4,800 tokens


def test_what_a_plan_cannot_know_is_listed_with_its_bound(project: Project) -> None:
    project.pytester.makeconftest("")
    project.pytester.makepyfile(
        test_it="""
        import pytest
        from hypothesis import HealthCheck, given, settings, strategies
        from pytest_recsys_mt import metamorphic
        from pytest_recsys_mt.oracles import complete_list, same_ranking
        from pytest_recsys_mt.relations import add_spaces, scale_ratings

        def test_of_no_recommender():
            raise AssertionError("the body of a test ran")

        def test_body(recsys):
            assert complete_list(recsys.run())

        @settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
        @given(number=strategies.integers())
        def test_drawn(recsys, number):
            raise AssertionError("the body of a test ran")

        @metamorphic(scale_ratings(2))
        def test_both(source, followup, recsys):
            raise AssertionError("the body of a test ran")

        @metamorphic(add_spaces())
        def test_text(source, followup):
            raise AssertionError("the body of a test ran")

        @pytest.mark.skip("not today")
        @metamorphic(scale_ratings(2))
        def test_skipped(source, followup):
            raise AssertionError("the body of a test ran")
        """
    )
    assert project.plan("--recsys-model=itemknn", "-n", "2")["planned"] == 24
    project.printed.stdout.fnmatch_lines(
        [
            "@given draws what it asks: at most 12 calls each recsys.run()*",
            "    test_it.py::test_drawn",
            "asks in its body: at most 12 calls each recsys.run()",
            "    test_it.py::test_body",
            "may ask more in its body than its two sides: at most 12 calls each recsys.run()",
            "    test_it.py::test_both",
            "skipped: needs text, and itemknn reads no text",
            "    test_it.py::test_text",
            "skipped: not today",
            "    test_it.py::test_skipped",
        ]
    )


def test_a_recommender_of_a_fixture_is_planned_and_one_that_fails_is_told(project: Project) -> None:
    project.pytester.makepyfile(
        test_other="""
        import pytest
        from toys import Faithful
        from pytest_recsys_mt import metamorphic
        from pytest_recsys_mt.oracles import same_ranking
        from pytest_recsys_mt.relations import scale_ratings

        class Test:
            @pytest.fixture
            def recommender(self):
                return Faithful()

            @metamorphic(scale_ratings(2))
            def test_it(self, source, followup):
                raise AssertionError("the body of a test ran")

        class TestGone:
            @pytest.fixture
            def recommender(self):
                raise OSError("the server is down")

            @metamorphic(scale_ratings(2))
            def test_it(self, source, followup):
                raise AssertionError("the body of a test ran")
        """
    )
    assert project.plan("test_other.py")["planned"] == 24
    project.printed.stdout.fnmatch_lines(
        [
            "*recsys-mt: *, fixture:Faithful*",
            "cannot be planned: OSError: the server is down",
            "    test_other.py::TestGone::test_it",
        ]
    )
