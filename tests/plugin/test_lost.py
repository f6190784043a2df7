"""Every test of a recommender ends with a verdict, or is named as one that did not."""

from typing import Any

import pytest

from tests.plugin.conftest import ON_WORKERS_TOO, Run, record_of

DYING = """
import os
from toys import Faithful

class Dying(Faithful):
    '''Takes its process with it where the scale is not the usual one.'''

    def recommend(self, requests):
        if any(request.scale.high != 5 for request in requests):
            os._exit(1)
        return super().recommend(requests)
"""
TEST = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import reorder_history, scale_ratings

def test_plain():
    pass

@metamorphic(scale_ratings(2), reorder_history)
def test_ranking(source, followup):
    assert same_ranking(source, followup, margin=0.2)
"""


def gate_of(project: pytest.Pytester, result: pytest.RunResult) -> dict[str, Any]:
    """The gate of a run that lost tests: failed, and the same everywhere."""
    assert result.ret not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    gate = dict(record_of(project.path / "record.json")["gate"])
    assert gate["status"] == "failed"
    result.stdout.fnmatch_lines(["gate: failed*"])
    shown = " ".join(line.strip() for line in result.stdout.lines)
    for reason in gate["incomplete"]:
        assert reason in shown, "in the terminal"
    summary = (project.path / "summary.md").read_text(encoding="utf-8")
    assert "gate failed" in summary
    return gate


@pytest.fixture
def losing(
    project: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> pytest.Pytester:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(project.path / "summary.md"))
    project.makepyfile(dying=DYING, test_it=TEST)
    return project


@pytest.mark.parametrize(
    "more",
    [
        [],
        pytest.param(["--max-worker-restart=0"], marks=pytest.mark.slow),
        ["--reruns=1", "--max-worker-restart=0"],
    ],
)
def test_a_worker_that_dies(losing: pytest.Pytester, more: list[str]) -> None:
    result = losing.runpytest_inprocess(
        "-n1",
        "--recsys-model=dying:Dying",
        "--recsys-json=record.json",
        *more,
    )
    reasons = "; ".join(gate_of(losing, result)["incomplete"])
    assert "test_it.py::test_ranking[dying-Dying-scale_ratings-2]" in reasons
    assert "test_plain" not in reasons
    if more:
        assert "test_it.py::test_ranking[dying-Dying-reorder_history]" in reasons


def test_workers_that_die_before_they_say_anything(
    losing: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As where memory runs out while weights are read:
    no report of any test ever comes.
    """
    monkeypatch.delenv(
        "PYTEST_XDIST_WORKER",
        raising=False,
    )  # of the worker that runs this test
    losing.makepyfile(
        dying="""
        import os

        class Dying:
            def __init__(self):
                if "PYTEST_XDIST_WORKER" in os.environ and "PYTEST_CURRENT_TEST" in os.environ:
                    os._exit(1)

            def recommend(self, requests):
                return []
        """,
    )
    result = losing.runpytest_inprocess(
        "-n2", "--max-worker-restart=0", "--recsys-model=dying:Dying",
        "--recsys-json=record.json", "--reruns=1",
    )  # fmt: skip
    reasons = "; ".join(gate_of(losing, result)["incomplete"])
    assert "scale_ratings-2" in reasons
    assert "reorder_history" in reasons
    assert "test_plain" not in reasons


@pytest.mark.parametrize(
    ("fixture", "lost"),
    [
        (
            """
@pytest.fixture(scope="session", autouse=True)
def server():
    raise RuntimeError("no server")
""",
            ["test_asks", "test_ranking"],
        ),
        (
            """
@pytest.fixture(scope="session", params=["old", "new"])
def recommender(request):
    from toys import Faithful
    if request.param == "new":
        raise RuntimeError("no server")
    return Faithful()
""",
            ["test_asks[new]", "test_ranking[new-scale_ratings-2]"],
        ),
    ],
    ids=["session fixture", "one of two recommenders"],
)
def test_a_fixture_that_raises_before_there_is_a_runner(
    run: Run,
    losing: pytest.Pytester,
    fixture: str,
    lost: list[str],
) -> None:
    losing.makeconftest(f"import pytest\n\n{fixture}")
    losing.makepyfile(test_it=f"{TEST}\ndef test_asks(recsys):\n    recsys.run()\n")
    result = run("--recsys-json=record.json")
    gate = gate_of(losing, result)
    named = "; ".join(gate["reasons"])
    assert all(name in named for name in lost)
    rows = record_of(losing.path / "record.json")["results"]
    failed = [row for row in rows if row["status"] == "error"]
    assert {row["relation"] for row in failed} == {
        "scale_ratings(2)",
        "reorder_history",
    }
    assert all("RuntimeError: no server" in row["reason"] for row in failed)


@ON_WORKERS_TOO
def test_a_teardown_that_fails(run: Run, losing: pytest.Pytester) -> None:
    losing.makeconftest(
        "import pytest\n\n@pytest.fixture\ndef till():\n    yield\n    raise RuntimeError('stuck')\n",
    )
    losing.makepyfile(
        test_it=TEST.replace("ranking(source,", "ranking(till, source,", 1),
    )
    gate = gate_of(
        losing,
        run("--recsys-model=toys:Faithful", "--recsys-json=record.json"),
    )
    (reason,) = gate["incomplete"]
    assert reason.startswith("2 tests failed in teardown: ")
    assert "scale_ratings-2" in reason


@pytest.mark.parametrize("more", [["-x"], ["--maxfail=1"]])
def test_a_run_that_stops_names_what_it_left_out(
    run: Run,
    losing: pytest.Pytester,
    more: list[str],
) -> None:
    losing.makepyfile(test_a="def test_it(recsys): assert False")
    gate = gate_of(losing, run("--recsys-json=record.json", *more))
    reasons = "; ".join(gate["incomplete"])
    assert "test_a.py::test_it[itemknn]" in reasons
    assert "stopped" in reasons


def test_a_run_that_is_interrupted(losing: pytest.Pytester) -> None:
    losing.makepyfile(
        test_a="""
        import os, signal, time

        def test_it(recsys):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(60)
        """,
    )
    result = losing.runpytest_subprocess("--recsys-json=record.json")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    gate = gate_of(losing, result)
    assert gate["incomplete"][0] == "it was interrupted"
    reason = gate["incomplete"][1]
    assert reason.startswith(
        "3 tests gave no result: test_a.py::test_it[itemknn], test_it.py::",
    )


def test_an_interruption_while_workers_are_awaited_loses_no_junit_file(
    losing: pytest.Pytester,
) -> None:
    losing.makeconftest(
        """
        import os, signal, time

        class Late:  # as the session of pytest-xdist, which waits for its workers here
            def pytest_sessionfinish(self):
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.2)

        def pytest_sessionstart(session):
            session.config.pluginmanager.register(Late())
        """,
    )
    result = losing.runpytest_subprocess(
        "--recsys-model=toys:Faithful",
        "--junitxml=junit.xml",
    )
    assert "cannot be written" not in result.stdout.str() + result.stderr.str()
    assert "recsys-mt" in (losing.path / "junit.xml").read_text()


def test_without_a_terminal_all_is_judged_and_recorded(losing: pytest.Pytester) -> None:
    options = (
        "--recsys-model=toys:Faithful",
        "-p",
        "no:terminal",
        "--recsys-json=record.json",
    )
    result = losing.runpytest_subprocess(*options)
    assert (result.ret, result.stdout.str()) == (0, "")
    record = record_of(losing.path / "record.json")
    assert {row["status"] for row in record["results"]} == {"holds"}
    # Nor has anybody who only looks a record of it.
    before = (losing.path / "record.json").read_bytes()
    for look in (
        "--fixtures",
        "--fixtures-per-test",
        "--setup-plan",
        "--setup-only",
        "--co",
    ):
        losing.runpytest_inprocess(
            "--recsys-model=toys:Faithful",
            "--recsys-json=record.json",
            look,
        )
        assert (losing.path / "record.json").read_bytes() == before, look


def test_many_are_counted_and_the_first_are_named(losing: pytest.Pytester) -> None:
    losing.makepyfile(
        test_it="""
        import pytest

        @pytest.fixture(autouse=True)
        def broken():
            raise RuntimeError

        @pytest.mark.parametrize("number", range(9))
        def test_it(recsys, number): ...
        """,
    )
    result = losing.runpytest_inprocess("--recsys-json=record.json")
    (reason,) = gate_of(losing, result)["incomplete"]
    assert reason.startswith(
        "9 tests failed without a verdict: test_it.py::test_it[itemknn-0], ",
    )
    assert reason.endswith(" and 6 more")


@ON_WORKERS_TOO
def test_a_file_that_cannot_be_imported_is_named(
    run: Run,
    losing: pytest.Pytester,
) -> None:
    losing.makepyfile(
        test_broken="import nothing_of_that_name\ndef test_it(recsys): ...",
    )
    gate = gate_of(
        losing,
        run("--recsys-model=toys:Faithful", "--recsys-json=record.json",
            "--continue-on-collection-errors"),
    )  # fmt: skip
    assert "1 file could not be collected: test_broken.py" in gate["incomplete"]


@ON_WORKERS_TOO
def test_what_is_left_out_on_purpose_is_told_and_does_not_fail(
    run: Run,
    losing: pytest.Pytester,
) -> None:
    losing.makepyfile(
        test_it=f"""
import pytest
from hypothesis import given, settings, strategies
{TEST}
@pytest.mark.skip(reason="next year")
@metamorphic(reorder_history)
def test_later(source, followup): ...

@pytest.mark.skipif(True, reason="not on this machine")
def test_elsewhere(recsys): ...

@pytest.mark.xfail(run=False, reason="hangs")
@metamorphic(reorder_history)
def test_hangs(source, followup): ...

def test_asks(recsys):
    assert recsys.run()

def test_gives_up(recsys):
    pytest.skip("the shop is closed")
""",
        test_module="import pytest\npytest.skip('none of these', allow_module_level=True)\n",
    )
    result = run(
        "--recsys-model=toys:Faithful",
        "--recsys-json=record.json",
        "--deselect=test_it.py::test_no",
    )
    assert result.ret == pytest.ExitCode.OK
    record = record_of(losing.path / "record.json")
    assert (record["gate"]["status"], record["gate"]["incomplete"]) == ("passed", [])
    told = {
        row["nodeid"].rpartition("::")[2].partition("[")[0]: (
            row["outcome"],
            row["reason"],
        )
        for row in record["results"]
        if row["status"] == "not-applicable"
    }
    assert told == {
        "test_later": ("skipped", "next year"),
        "test_elsewhere": ("skipped", "not on this machine"),
        "test_hangs": ("xfailed", "XFailed: [NOTRUN] hangs"),
        "test_gives_up": ("skipped", "the shop is closed"),
    }
    assert {row["model"] for row in record["results"]} == {"toys:Faithful"}


@pytest.mark.parametrize("option", ["--collect-only", "--setup-plan", "--setup-only"])
def test_a_run_that_runs_no_test_says_nothing(
    losing: pytest.Pytester,
    option: str,
) -> None:
    result = losing.runpytest_inprocess(option)
    assert result.ret == pytest.ExitCode.OK
    result.stdout.no_fnmatch_line("gate: *")


def test_tests_of_others_are_none_of_ours(run: Run, losing: pytest.Pytester) -> None:
    """Other people have fixtures of that name too."""
    losing.makepyfile(
        test_it="""
        import pytest

        @pytest.fixture
        def recommender():
            raise RuntimeError

        def test_it(recommender): ...

        @pytest.mark.skip
        def test_later(recommender): ...
        """,
    )
    result = run()
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.no_fnmatch_line("*recsys-mt:*")
    result.stdout.no_fnmatch_line("gate: *")


def test_a_junit_file_that_pytest_cannot_write_is_named_and_the_summary_is_printed(
    pytester: pytest.Pytester,
) -> None:
    pytester.makeconftest(
        """
        import errno
        import pytest

        @pytest.hookimpl(tryfirst=True)
        def pytest_sessionfinish():
            raise OSError(errno.ENOSPC, "No space left on device")  # as pytest's own hook, for the JUnit file
        """,
    )
    pytester.makepyfile(
        """
        from pytest_recsys_mt import metamorphic
        from pytest_recsys_mt.oracles import same_ranking
        from pytest_recsys_mt.relations import reorder_history


        @metamorphic(reorder_history)
        def test_order(source, followup):
            assert same_ranking(source, followup)
        """,
    )
    result = pytester.runpytest_inprocess(
        "-p",
        "no:cacheprovider",
        "--recsys-model=mostpop",
        "--junitxml=junit.xml",
    )
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "*--junitxml='junit.xml' cannot be written: *No space left*",
            "*gate: passed; 1 held*",
        ],
    )
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*wrote *junit.xml*")
    junit = (pytester.path / "junit.xml").read_text(encoding="utf-8")
    assert "has not ended" in junit, "a file that no reader takes for a run that passed"
