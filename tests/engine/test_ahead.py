"""What the selected tests wait for is asked together, before the first test."""

import json
from collections import Counter
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

    def recommend_each(self, requests):  # as those do that are waited for
        yield list(enumerate(self.recommend(requests)))


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


STEPS = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import reorder_history, scale_ratings, shift_ratings, truncate_history

@metamorphic(scale_ratings(2), shift_ratings(1), reorder_history)
def test_it(source, followup):
    assert same_ranking(source, followup, margin=0.07)

def test_chain(recsys):
    full, short = recsys.run(), recsys.run(truncate_history(3))
    assert same_ranking(full, short, margin=0.07)
    assert same_ranking(recsys.using(k=5).run(), recsys.using(k=5).run(truncate_history(3)), margin=0.07)
"""


def verdicts(project: pytest.Pytester, *arguments: str) -> tuple[list[int], list[object]]:
    record = project.path / "record.json"
    asked = batches(project, "Lasting", f"--recsys-json={record}", "--recsys-users=120", *arguments)
    document = json.loads(record.read_text())
    rows, made = document["results"], document["calls"]["made"]
    return asked, [
        made,
        *(
            {key: value for key, value in row.items() if key not in ("reproduce", "outcome")}
            for row in rows
        ),
    ]


def test_every_step_of_all_tests_is_sent_together_and_nothing_else_changes(
    project: pytest.Pytester,
) -> None:
    project.makepyfile(test_it=STEPS)
    apart, expected = verdicts(project, "--maxfail=9", "--recsys-cache=apart")
    together, found = verdicts(project, "--recsys-cache=together")
    assert found == expected
    looks = [row["looks"] for row in found[1:]]  # type: ignore[index]
    chain = [row["looks"] for row in found[1:] if "test_chain" in row["nodeid"]]  # type: ignore[index]
    assert max(looks) > 4
    assert len(together) <= sum(chain) + 2, "those of the longest test, one by one"
    assert len(apart) > 2 * len(together)


ONCE = """
import logging, pathlib, random, unittest, warnings
import pytest
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import scale_ratings

def seen(name):
    with pathlib.Path("bodies.log").open("a") as log:
        log.write(name + "\\n")

@pytest.fixture
def mine():
    return 1

@metamorphic(scale_ratings(2))
def test_plain(source, followup):
    seen("plain")
    print("said once")
    logging.warning("logged once")
    warnings.warn("warned once")
    assert same_ranking(source, followup, margin=0.2)

@metamorphic(scale_ratings(2))
def test_with_a_fixture(source, followup, mine):
    seen("fixture")
    same_ranking(source, followup, margin=0.2)

@pytest.mark.recsys_once
@metamorphic(scale_ratings(2))
def test_marked(source, followup):
    seen("marked")
    same_ranking(source, followup, margin=0.2)

class TestStateful:
    calls = 0

    @metamorphic(scale_ratings(2))
    def test_own_state(self, source, followup):
        assert not self.calls, "an instance of its own"
        self.calls += 1
        seen("instance")
        same_ranking(source, followup, margin=0.2)

class TestSetUp:
    def setup_method(self):
        self.ready = True

    @metamorphic(scale_ratings(2))
    def test_set_up(self, source, followup):
        seen("set up")
        assert self.ready
        same_ranking(source, followup, margin=0.2)

@pytest.mark.parametrize("margin", [0.2])
def test_parameter(recsys, margin):
    seen("parameter")
    random.seed(1)
    same_ranking(recsys.run(), recsys.run(scale_ratings(2)), margin=margin)

def test_greedy(recsys):
    seen("greedy")
    try:
        same_ranking(recsys.run(), recsys.run(scale_ratings(3)), margin=0.2)
    except Exception:
        assert False, "nothing that a body catches"
"""


@pytest.mark.parametrize("arguments", [[], ["-x"], ["--pdb"]], ids=" ".join)
def test_only_bodies_that_may_run_twice_are_run_ahead(
    project: pytest.Pytester, arguments: list[str]
) -> None:
    project.makepyfile(test_it=ONCE)
    result = project.runpytest_inprocess(
        "--recsys-model=models.py:Lasting", "--recsys-users=30", "-p", "no:cacheprovider",
        f"--recsys-cache={project.path / 'cache'}", "-rA", "-W", "default", *arguments,
    )  # fmt: skip
    result.assert_outcomes(passed=7, warnings=1)
    bodies = Counter((project.path / "bodies.log").read_text().splitlines())
    again = {name for name, times in bodies.items() if times > 1}
    assert again == (set() if arguments else {"plain", "instance", "parameter", "greedy"})
    output = result.stdout.str()
    for text in ("said once", "logged once", "UserWarning: warned once"):
        assert output.count(text) == 1


def test_what_a_body_finds_of_the_recommender_is_found_by_its_test(
    project: pytest.Pytester,
) -> None:
    """A recommender that is not as deterministic as it says is found by the first test, not before it."""
    project.makepyfile(
        models=MODELS.replace('fingerprint = "1"', "fingerprint = '1'; deterministic = True")
    )
    project.makepyfile(test_it=STEPS.replace("assert same", "same"))
    _, apart = verdicts(project, "--maxfail=9", "--recsys-cache=apart")
    _, together = verdicts(project, "--recsys-cache=together")
    assert together[1:] == apart[1:], "which may ask more, when less noise was expected"


CARELESS = """
import collections, itertools, threading
import pytest
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import scale_ratings

SEEN, MEMORY, READY = [], {}, threading.Event()
COUNT = itertools.count()
times = 0

def judged(recsys):
    return same_ranking(recsys.run(), recsys.run(scale_ratings(2)), margin=0.2)

def test_a_list_of_the_module(recsys):
    judged(recsys)
    SEEN.append(1)
    assert len(SEEN) == 1

@metamorphic(scale_ratings(2))
def test_a_verdict_that_is_kept(source, followup):
    if "verdict" not in MEMORY:
        MEMORY["verdict"] = same_ranking(source, followup, margin=0.2)
    assert MEMORY["verdict"]

def note():
    SEEN.append(2)

def test_a_helper(recsys):
    judged(recsys)
    note()
    assert SEEN.count(2) == 1

def test_a_global(recsys):
    global times
    judged(recsys)
    times += 1
    assert times == 1

def test_a_default(recsys, seen=[]):
    judged(recsys)
    seen.append(1)
    assert len(seen) == 1

def test_an_iterator(recsys):
    judged(recsys)
    assert next(COUNT) == 0

@pytest.mark.parametrize("given", [[], {}, iter("a"), (1, []), collections.Counter()], ids=str)
def test_a_parameter(recsys, given):
    judged(recsys)
    if isinstance(given, tuple):
        given = given[1]
    if isinstance(given, list):
        given.append(1)
        assert given == [1]
    elif isinstance(given, dict):
        given["times"] = given.get("times", 0) + 1
        assert given["times"] == 1
    else:
        assert next(given) == "a"

class TestOfAClass:
    seen = []

    def test_waits_for_another_test(self, recsys):
        judged(recsys)
        READY.set()

def test_that_waited(recsys):
    judged(recsys)
    assert READY.wait(600)

def test_a_thread(recsys):
    thread = threading.Thread(target=judged, args=(recsys,))
    thread.start()
    thread.join()
    judged(recsys)
"""


def test_what_bodies_keep_is_as_if_each_had_run_once(project: pytest.Pytester) -> None:
    project.makepyfile(test_it=CARELESS)
    result = project.runpytest_inprocess(
        "--recsys-model=models.py:Lasting", "--recsys-users=30", "-p", "no:cacheprovider",
        f"--recsys-cache={project.path / 'cache'}", "-W", "error::pytest.PytestUnhandledThreadExceptionWarning",
    )  # fmt: skip
    result.assert_outcomes(passed=14)


def test_a_limit_of_time_of_the_first_test_is_its_own(project: pytest.Pytester) -> None:
    """Bodies ahead of it do not use it up, and one that waits for something else ends."""
    project.makepyfile(
        test_it="import time\n"
        + STEPS.replace("0.07", "0.3")
        + """
import pytest

@pytest.mark.timeout(3, method="signal")
def test_a_slow_one(recsys):
    assert same_ranking(recsys.run(), recsys.run(scale_ratings(2)), margin=0.3)
    time.sleep(600)
"""
    )
    project.makeconftest(
        """
        import pytest_recsys_mt.plugin.ahead as ahead

        ahead.LONGEST = 4.0

        def pytest_collection_modifyitems(items):
            items.reverse()
        """
    )
    result = project.runpytest_subprocess(
        "--recsys-model=models.py:Lasting", "--recsys-users=30", "-k", "not chain", "-p", "no:cacheprovider",
        f"--recsys-cache={project.path / 'cache'}",
    )  # fmt: skip
    result.assert_outcomes(passed=3, failed=1, deselected=1)
    result.stdout.fnmatch_lines(["*Timeout (>3.0s) from pytest-timeout*"])


def test_a_limit_below_the_first_step_of_all_pays_for_whole_steps(
    project: pytest.Pytester,
) -> None:
    project.makepyfile(test_it=STEPS)
    room = 20 * 2 * 4 - 1  # the source and three follow-ups, and one call is missing
    asked = batches(project, "Lasting", f"--recsys-max-calls={room}", "-k", "test_it")
    assert asked[0] == 20 * 2 * 3
    assert sum(asked) <= room
