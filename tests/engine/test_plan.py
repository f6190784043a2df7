"""What --recsys-plan says is what a run then does, and it does nothing itself."""

import re
from pathlib import Path

import pytest

from tests.plugin.conftest import TOYS, record_of

MODELS = '''
import hashlib
import re
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


class Fickle(Chat):
    """Every letter of the prompt changes its list, always in the same way."""

    deterministic = True

    def complete(self, prompts):
        return [Completion(self.answer(prompt.messages[-1].content)) for prompt in prompts]

    def answer(self, text):
        titles = re.findall(r"^\\d+\\. (.+)$", text, re.MULTILINE)
        titles.sort(key=lambda title: hashlib.sha256((text + title).encode()).digest())
        return "\\n".join(titles[:10])


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
        found = re.search(
            r"([\d,]+) calls planned, ([\d,]+) cached, ([\d,]+) to make; (.*)",
            text,
        )
        assert found is not None, text
        self.cost = found[4]
        bound = re.search(r"at most ([\d,]+) calls, ", text)
        assert bound is not None, text
        self.most = int(bound[1].replace(",", ""))
        numbers = [int(number.replace(",", "")) for number in found.groups()[:3]]
        return dict(zip(("planned", "cached", "made"), numbers, strict=True))

    def record(self, *arguments: str) -> dict[str, int]:
        path = self.pytester.path / "record.json"
        self.run(f"--recsys-json={path}", *arguments)
        calls = record_of(path)["calls"]
        self.all = sum(calls[name] for name in ("made", "again", "controls"))
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
def test_a_plan_counts_the_calls_that_a_run_makes(
    project: Project,
    models: list[str],
) -> None:
    arguments = [f"--recsys-model={models[0]}", *models[1:]]
    planned = project.plan(*arguments)
    assert planned["made"] == planned["planned"] > 0
    assert project.asked == []
    made = project.record(*arguments)
    assert made == planned
    assert planned["made"] <= project.all <= project.most
    again = project.plan(*arguments)
    assert again["planned"] == planned["planned"]
    chat = len(project.asked)
    assert again["cached"] == chat, "only what has a name that lasts is kept"


@pytest.mark.parametrize("searched", [0, 30])
def test_no_run_in_which_every_relation_is_violated_asks_more_than_planned(
    project: Project,
    searched: int,
) -> None:
    arguments = [
        "--recsys-model=models.py:Fickle",
        "--recsys-users=25",
        "--recsys-keep=baseline",
        "-k",
        "test_one",
    ]
    arguments.append(f"--recsys-shrink={searched}")
    project.plan(*arguments)
    project.record(*arguments)
    calls = record_of(project.pytester.path / "record.json")["calls"]
    assert bool(calls["searched"]) is bool(searched)
    assert 100 < project.all + calls["searched"] <= project.most


def test_claims_about_one_pair_are_confirmed_by_the_same_calls(
    project: Project,
) -> None:
    project.pytester.makepyfile(
        test_it="""
        from pytest_recsys_mt import metamorphic
        from pytest_recsys_mt.oracles import different_ranking, low_churn, same_ranking
        from pytest_recsys_mt.relations import scale_ratings

        @metamorphic(scale_ratings(2))
        def test_it(source, followup):
            assert different_ranking(source, followup, margin=0.01)
            assert same_ranking(source, followup, margin=0.01)
            assert low_churn(source, followup, beyond=0.5, margin=0.01)
        """,
    )
    arguments = ["--recsys-model=models.py:Turning", "--recsys-users=30"]
    planned = project.plan(*arguments)
    assert project.most == 2 * planned["planned"] + 2 * 20, (
        "and 20 users once more at the end"
    )
    project.record(*arguments)
    assert project.all <= project.most


def test_a_verdict_that_is_clear_early_was_still_planned_to_the_end(
    project: Project,
) -> None:
    arguments = [
        "--recsys-model=models.py:Turning",
        "--recsys-users=60",
        "-k",
        "test_one",
    ]
    planned = project.plan(*arguments)
    made = project.record(*arguments)
    assert planned["planned"] == made["planned"] == 60 * 2 * 2
    assert made["made"] == 20 * 2 * 2


def test_a_plan_says_what_the_calls_cost(project: Project) -> None:
    project.plan("--recsys-model=models.py:Counting", "-k", "test_one")
    project.printed.stdout.fnmatch_lines(
        [
            "*= recsys-mt: the plan for models.py:Counting =*",
            "suite * tests  calls  cached  prompt  answers  at most",
            "* 1     48       0     336    4.8 k   $0.049",
            "Tokens of prompts are counted by the model's tokenizer; those of answers are as*",
            "Price: $2.5 and $10 per million tokens, 2026-05.",
        ],
    )
    lines = project.printed.outlines
    start = next(place for place, line in enumerate(lines) if "recsys-mt: " in line)
    assert (
        max(map(len, lines[start:])) <= 80
    )  # above it, pytest names plugins and folders


def test_what_confirms_calls_of_other_tests_has_their_price(project: Project) -> None:
    project.pytester.makepyfile(
        test_it="""
        from pytest_recsys_mt.oracles import no_repeats, same_ranking
        from pytest_recsys_mt.relations import scale_ratings

        def test_first(recsys):
            assert no_repeats(recsys.run())
            assert no_repeats(recsys.run(scale_ratings(2)))

        def test_second(recsys):
            assert same_ranking(recsys.run(), recsys.run(scale_ratings(2)), margin=0.05)
        """,
    )
    project.plan("--recsys-model=models.py:Counting")
    text = " ".join(project.printed.outlines)
    assert re.search(
        r"more if every relation is violated; at most \$0\.\d*[1-9]",
        text,
    ), text
    assert "unknown" not in text.partition("nothing was asked")[2]


def test_an_estimate_is_calibrated_by_the_answers_in_the_cache(
    project: Project,
) -> None:
    model = "--recsys-model=models.py:Chat"
    project.plan(model, "-k", "test_one")
    project.printed.stdout.fnmatch_lines(
        ["Tokens of prompts are estimated, 4 characters*"],
    )
    project.run(model, "-k", "test_one")
    project.plan(model, "-k", "test_one or test_two")
    text = " ".join(project.printed.outlines)
    assert "are estimated, in proportion to the answers in the cache" in text
    assert "How long it takes is not known yet" in text
    to_make = 4 * 12 * 2 - 24  # scale_ratings is there already
    found = re.search(r" 4 +120 +48 +([\d.]+) k ", text)
    assert found is not None, text
    # Every answer reports a thousand tokens, so each call is estimated at about as
    # many.
    assert float(found[1]) == pytest.approx(to_make, rel=0.1)


def test_a_price_is_unknown_free_or_the_users_own(project: Project) -> None:
    only = ["-k", "test_one"]
    project.plan("--recsys-model=models.py:Nameless", *only)
    assert project.cost == "cost unknown"
    project.plan("--recsys-model=itemknn", *only)
    assert project.cost == "at most $0.00"
    prices = project.pytester.path / "prices.toml"
    prices.write_text('["models.py:Counting"]\ninput = 1000\noutput = 2000.0\n')
    project.plan(
        "--recsys-model=models.py:Counting",
        f"--recsys-prices={prices}",
        *only,
    )
    assert project.cost == "at most $9.94"  # 336 and 4,800 tokens


OF_ALL_KINDS = """
import pytest
from hypothesis import HealthCheck, given, settings, strategies
from pytest_recsys_mt import NotApplicable, metamorphic
from pytest_recsys_mt.oracles import complete_list, same_ranking
from pytest_recsys_mt.relations import (
    add_spaces, drop_history, reorder_history, scale_ratings, truncate_history
)

def test_of_no_recommender():
    raise AssertionError("a test of no recommender ran")

def test_body(recsys):
    assert complete_list(recsys.using(k=3).run(), margin=0.2)

def test_many_steps(recsys):
    shorter = [recsys.run(truncate_history(left)) for left in (4, 3, 2)]
    assert all([same_ranking(recsys.run(), each, margin=0.01) for each in shorter])

def test_both_ways(recsys):
    if same_ranking(recsys.run(), recsys.run(scale_ratings(2)), margin=0.5):
        recsys.ask(*(case.request.replace(k=1) for case in recsys.runner.cases[:5]))
    else:
        recsys.ask(*(case.request.replace(k=2) for case in recsys.runner.cases[:7]))

@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30, database=None
)
@given(number=strategies.integers(1, 10**6))
def test_drawn(recsys, number):
    case = recsys.runner.cases[0]
    answer, = recsys.ask(case.request.replace(instruction=str(number)))
    assert answer.items == ("never",)

@metamorphic(drop_history(1))
def test_two_sides_and_more(source, followup, recsys):
    other = recsys.run(reorder_history)
    assert all([same_ranking(source, each, margin=0.5) for each in (followup, other)])

@metamorphic(add_spaces())
def test_text(source, followup):
    raise AssertionError("the body of a test ran")

@pytest.mark.skip("not today")
@metamorphic(scale_ratings(2))
def test_skipped(source, followup):
    raise AssertionError("the body of a test ran")

def test_ends(recsys):
    assert recsys.ask(recsys.runner.cases[0].request.replace(k=4))[0].items == ("x",)

def test_asks_itself(recsys, recommender):
    recommender.recommend([case.request for case in recsys.runner.cases])

def test_asks_itself_by_name(recsys, request):
    request.getfixturevalue("recommender").recommend([])

def test_until_it_holds(recsys):
    while True:
        if not same_ranking(recsys.run(), recsys.run(scale_ratings(2)), margin=0.5):
            continue
        break

@pytest.fixture
def mine(recommender):
    return recommender

def test_asks_itself_too(recsys, mine):
    mine.recommend([case.request for case in recsys.runner.cases])

def test_of_nobody(recsys):
    raise NotApplicable("there is no such user")
"""


def test_a_plan_counts_what_bodies_ask(project: Project) -> None:
    project.pytester.makepyfile(test_it=OF_ALL_KINDS)
    users, twice = 12, 2
    sides = {
        "test_body": users * twice,
        "test_many_steps": (1 + 3)
        * users
        * twice,  # the first also asks the source for the others
        "test_both_ways": users * twice + 5 + 7,
        "test_drawn": 30,
        "test_two_sides_and_more": 2 * users * twice,
        "test_ends": 1,
        "test_until_it_holds": 20
        * users
        * twice,  # so often it is told that it does not
    }
    model = "--recsys-model=toys.py:Noisy"
    assert project.plan(model)["planned"] == sum(sides.values())
    printed = project.printed.stdout
    printed.no_fnmatch_line("*test_of_no_recommender*")
    printed.fnmatch_lines(
        [
            "@given draws what it asks; more if an example fails",
            "    test_it.py::test_drawn",
            "what it asks depends on a verdict",
            "    test_it.py::test_both_ways",
            "    test_it.py::test_until_it_holds",
            "asks the recommender itself, not through recsys",
            "    test_it.py::test_asks_itself",
            "    test_it.py::test_asks_itself_by_name",
            "    test_it.py::test_asks_itself_too",
            "its body ended on made-up answers, so calls after that are not counted*",
            "    test_it.py::test_ends",
        ],
    )
    printed.fnmatch_lines(
        [
            "*recsys-mt: 3 tests are skipped*",
            "  1  needs a text model, and *Noisy reads no text",
            "  1  not today",
            "  1  there is no such user",
        ],
    )
    only = ["-k", "body or many or two_sides"]
    planned = project.plan(model, *only)
    policy = project.pytester.path / "recsys.toml"
    policy.write_text("[gate]\n")  # every verdict then asks all users
    made = project.record(model, f"--recsys-policy={policy}", *only)
    assert made["made"] == planned["planned"] == 24 + 96 + 48


def test_a_recommender_of_a_fixture_is_planned_and_one_that_fails_is_told(
    project: Project,
) -> None:
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
                assert same_ranking(source, followup, margin=0.5)

        class TestGone:
            @pytest.fixture
            def recommender(self):
                raise OSError("the server is down")

            @metamorphic(scale_ratings(2))
            def test_it(self, source, followup):
                raise AssertionError("the body of a test ran")
        """,
    )
    assert project.plan("test_other.py")["planned"] == 24
    project.printed.stdout.fnmatch_lines(
        [
            "*recsys-mt: the plan for fixture:Faithful*",
            "cannot be planned: OSError: the server is down",
            "    test_other.py::TestGone::test_it",
        ],
    )
