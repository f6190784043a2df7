"""What is asked, what is taken from the cache, and what is counted."""

from typing import Any

import pytest

from tests.plugin.conftest import TOYS, record_of

MODEL = '''
import pathlib
from pytest_recsys_mt import Completion, NotApplicable, Recommendation
from toys import by_id


class Counting:
    """Keeps a log of what it was asked."""

    fingerprint = "v1"

    def recommend(self, requests):
        answers = []
        for request in requests:
            with pathlib.Path("asked.log").open("a") as log:
                log.write(f"{request.user} {request.replicate} {request.scale.high}\\n")
            answers.append(Recommendation(tuple(by_id(request)[: request.k])))
        return answers


class Refusing(Counting):
    """Cannot serve a third of its users on another scale."""

    fingerprint = "refusing"

    def recommend(self, requests):
        if any(each.scale.high != 5 and int(each.user[1:]) % 3 == 0 for each in requests):
            raise NotApplicable("it knows five stars only")
        return super().recommend(requests)


class Nameless(Counting):
    fingerprint = None


class Newer(Counting):
    fingerprint = "v2"


class Text:
    """A text model that names candidates by their numbers, and says nothing at times."""

    fingerprint = "text-v1"

    def complete(self, prompts):
        answers = []
        for prompt in prompts:
            with pathlib.Path("asked.log").open("a") as log:
                log.write(f"{prompt.seed}\\n")
            answers.append(Completion("1, 2"))  # the first two candidates
        return answers


class Hosted(Text):
    """Whose host says which version answered."""

    fingerprint = "hosted"

    def complete(self, prompts):
        served = pathlib.Path("served.txt").read_text()
        answer = "1. Alien (1979)\\n2. Aliens (1986)"
        return [Completion(answer, model="m", system_fingerprint=served) for _ in prompts]


class Silent(Text):
    fingerprint = "silent"

    def complete(self, prompts):
        return [Completion("" if "9" in answer.text else "") for answer in super().complete(prompts)]
'''
TEST = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import reorder_history, scale_ratings, same_seed_same_answer

@metamorphic(scale_ratings(2))
def test_one(source, followup):
    assert same_ranking(source, followup, margin=0.5)

@metamorphic(scale_ratings(2), reorder_history)
def test_two(source, followup):
    assert same_ranking(source, followup, margin=0.5)
"""


class Project:
    def __init__(self, pytester: pytest.Pytester) -> None:
        pytester.makepyfile(toys=TOYS, models=MODEL, test_it=TEST)
        pytester.syspathinsert()
        self.pytester = pytester
        self.log = pytester.path / "asked.log"

    def run(self, model: str, *more: str) -> dict[str, Any]:
        path = self.pytester.path / "record.json"
        path.unlink(missing_ok=True)
        self.result = self.pytester.runpytest_inprocess(
            f"--recsys-model=models:{model}", f"--recsys-json={path}", "--recsys-users=12",
            f"--recsys-cache={self.pytester.path / 'cache'}", "-p", "no:cacheprovider", *more,
        )  # fmt: skip
        return record_of(path) if path.exists() else {}

    def asked(self) -> list[str]:
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return lines


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    return Project(pytester)


WORKERS = pytest.mark.parametrize(
    "workers",
    [[], ["-n", "2"]],
    ids=["one process", "two workers"],
)


@WORKERS
def test_each_call_is_put_once_and_a_second_run_asks_nothing(
    project: Project,
    workers: list[str],
) -> None:
    first = project.run("Counting", *workers)
    project.result.assert_outcomes(passed=3)
    asked = project.asked()
    # 12 users, 2 replicates, source and two follow-ups; one relation is shared by two
    # tests.
    assert len(asked) == len(set(asked)) == 12 * 2 * 3
    by = {(row["purpose"], row["made"]) for row in first["calls"].pop("by")}
    assert by == {("source", 24), ("follow-up", 48)}
    assert first["calls"] == {
        "planned": 72, "cached": 0, "made": 72, "failed": 0, "prompt_tokens": 0,
        "completion_tokens": 0, "usd": None, "usd_at_most": None, "unknown_cost": 72,
        "failed_at_first": 0, "cut_off": 0, "searched": 0, "controls": 0, "again": 0, "attempts": 72, "retries": 0,
        "failed_usd_at_most": 0.0, "cut_off_usd": 0.0, "reasoning_tokens": 0, "cached_tokens": 0,
    }  # fmt: skip
    second = project.run("Counting", *workers)
    assert project.asked() == []
    assert (second["calls"]["cached"], second["calls"]["made"]) == (72, 0)
    assert second["results"] == first["results"]


@WORKERS
def test_refresh_asks_everything_again_once(
    project: Project,
    workers: list[str],
) -> None:
    project.run("Counting")
    project.asked()
    record = project.run("Counting", "--recsys-mode=refresh", *workers)
    assert len(project.asked()) == record["calls"]["made"] == 72


@WORKERS
def test_replay_asks_nothing_and_names_what_is_missing(
    project: Project,
    workers: list[str],
) -> None:
    project.run("Counting", "-k", "test_one")
    project.asked()
    record = project.run("Counting", "--recsys-mode=replay", *workers)
    assert project.asked() == []
    project.result.assert_outcomes(passed=2, failed=1)
    project.result.stdout.fnmatch_lines(
        [
            "*MissingAnswerError: 24 answers of models:Counting are not recorded*",
            "*user 'u*', replicate *, key *",
            "*and 19 more*",
        ],
    )
    assert [row["status"] for row in record["results"]].count("error") == 1


def test_refusals_are_replayed_like_other_answers(project: Project) -> None:
    """Who was refused is judged again as in the run that
    asked, and nobody is asked twice.
    """
    first = project.run("Refusing", "-k", "test_one")
    assert project.asked()
    (row,) = first["results"]
    assert row["account"]["refused"] > 0
    for mode in ("replay", "auto"):
        again = project.run("Refusing", "-k", "test_one", f"--recsys-mode={mode}")
        assert again["results"] == first["results"]
        assert (again["calls"]["made"], project.asked()) == (0, [])


def test_another_fingerprint_seed_or_replicate_is_another_answer(
    project: Project,
) -> None:
    project.run("Counting")
    for change in (["Newer"], ["Counting", "--recsys-seed=1"]):
        project.asked()
        assert project.run(*change)["calls"]["cached"] == 0
    project.asked()
    more = project.run("Counting", "--recsys-replicates=3")
    assert 0 < more["calls"]["cached"] < more["calls"]["planned"]


def test_without_a_fingerprint_answers_are_kept_for_the_run_only(
    project: Project,
) -> None:
    calls = project.run("Nameless")["calls"]
    assert calls["made"] == 72
    assert len(project.asked()) == 72 + calls["again"]
    assert project.run("Nameless")["calls"]["made"] == 72


def test_raw_completions_are_cached_and_empty_ones_are_asked_for_again(
    project: Project,
) -> None:
    assert project.run("Text")["calls"]["made"] == 72
    assert len(set(project.asked())) == 72, "each replicate has a seed of its own"
    assert project.run("Text")["calls"]["cached"] == 72
    project.run("Silent")
    project.result.assert_outcomes(failed=3)
    asked = project.asked()
    assert project.run("Silent")["calls"]["cached"] == 0
    project.asked()
    again = project.run("Silent", "--recsys-mode=replay")["calls"]
    assert (again["cached"], again["made"], project.asked()) == (len(set(asked)), 0, [])


@WORKERS
def test_a_repeat_is_asked_again_with_the_same_seed(
    project: Project,
    workers: list[str],
) -> None:
    project.pytester.makepyfile(
        test_it="""
        from pytest_recsys_mt import metamorphic
        from pytest_recsys_mt.oracles import same_answer
        from pytest_recsys_mt.relations import same_seed_same_answer

        @metamorphic(same_seed_same_answer)
        def test_repeat(source, followup):
            assert same_answer(source, followup, margin=0.5)
        """,
    )
    record = project.run("Text", "--recsys-k=2", *workers)
    project.result.assert_outcomes(passed=1)
    asked = project.asked()
    assert len(asked) == record["calls"]["made"] == 48
    assert len(set(asked)) == 24


def test_answers_from_before_a_change_of_the_model_are_not_compared_with_new_ones(
    project: Project,
) -> None:
    served = project.pytester.path / "served.txt"
    served.write_text("fp_a")
    first = project.run("Hosted", "-k", "test_two and scale")
    assert "the model changed" not in str(first["results"])
    served.write_text("fp_b")
    (row,) = project.run("Hosted", "-k", "test_two and reorder")["results"]
    assert row["status"] == "inconclusive"
    assert "the source by m fp_a (24) and the follow-up by m fp_b (24)" in row["reason"]
    (anew,) = project.run(
        "Hosted",
        "-k",
        "test_two and reorder",
        "--recsys-mode=refresh",
    )["results"]
    assert "the model changed" not in anew["reason"]
