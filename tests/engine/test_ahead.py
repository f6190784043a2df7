"""The first look of all selected tests is asked as one batch, before the first test."""

from pathlib import Path

import pytest

from tests.engine.test_modes import WORKERS
from tests.plugin.conftest import TOYS

MODELS = """
import pathlib
from pytest_recsys_mt import Recommendation
from toys import Noisy


class Lasting(Noisy):
    fingerprint = "1"

    def recommend(self, requests):
        with pathlib.Path("batches.log").open("a") as log:
            log.write(f"{len(requests)}\\n")
        return super().recommend(requests)


class Passing(Lasting):
    fingerprint = None
"""
TESTS = """
import pytest
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import reorder_history, scale_ratings, shift_ratings

def broken(request, rng):
    raise RuntimeError("no such request")

@metamorphic(scale_ratings(2), shift_ratings(1), broken)
def test_it(source, followup):
    same_ranking(source, followup, margin=0.2)

@pytest.mark.skipif(True, reason="not today")
@metamorphic(reorder_history)
def test_skipped(source, followup):
    same_ranking(source, followup, margin=0.2)
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makepyfile(toys=TOYS, models=MODELS, test_it=TESTS)
    pytester.syspathinsert()
    return pytester


def batches(project: pytest.Pytester, model: str, *arguments: str) -> list[int]:
    log: Path = project.path / "batches.log"
    log.unlink(missing_ok=True)
    project.runpytest_inprocess(
        f"--recsys-model=models.py:{model}", "--recsys-users=30", "-p", "no:cacheprovider",
        f"--recsys-cache={project.path / 'cache'}", *arguments,
    )  # fmt: skip
    return [int(line) for line in log.read_text().splitlines()]


FIRST = 20 * 2 * 3
"""Users of the first look, replicates, and the source with two follow-ups."""


@WORKERS
def test_the_first_batch_holds_what_every_test_asks_of_its_first_users(
    project: pytest.Pytester, workers: list[str]
) -> None:
    asked = batches(project, "Lasting", *workers)
    assert asked[0] == FIRST
    assert sum(asked) <= 30 * 2 * 3, "no call is put twice, and none of a skipped test"


def test_what_only_one_process_keeps_is_asked_when_it_is_needed(project: pytest.Pytester) -> None:
    assert batches(project, "Passing")[0] == 20 * 2 * 2, "both sides of one test"


def test_what_a_limit_cannot_pay_for_is_not_asked_ahead(project: pytest.Pytester) -> None:
    assert batches(project, "Lasting", f"--recsys-max-calls={FIRST - 1}")[0] == 20 * 2 * 2
