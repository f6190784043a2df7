"""What tests that run ahead wait for is asked together, before the first of them."""

import json
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


AHEAD = "--override-ini=recsys_ahead=true"
"""The bodies of all tests run ahead."""

FIRST = 20 * 2 * 3
"""Users of the first look, replicates, and the source with two follow-ups."""


@WORKERS
def test_the_first_batch_holds_what_every_test_asks_of_its_first_users(
    project: pytest.Pytester,
    workers: list[str],
) -> None:
    asked = batches(project, "Lasting", *workers)
    assert asked[0] == FIRST
    assert sum(asked) <= 30 * 2 * 3, "no call is put twice, and none of a skipped test"


def test_the_first_questions_of_tests_with_the_same_fixtures_are_asked_together(
    project: pytest.Pytester,
) -> None:
    """What pytest sets up for one test is there when its
    first users are asked, and no other.
    """
    project.makepyfile(
        test_it=TESTS.replace(
            "def broken",
            "@pytest.fixture\ndef own():\n    pass\n\ndef broken",
        )
        + """
@metamorphic(scale_ratings(3), scale_ratings(4))
def test_own(source, followup, own):
    same_ranking(source, followup, margin=0.2)
""",
    )
    asked = batches(project, "Lasting", "--recsys-users=20")
    assert asked[:2] == [FIRST, 20 * 2 * 2], "the source is known by then"


def test_what_only_one_process_keeps_is_asked_when_it_is_needed(
    project: pytest.Pytester,
) -> None:
    assert batches(project, "Passing")[0] == 20 * 2 * 2, "both sides of one test"


def test_what_a_limit_cannot_pay_for_is_not_asked_ahead(
    project: pytest.Pytester,
) -> None:
    assert (
        batches(project, "Lasting", f"--recsys-max-calls={FIRST - 1}")[0] == 20 * 2 * 2
    )


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


def verdicts(
    project: pytest.Pytester,
    *arguments: str,
) -> tuple[list[int], list[object]]:
    record = project.path / "record.json"
    asked = batches(
        project,
        "Lasting",
        f"--recsys-json={record}",
        "--recsys-users=120",
        *arguments,
    )
    document = json.loads(record.read_text())
    rows, made = document["results"], document["calls"]["made"]
    return asked, [
        made,
        *(
            {
                key: value
                for key, value in row.items()
                if key not in ("reproduce", "outcome")
            }
            for row in rows
        ),
    ]


def test_every_step_of_all_tests_is_sent_together_and_nothing_else_changes(
    project: pytest.Pytester,
) -> None:
    project.makepyfile(test_it=STEPS)
    apart, expected = verdicts(project, "--recsys-cache=apart")
    together, found = verdicts(project, AHEAD, "--recsys-cache=together")
    assert found == expected
    looks = [row["looks"] for row in found[1:]]  # type: ignore[index]
    chain = [row["looks"] for row in found[1:] if "test_chain" in row["nodeid"]]  # type: ignore[index]
    assert max(looks) > 4
    assert len(together) <= sum(chain) + 2, "those of the longest test, one by one"
    assert len(apart) > 2 * len(together)


ONCE = """
import logging, os, pathlib, random, unittest, warnings
import pytest
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import scale_ratings, shift_ratings

def seen(name):
    with pathlib.Path(f"bodies-{name}.log").open("a") as log:
        log.write(f"{os.getpid()}\\n")

@metamorphic(scale_ratings(2))
def test_plain(source, followup):
    seen("plain")
    print("said once")
    logging.warning("logged once")
    warnings.warn("warned once")
    assert same_ranking(source, followup, margin=0.2)

@metamorphic(scale_ratings(2))
def test_with_a_fixture(source, followup, tmp_path):
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
    drawn = random.random(), random.random()
    random.seed(1)
    first = random.random()
    same_ranking(recsys.run(), recsys.run(scale_ratings(2)), margin=margin)
    assert (first, random.random()) == drawn, "nobody else draws in between"

def test_greedy(recsys):
    seen("greedy")
    random.seed(2)
    try:
        same_ranking(recsys.run(), recsys.run(scale_ratings(3)), margin=0.2)
    except BaseException:
        assert False, "nothing that a body catches"

@pytest.mark.filterwarnings("error")
def test_with_a_filter_of_its_own(recsys):
    seen("filter")
    with pytest.raises(UserWarning):
        warnings.warn("raised")
    same_ranking(recsys.run(), recsys.run(scale_ratings(2)), margin=0.2)

@pytest.fixture
def opened():
    with pathlib.Path("bodies-opened.log").open("w") as log:
        yield log

def test_with_a_fixture_that_closes(recsys, opened):
    same_ranking(recsys.run(), recsys.run(scale_ratings(2)), margin=0.2)
    opened.write("open\\n")

class TestUnit(unittest.TestCase):
    @pytest.fixture(autouse=True)
    def take(self, recsys):
        self.recsys = recsys

    def test_unit(self):
        seen("unit")
        self.assertTrue(same_ranking(self.recsys.run(), self.recsys.run(scale_ratings(2)), margin=0.2))

def test_fails_late(recsys):
    seen("fails")
    same_ranking(recsys.run(), recsys.run(shift_ratings(1)), margin=0.2)
    print("said before it failed")
    assert not "late"
"""
BODIES = {
    "plain",
    "fixture",
    "marked",
    "instance",
    "set up",
    "parameter",
    "greedy",
    "filter",
    "fails",
    "opened",
    "unit",
}


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["-x"],
        # It takes the way of -x.
        pytest.param(["--pdb"], marks=pytest.mark.slow),
        pytest.param(["-n", "2"], marks=pytest.mark.slow),
        ["--reruns=1"],
        ["--recsys-max-calls=90"],
        ["--recsys-mode=replay"],
    ],
    ids=" ".join,
)
def test_every_body_runs_once(
    project: pytest.Pytester,
    arguments: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    project.makepyfile(test_it=ONCE)
    monkeypatch.setattr("pdb.Pdb.interaction", lambda *_: None, raising=False)
    command = [
        "--recsys-model=models.py:Lasting", "--recsys-users=30", "-p", "no:cacheprovider",
        f"--recsys-cache={project.path / 'cache'}", "-rA", "-W", "default", AHEAD,
    ]  # fmt: skip
    if "--recsys-mode=replay" in arguments:
        project.runpytest_inprocess(*command)
        for path in project.path.glob("bodies-*.log"):
            path.unlink()
    result = project.runpytest_inprocess(*command, *arguments)
    outcomes = result.parseoutcomes()
    if arguments == ["--recsys-max-calls=90"]:  # not all tests get their answers
        assert (
            outcomes["failed"] + outcomes.get("passed", 0) + outcomes.get("skipped", 0)
            == 11
        )
    else:
        passed = (
            9 if arguments == ["-x"] else 10
        )  # a TestCase has no recommender in its id, and comes last
        assert (outcomes["passed"], outcomes["failed"], outcomes["warnings"]) == (
            passed,
            1,
            1,
        )
    runs = {
        path.stem.removeprefix("bodies-"): len(path.read_text().splitlines())
        for path in project.path.glob("bodies-*.log")
    }
    expected = dict.fromkeys(BODIES - ({"unit"} if arguments == ["-x"] else set()), 1)
    if arguments == ["--reruns=1"]:
        expected["fails"] = 2
    assert runs == expected
    output = result.stdout.str()
    for text in ("said once", "logged once", "UserWarning: warned once"):
        assert output.count(text) == 1
    assert "said before it failed" in output


def test_what_a_body_finds_of_the_recommender_is_found_by_its_test(
    project: pytest.Pytester,
) -> None:
    """A recommender that is not as deterministic as it says is
    found by the first test, not before it.
    """
    project.makepyfile(
        models=MODELS.replace(
            'fingerprint = "1"',
            "fingerprint = '1'; deterministic = True",
        ),
    )
    project.makepyfile(test_it=STEPS.replace("assert same", "same"))
    _, apart = verdicts(project, "--recsys-cache=apart", "--recsys-users=60")
    _, together = verdicts(
        project,
        AHEAD,
        "--recsys-cache=together",
        "--recsys-users=60",
    )
    assert together[1:] == apart[1:], "which may ask more, when less noise was expected"


@pytest.mark.slow  # test_every_body_runs_once shows what each body does
def test_without_greenlet_each_body_asks_for_itself(
    project: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    project.makepyfile(test_it=STEPS)
    together, expected = verdicts(project, AHEAD, "--recsys-cache=together")
    monkeypatch.setattr("pytest_recsys_mt.engine.schedule.CAN_PARK", False)
    apart, found = verdicts(project, AHEAD, "--recsys-cache=apart")
    assert found == expected
    assert len(apart) > len(together)


def test_a_body_that_is_interrupted_ends_the_run_and_closes_the_others(
    project: pytest.Pytester,
) -> None:
    project.makepyfile(
        test_it="""
import pathlib
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import scale_ratings

def asked(recsys):
    same_ranking(recsys.run(), recsys.run(scale_ratings(2)), margin=0.3)

def test_parked(recsys):
    try:
        asked(recsys)
    except BaseException as error:
        pathlib.Path("closed.log").write_text(type(error).__name__)
        raise

def test_interrupted(recsys):
    raise KeyboardInterrupt
""",
    )
    result = project.runpytest_inprocess(
        "--recsys-model=models.py:Lasting",
        "--recsys-users=30",
        AHEAD,
        f"--recsys-cache={project.path / 'cache'}",
        no_reraise_ctrlc=True,
    )
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert (project.path / "closed.log").read_text() == "GreenletExit"


def test_each_body_has_the_limit_of_time_of_its_own_test(
    project: pytest.Pytester,
) -> None:
    """Those ahead of the first test do not use up its limit, and
    one that waits for something else ends.
    """
    project.makepyfile(
        test_it="import time\n"
        + STEPS.replace("0.07", "0.3")
        + """
import pytest

@pytest.mark.timeout(3, method="signal")
def test_a_slow_one(recsys):
    assert same_ranking(recsys.run(), recsys.run(scale_ratings(2)), margin=0.3)
    time.sleep(600)

@pytest.mark.timeout(1.2, method="signal")
def test_half_a_second_for_each(recsys):
    for by in (2, 3, 4):
        assert same_ranking(recsys.run(), recsys.run(scale_ratings(by)), margin=0.3)
        time.sleep(0.5)
""",
    )
    project.makeconftest(
        "def pytest_collection_modifyitems(items):\n    items.reverse()\n",
    )
    result = project.runpytest_subprocess(
        "--recsys-model=models.py:Lasting", "--recsys-users=30", "-k", "not chain", "-p", "no:cacheprovider", AHEAD,
        f"--recsys-cache={project.path / 'cache'}",
    )  # fmt: skip
    result.assert_outcomes(passed=4, failed=1, deselected=1)
    result.stdout.fnmatch_lines(["*Timeout (>3.0s) from pytest-timeout*"])


def test_a_limit_below_the_first_step_of_all_pays_for_whole_steps(
    project: pytest.Pytester,
) -> None:
    project.makepyfile(test_it=STEPS)
    room = 20 * 2 * 4 - 1  # the source and three follow-ups, and one call is missing
    asked = batches(
        project,
        "Lasting",
        AHEAD,
        f"--recsys-max-calls={room}",
        "-k",
        "test_it",
    )
    assert asked[0] == 20 * 2 * 3
    assert sum(asked) <= room


MARKED = """
import pathlib
import pytest
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import scale_ratings

def begins(recsys, name):
    with pathlib.Path("begun.log").open("a") as log:
        log.write(f"{name} ")
    same_ranking(recsys.run(), recsys.run(scale_ratings(2)), margin=0.3)
    with pathlib.Path("begun.log").open("a") as log:
        log.write(f"/{name} ")

def test_a(recsys):
    begins(recsys, "a")

@pytest.mark.recsys_ahead
def test_b(recsys):
    begins(recsys, "b")

@pytest.mark.recsys_ahead
class TestMarked:
    def test_c(self, recsys):
        begins(recsys, "c")

    @pytest.mark.recsys_once
    def test_d(self, recsys):
        begins(recsys, "d")
"""


@pytest.mark.parametrize(
    ("more", "arguments", "expected"),
    [
        ("", (), "a /a b c /b /c d /d"),
        ("pytestmark = pytest.mark.recsys_ahead", (), "a b c /a /b /c d /d"),
        ("", (AHEAD,), "a b c /a /b /c d /d"),
        ("pytestmark = pytest.mark.recsys_once", (AHEAD,), "a /a b c /b /c d /d"),
    ],
    ids=["marks", "module", "ini key", "ini key and module"],
)
def test_bodies_run_ahead_where_a_mark_or_the_ini_key_says_so(
    project: pytest.Pytester,
    more: str,
    arguments: tuple[str, ...],
    expected: str,
) -> None:
    project.makepyfile(test_it=MARKED.replace("def begins", f"{more}\n\ndef begins"))
    batches(project, "Lasting", *arguments)
    assert (project.path / "begun.log").read_text().split() == expected.split()


def test_the_bodies_of_the_suites_run_ahead(project: pytest.Pytester) -> None:
    suite = ("--pyargs", "pytest_recsys_mt.suites.metamorphic.test_ratings")
    together = batches(project, "Lasting", *suite)
    project.path.joinpath("cache").rename(project.path / "cache-1")
    apart = batches(project, "Lasting", "--maxfail=99", *suite)
    assert len(together) < len(apart)


def test_a_body_that_asks_where_it_cannot_be_parked_fails_with_the_way_out(
    project: pytest.Pytester,
) -> None:
    project.makepyfile(
        test_it="""
import asyncio
from concurrent.futures import ThreadPoolExecutor
import pytest
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import scale_ratings

def judged(recsys):
    return same_ranking(recsys.run(), recsys.run(scale_ratings(2)), margin=0.3)

def in_a_thread(recsys):
    with ThreadPoolExecutor(1, "asking") as pool:
        assert pool.submit(judged, recsys).result()

async def in_a_loop(recsys):
    assert judged(recsys)

@pytest.mark.recsys_ahead
def test_a_thread(recsys):
    in_a_thread(recsys)

@pytest.mark.recsys_ahead
def test_a_loop(recsys):
    asyncio.run(in_a_loop(recsys))

def test_a_thread_in_its_turn(recsys):
    in_a_thread(recsys)

def test_a_loop_in_its_turn(recsys):
    asyncio.run(in_a_loop(recsys))
""",
    )
    result = project.runpytest_inprocess(
        "--recsys-model=models.py:Lasting",
        "--recsys-users=30",
        f"--recsys-cache={project.path / 'cache'}",
    )
    result.assert_outcomes(passed=2, failed=2)
    for where in ("the thread 'asking_0'", "an event loop of its own"):
        result.stdout.fnmatch_lines(
            [f"*RecsysError: a test that runs ahead asks in {where}*"],
        )
    result.stdout.fnmatch_lines(["*mark this test with @pytest.mark.recsys_once*"])
