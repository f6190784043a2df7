"""What careless code does to a run: it leaves the
folder, exits, and fails now and then.
"""

import json

import pytest

SHOP = """
import os, sys
from pytest_recsys_mt import Recommendation

class Odd(Exception):
    def __str__(self):
        raise ValueError("no words")

class Shop:
    deterministic = True
    asked = 0

    def recommend(self, requests):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        best = sorted(film.id for film in request.candidates)
        return Recommendation(tuple(best[: request.k]))

class Leaves(Shop):
    def answer(self, request):
        os.chdir("/")
        return super().answer(request)

class FailsForSome(Shop):
    def __init__(self):
        self.users = []

    def answer(self, request):
        if request.user not in self.users:
            self.users.append(request.user)
        number = self.users.index(request.user)
        if number == 3:
            raise Odd
        if number == 5:
            sys.exit("a script in a library")
        if number == 7:
            raise BaseExceptionGroup("two", [KeyError("a"), GeneratorExit()])
        return super().answer(request)

class FailsAtFirst(Shop):
    def answer(self, request):
        self.asked += 1
        if self.asked in (4, 9, 10):
            raise KeyError("now and then")
        return super().answer(request)

class Unordered(Shop):
    def answer(self, request):
        return Recommendation({film.id for film in request.candidates})
"""
TEST = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import scale_ratings

@metamorphic(scale_ratings(2))
def test_scale(source, followup):
    assert same_ranking(source, followup, similarity="overlap", margin=0.3)
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makepyfile(shop=SHOP, test_it=TEST)
    pytester.syspathinsert()
    return pytester


def run(project: pytest.Pytester, name: str, *options: str) -> pytest.RunResult:
    model = f"--recsys-model=shop.py:{name}"
    return project.runpytest_inprocess(model, "--recsys-users=40", *options)


def test_reports_stay_where_the_run_was_started(project: pytest.Pytester) -> None:
    outputs = (
        "--recsys-json=out/r.json",
        "--recsys-html=out/r.html",
        "--junitxml=out/r.xml",
    )
    result = run(project, "Leaves", *outputs, "--recsys-cache=cache")
    assert result.ret == 0
    made = {path.name for path in (project.path / "out").iterdir()}
    assert made == {"r.json", "r.html", "r.xml"}


def test_whatever_is_raised_fails_its_own_call_alone(project: pytest.Pytester) -> None:
    result = run(project, "FailsForSome", "--recsys-json=r.json")
    assert "INTERNALERROR" not in result.stdout.str() + result.stderr.str()
    (row,) = json.loads((project.path / "r.json").read_text())["results"]
    assert (row["status"], row["errors"], row["users"]) == ("error", 3, 17)
    for reason in (
        "Odd: its message is unavailable, as its str() raised ValueError",
        "SystemExit: a script in a library",
        "BaseExceptionGroup: two (2 sub-exceptions)",
    ):
        assert reason in row["reason"]
    result.stdout.fnmatch_lines(["*in answer", '*sys.exit("a script in a library")'])


def test_what_fails_at_first_is_said(project: pytest.Pytester) -> None:
    result = run(project, "FailsAtFirst", "--recsys-json=r.json")
    assert result.ret == 0
    calls = json.loads((project.path / "r.json").read_text())["calls"]
    assert calls["failed"] == 0
    assert calls["failed_at_first"] > 0
    result.stdout.fnmatch_lines(
        [f"*{calls['failed_at_first']} failed at first and were sent*"],
    )


def test_a_set_has_no_order(project: pytest.Pytester) -> None:
    result = run(project, "Unordered")
    result.stdout.fnmatch_lines(["*takes a sequence of item ids, best first*"])


@pytest.mark.parametrize("folder", ["shop.py", "nowhere/link"])
def test_a_cache_that_cannot_be_is_a_usage_error(
    project: pytest.Pytester,
    folder: str,
) -> None:
    (project.path / "nowhere").mkdir()
    (project.path / "nowhere" / "link").symlink_to(project.path / "gone" / "far")
    result = run(project, "Shop", f"--recsys-cache={folder}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: --recsys-cache='*{folder}': *"])


@pytest.mark.parametrize("kind", ["Talks", "Titles"])
def test_what_a_recommender_prints_or_names_wrongly_is_told_once(
    pytester: pytest.Pytester,
    kind: str,
) -> None:
    """It is asked again at the end of the run, when pytest captures nothing."""
    pytester.makepyfile(
        mine="""
        from pytest_recsys_mt import Recommendation

        class Talks:
            deterministic = True
            def recommend(self, requests):
                print("hello from the model")
                return [self.answer(request) for request in requests]
            def answer(self, request):
                offered = request.candidates[:: 1 if request.scale.high == 5 else -1]
                return Recommendation(tuple(self.name(item) for item in offered[: request.k]))
            def name(self, item):
                return item.id

        class Titles(Talks):
            def name(self, item):
                return item.title
        """,
        test_it="""
        from pytest_recsys_mt import metamorphic
        from pytest_recsys_mt.oracles import same_ranking
        from pytest_recsys_mt.relations import scale_ratings

        @metamorphic(scale_ratings(2))
        def test_scale(source, followup):
            assert same_ranking(source, followup, margin=0.05)
        """,
    )
    pytester.syspathinsert()
    result = pytester.runpytest_inprocess(
        f"--recsys-model=mine:{kind}",
        "--recsys-users=40",
        "--recsys-shrink=0",
    )
    text = result.stdout.str()
    before, _, after = text.partition("Captured stdout call")
    assert "hello from the model" not in before
    captured, _, rest = after.partition("recsys-mt: mine")
    assert "hello from the model" in captured
    assert "hello from the model" not in rest
    if kind == "Talks":
        assert "asked again" in rest
    else:
        assert "which is the title of an item: return its id, item.id" in text
        assert "other reasons" not in text


def test_data_of_one_user_fail_the_tests_that_need_two(
    project: pytest.Pytester,
) -> None:
    rows = "".join(f"ann,{item},4,{item}\n" for item in range(20))
    project.makefile(".csv", data="user,item,rating,timestamp\n" + rows)
    result = project.runpytest_inprocess(
        "--recsys-model=itemknn",
        "--recsys-data=data.csv",
        "--recsys-json=record.json",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*has 1 users with a history*; at least 2 are needed*"],
    )
    assert (project.path / "record.json").is_file()


@pytest.mark.parametrize("way", ["option", "mark"])
def test_a_test_in_a_process_of_its_own_is_refused(
    project: pytest.Pytester,
    way: str,
) -> None:
    # As pytest-forked declares them; it need not be installed.
    project.makeconftest(
        """
        def pytest_addoption(parser):
            parser.addoption("--forked", action="store_true", dest="forked")

        def pytest_configure(config):
            config.addinivalue_line("markers", "forked: in a process of its own")
        """,
    )
    if way == "mark":
        marked = TEST.replace("@metamorphic", "@pytest.mark.forked\n@metamorphic")
        project.makepyfile(test_it=f"import pytest\n{marked}")
    done = project.runpytest_inprocess(
        *(["--forked"] if way == "option" else []),
        "--recsys-model=shop.py:Shop",
    )
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(
        ["*test_scale* would run in a process of its own*leave --forked out*"],
    )
