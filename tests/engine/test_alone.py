"""No test sees what another one changes: neither its body, nor its answers."""

import pytest

STATE = 'MODE = "live"\n'
CHANGING = """
import pytest
import state
from pytest_recsys_mt import Recommendation


class Changing:  # its answers follow `state.MODE`, of which its fingerprint knows nothing
    fingerprint = "1"

    def recommend(self, requests):
        return [self._answer(request) for request in requests]

    def recommend_each(self, requests):
        yield list(enumerate(self.recommend(requests)))

    def _answer(self, request):
        ids = [item.id for item in request.candidates]
        if request.replicate % 2:  # its noise
            ids[8:10] = ids[9:7:-1]
        if state.MODE == "broken" and request.scale.high > 5:
            ids.reverse()
        return Recommendation(tuple(ids[: request.k]))


class Other(Changing):
    fingerprint = "2"
"""
SEEING = """
from unittest import mock
import pytest
import state
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import scale_ratings

def judged(recsys, by):
    return same_ranking(recsys.run(), recsys.run(scale_ratings(by)), margin=0.3)

@pytest.mark.xfail(strict=True)
def test_a_patch_that_is_stopped(recsys):
    patch = mock.patch.object(state, "MODE", "broken")
    patch.start()
    verdict = judged(recsys, 2)
    patch.stop()
    assert verdict

@pytest.mark.xfail(strict=True)
def test_a_global_that_is_put_back(recsys):
    assert state.MODE == "live"
    state.MODE = "broken"
    verdict = judged(recsys, 3)
    state.MODE = "live"
    assert verdict

def test_another(recsys):
    assert state.MODE == "live"
    assert judged(recsys, 4)
    assert state.MODE == "live"

@metamorphic(scale_ratings(5), scale_ratings(6))
def test_a_relation(source, followup):
    assert state.MODE == "live"
    assert same_ranking(source, followup, margin=0.3)

@pytest.fixture
def broken(monkeypatch):
    monkeypatch.setattr(state, "MODE", "broken")

@pytest.mark.xfail(strict=True)
@metamorphic(scale_ratings(7))
def test_a_fixture(source, followup, broken):
    assert same_ranking(source, followup, margin=0.3)
"""


@pytest.fixture
def seeing(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makepyfile(state=STATE, models=CHANGING, test_it=SEEING)
    pytester.syspathinsert()
    return pytester


def run_on(project: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return project.runpytest_subprocess(
        "--recsys-users=70", f"--recsys-cache={project.path / 'cache'}", "-p", "no:cacheprovider",
        "-p", "no:randomly", *arguments,
    )  # fmt: skip


TWO = ("--recsys-model=models.py:Changing", "--recsys-model=models.py:Other")


@pytest.mark.parametrize("order", ["forward", "backward"])
def test_no_test_sees_what_another_changes(seeing: pytest.Pytester, order: str) -> None:
    if order == "backward":  # a test whose fixture patches comes first
        seeing.makeconftest(
            "def pytest_collection_modifyitems(items):\n    items.reverse()\n",
        )
    run_on(seeing, *TWO).assert_outcomes(passed=6, xfailed=6)


def test_answers_of_a_changed_state_are_kept_for_their_own_test_alone(
    seeing: pytest.Pytester,
) -> None:
    run_on(seeing, TWO[0])
    own = SEEING[: SEEING.index("@pytest.fixture")].replace(
        "@pytest.mark.xfail(strict=True)",
        "",
    )
    seeing.makepyfile(test_it=own.replace('"broken"', '"live"'))
    result = run_on(seeing, TWO[0], "--recsys-mode=replay")
    result.assert_outcomes(passed=3, failed=2)


def test_a_transformation_that_leaves_its_test_leaves_no_other(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(
        models=CHANGING,
        state=STATE,
        test_it="""
import pytest, random
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import scale_ratings

DRAWN = []

def leaves(request, rng):
    pytest.skip("not today")

def says(request, rng):
    print("said by the second")
    DRAWN.append(random.random())
    return request.replace(history=request.history[1:])

@pytest.fixture(autouse=True)
def seeded():
    random.seed(1)

@metamorphic(scale_ratings(2))
def test_first(source, followup):
    first = random.random()
    random.seed(1)
    assert first == random.random()
    assert same_ranking(source, followup, margin=0.3)

@metamorphic(leaves)
def test_leaves(source, followup):
    assert same_ranking(source, followup, margin=0.3)

@metamorphic(says)
def test_second(source, followup):
    assert DRAWN
    same_ranking(source, followup, margin=0.9)
    assert not "second"
""",
    )
    result = run_on(pytester, TWO[0])
    result.assert_outcomes(passed=1, skipped=1, failed=1)
    result.stdout.fnmatch_lines(
        ["*_ test_second*", "*Captured stdout call*", "said by the second"],
    )


CARELESS = """
import asyncio, collections, contextlib, itertools, os, pathlib, threading, unittest.mock, warnings
import numpy as np
import pytest
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import scale_ratings

SEEN, MEMORY, READY = [], {}, threading.Event()
COUNT = itertools.count()
times = 0
PATCHED = "as it is"

def judged(recsys, by=2):
    return same_ranking(recsys.run(), recsys.run(scale_ratings(by)), margin=0.2)

def test_a_list_of_the_module(recsys):
    judged(recsys)
    SEEN.append(1)
    assert len(SEEN) == 1

@metamorphic(scale_ratings(2))
def test_a_verdict_that_is_kept(source, followup):
    if "verdict" not in MEMORY:
        MEMORY["verdict"] = same_ranking(source, followup, margin=0.2)
    assert MEMORY["verdict"]

def test_a_global(recsys):
    global times
    times += 1
    judged(recsys)
    assert times == 1

def test_a_default(recsys, seen=[]):
    seen.append(1)
    judged(recsys)
    assert len(seen) == 1

def test_an_iterator(recsys):
    assert next(COUNT) == 0
    judged(recsys)

@pytest.mark.parametrize("given", [[], {}, iter("a"), (1, []), collections.Counter()], ids=str)
def test_a_parameter(recsys, given):
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
    judged(recsys)

def test_a_folder(recsys):
    pathlib.Path("made").mkdir()
    judged(recsys)

def test_the_environment(recsys):
    assert "ASKED" not in os.environ
    os.environ["ASKED"] = "1"
    judged(recsys)

class TestOfAClass:
    def test_that_another_waits_for(self, recsys):
        judged(recsys)
        READY.set()

def test_that_waited(recsys):
    judged(recsys)
    assert READY.wait(60)

def test_a_thread(recsys):
    thread = threading.Thread(target=judged, args=(recsys,))
    thread.start()
    thread.join()
    judged(recsys)

@pytest.mark.parametrize("name", "ab")
def test_a_patch(recsys, name):
    assert PATCHED == "as it is"
    with unittest.mock.patch(f"{__name__}.PATCHED", name), warnings.catch_warnings():
        warnings.simplefilter("error")
        judged(recsys, 3)
        assert PATCHED == name
        with pytest.raises(UserWarning):
            warnings.warn("raised")
    judged(recsys, 5)
    assert PATCHED == "as it is"

@pytest.mark.parametrize("name", "cd")
def test_a_decorator(recsys, name):
    @unittest.mock.patch(f"{__name__}.PATCHED", name)
    def patched():
        judged(recsys, 4)
        return PATCHED
    assert patched() == name
    assert PATCHED == "as it is"

def test_a_folder_for_a_while(recsys):
    before = os.getcwd()
    os.chdir("..")
    try:
        judged(recsys, 6)
        assert os.getcwd() != before
    finally:
        os.chdir(before)

def test_the_folder_is_the_same(recsys):
    assert pathlib.Path("made").is_dir()
    judged(recsys, 6)

@contextlib.contextmanager
def looking(recsys):
    first = judged(recsys, 7)
    yield first
    assert judged(recsys, 8)

def test_generators_and_managers(recsys):
    for verdict in (judged(recsys, by) for by in (2, 7, 9)):
        assert verdict
    with looking(recsys) as first:
        assert first

def test_floating_point_warnings_are_its_own(recsys):
    with np.errstate(divide="raise"):
        judged(recsys, 9)
        with pytest.raises(FloatingPointError):
            np.float64(1) / 0

def test_an_event_loop(recsys):
    async def ask():
        return judged(recsys, 10)
    assert asyncio.run(ask())

def test_returns(recsys):
    judged(recsys)
    pytest.skip("says that it is done")
"""


def test_what_bodies_keep_is_as_if_each_had_run_alone(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(models=CHANGING, state=STATE, test_it=CARELESS)
    result = run_on(
        pytester,
        TWO[0],
        "-W",
        "error::pytest.PytestUnhandledThreadExceptionWarning",
    )
    result.assert_outcomes(passed=24, skipped=1)
